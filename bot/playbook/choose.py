"""Which playbook fits an alert's labels or a message's words."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from pydantic import JsonValue

from bot.playbook.book import Match, Playbook
from bot.playbook.elsewhere import elsewhere
from bot.playbook.history import Note, Stimulus

MAX_LABELS = 64
MAX_VALUE = 1024
MAX_ALERTS = 200
MAX_WORDS = 20_000


def choose(books: Sequence[Playbook], stimulus: Stimulus, here: Collection[str] = ()) -> tuple[Playbook, Note] | None:
    """The first playbook that fits, with a note that holds what it is about; None if none fits.

    `here`: the names of this machine. Its `alert.elsewhere` is the machine that an alert names, if it is none of them.
    """
    told = [_about(alert, here) for alert in stimulus.alerts[:MAX_ALERTS] if alert.get("status") != "resolved"]
    firing = sorted(told, key=lambda one: "elsewhere" in one[1])  # of a group, what is about this machine comes first
    said = "\n".join(stimulus.said)[:MAX_WORDS].replace("’", "'")  # noqa: RUF001 - phones write this one
    for book in books:
        begun = Note(book=book.name, digest=book.digest, turn=stimulus.turn)
        for match in book.match:
            for labels, alert in firing:
                if match.labels and fits(match.labels, labels):
                    return book, begun.model_copy(update={"labels": labels, "alert": alert})
            if worded(match, said):
                return book, begun
    return None


def fits(patterns: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether every pattern fits the whole of its label; a label that is not there fits nothing."""
    return all(name in labels and re.fullmatch(pattern, labels[name]) for name, pattern in patterns.items())


def worded(match: Match, said: str) -> bool:
    """Whether a message has one of the `any` words and each of the `all` words, as whole words in any case."""
    if not (match.any or match.all) or not said:
        return False
    some = not match.any or any(_has(said, word) for word in match.any)
    return some and all(_has(said, word) for word in match.all)


def _has(said: str, phrase: str) -> bool:
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    return re.search(rf"(?<!\w){words}(?!\w)", said, re.IGNORECASE) is not None


def _about(alert: Mapping[str, object], here: Collection[str]) -> tuple[dict[str, str], dict[str, JsonValue]]:
    """Labels and the rest of an alert, bounded: what a sender writes does not decide how much is kept."""
    labels, annotations = _texts(alert.get("labels")), _texts(alert.get("annotations"))
    rest: dict[str, JsonValue] = {
        "name": labels.get("alertname", "alert"),
        "status": str(alert.get("status", "firing"))[:MAX_VALUE],
        "started": str(alert.get("startsAt", ""))[:MAX_VALUE],
        "annotations": {**annotations},
    }
    if (machine := elsewhere(labels, here)) is not None:
        rest["elsewhere"] = machine
    rest |= {key: annotations[key] for key in ("summary", "description") if key in annotations}
    return labels, rest


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    items = list(cast("Mapping[str, object]", value).items())[:MAX_LABELS]
    return {key[:MAX_VALUE]: text[:MAX_VALUE] for key, text in items if isinstance(text, str)}
