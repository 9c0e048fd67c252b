"""An alert group, in our words: who fires, how urgent it is, and what it is about. Whatever sent it, it looks so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.words.when import iso
from casestore.episodes import Firing
from casestore.states import EpisodeState
from channels.text import one_line

MOST_WRITTEN = 20
"""How many members are written into one message; all are tracked."""

_TITLE = 200
_SUBJECT = 500
_PART = 4_000
_PRIORITIES = {"critical": "critical", "high": "high", "warning": "high", "low": "low", "info": "low"}
_ORDER = ("critical", "high", "normal", "low")


@dataclass(frozen=True)
class Group:
    """One notification about one group. Every text in it is storable and bounded by whoever made it.

    `key` names the group for good: the case it opened is found by it. `truncated` is how many members the sender
    left out; while it left some out, nobody can say that all have resolved.
    """

    source: str
    receiver: str
    key: str
    members: tuple[Firing, ...]
    truncated: int
    group_labels: Mapping[str, str]
    common_labels: Mapping[str, str]
    common_annotations: Mapping[str, str]

    @cached_property
    def firing(self) -> tuple[Firing, ...]:
        """The members that fire."""
        return tuple(member for member in self.members if member.state is EpisodeState.FIRING)

    @cached_property
    def resolved(self) -> tuple[Firing, ...]:
        """The members that do not fire any more, also in a group that still does."""
        return tuple(member for member in self.members if member.state is EpisodeState.RESOLVED)

    @property
    def actor(self) -> str:
        """Who acts, for the trail."""
        return f"alert:{self.source}"

    @property
    def priority(self) -> str:
        """The most urgent of what fires, by the label `severity`."""
        found = {_PRIORITIES.get(member.labels.get("severity", "").lower(), "normal") for member in self.firing}
        return next((priority for priority in _ORDER if priority in found), "normal")

    @property
    def title(self) -> str:
        """What a person reads first: the sender's own summary, else the alert's name and what it was grouped by."""
        if summary := self.common_annotations.get("summary", "").strip():
            return _short(summary, _TITLE)
        first = self.firing[0] if self.firing else self.members[0]
        if summary := first.annotations.get("summary", "").strip():
            others = len(self.firing) - 1
            tail = f" (and {others:,} more)" if others > 0 else ""
            return _short(summary, _TITLE - len(tail)) + tail
        name = first.labels.get("alertname", "alert")
        about = ", ".join(value for label, value in self.group_labels.items() if label != "alertname")
        return _short(f"{name}: {about}" if about else name, _TITLE)

    @property
    def subject(self) -> str:
        """What the case is about, as one line: the labels that all members share."""
        return _short(labels_line(self.common_labels or self.group_labels), _SUBJECT)


def labels_line(labels: Mapping[str, str]) -> str:
    """Labels in one line, nothing in them hidden."""
    return one_line(", ".join(f'{name}="{value}"' for name, value in labels.items()))


def body(members: Sequence[Firing], *, begins: str, truncated: int) -> list[dict[str, object]]:
    """A message about members: one part each, what was left out said last. `begins`: `firing`, `also firing`."""
    parts = [_part(member, begins) for member in members[:MOST_WRITTEN]]
    if (more := len(members) - MOST_WRITTEN) > 0:
        parts.append({"type": "text", "text": f"and {more:,} more, which are tracked too"})
    if truncated:
        left_out = f"The sender left out {truncated:,} more alerts (truncatedAlerts); nothing is known of them."
        parts.append({"type": "text", "text": left_out})
    return parts


def _part(member: Firing, begins: str) -> dict[str, object]:
    started = iso(member.starts_at)
    lines = [f"{begins}: {one_line(member.labels.get('alertname', 'alert'))}, since {started}"]
    for name in sorted(member.annotations, key=lambda name: (name != "summary", name != "description")):
        lines.append(f"{one_line(name)}: {_indented(member.annotations[name])}")
    lines.append(f"labels: {labels_line(member.labels)}")
    return {
        "type": "alert",
        "text": cut("\n".join(lines), _PART),
        "status": str(member.state),
        "labels": dict(member.labels),
        "annotations": dict(member.annotations),
        "startsAt": started,
    }


def _indented(text: str) -> str:
    """Further lines of a value stay a part of it: none can pass for a line of ours."""
    return "\n    ".join(text.strip().splitlines())


def cut(text: str, most: int) -> str:
    """`text`, or its head and a mark that says how long it was."""
    return text if len(text) <= most else f"{text[:most]}… [cut: {len(text):,} characters]"


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
