"""What Slack tells us of, in our words: an event becomes an `Inbound`, a `Gone`, or nothing (R20, R29).

One mention comes twice, as `app_mention` and as `message`; both become the same `Inbound`, known by room and ts.
https://docs.slack.dev/reference/events/message
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from channels.address import Account, Address
from channels.messages import Changed, Gone, Inbound
from channels.slack import places
from channels.slack.files import attached, references

_SAID = frozenset({None, "file_share", "thread_broadcast", "bot_message"})
"""Subtypes that are something somebody says; every other tells of a change."""

SLACKBOT = "USLACKBOT"
"""Slack's own voice, which has the same id everywhere."""

_ROOM_LOST = re.compile(r"(channel|group)_(archive|deleted|left)")
_TOKEN = re.compile(r"<([@#!])?([^<>|]*)(?:\|([^<>]*))?>")


@dataclass(frozen=True, slots=True)
class Us:
    """Who we are there, and whom we listen to."""

    team: str
    user: str
    bot: str
    teams: Collection[str]
    """The workspaces whose people exist for us; nobody else does (R20)."""


def inbound(event: Mapping[str, object], us: Us) -> Inbound | None:
    """What somebody said, or None: ours, of a workspace we do not listen to, or no message at all.

    Another bot is an account like any other, by its bot id; who is bound to it decides whether it is heard.
    """
    if event.get("type") not in ("message", "app_mention") or event.get("subtype") not in _SAID:
        return None
    if us.user == _text(event, "user") or us.bot in _programs(event):
        return None
    said = of_anybody(event, us)
    return said if said is not None and said.account.space in us.teams else None


def of_anybody(event: Mapping[str, object], us: Us) -> Inbound | None:
    """What stands in a message, whoever has written it, we ourselves and people of other workspaces included."""
    user, bot = _text(event, "user"), _program(event)
    room, ts, author = _text(event, "channel"), _text(event, "ts"), bot or user
    if not (author and room and ts):
        return None
    # in a shared room `team` may be the room's; whose account it is, is in `user_team`
    space = _text(event, "user_team") or _text(event, "source_team") or _text(event, "team") or us.team
    text = _text(event, "text")
    return Inbound(
        address=places.thread(us.team, room, _text(event, "thread_ts") or ts),
        account=Account(channel=places.NAME, space=space, account_id=author, program=bool(bot)),
        platform_id=ts,
        text=spoken(text, us.user),
        addressed=places.is_direct(room) or f"<@{us.user}>" in text or f"<@{us.user}|" in text,
        at=places.millis(ts),
        alone=places.is_direct(room),
        begins_direct=places.is_direct(room) and _text(event, "thread_ts") in ("", ts),
        files=tuple(attached(event)),
    )


def changed(event: Mapping[str, object], us: Us) -> Changed | None:
    """An edit or a deletion by somebody else, of the words or of a file.

    A preview that Slack adds to a link is neither: the words and the files are the same.
    """
    room, subtype = _text(event, "channel"), event.get("subtype")
    now, before = _part(event, "message"), _part(event, "previous_message")
    if event.get("type") != "message" or subtype not in ("message_changed", "message_deleted") or not room:
        return None
    if us.bot in _programs(before) or us.user == _text(before, "user"):
        return None
    ts = _text(event, "deleted_ts") or _text(now, "ts")
    deleted = subtype == "message_deleted" or now.get("subtype") == "tombstone"
    left, had = references(now), references(before)
    if not ts or (not deleted and now.get("text") == before.get("text") and left == had):
        return None
    address = places.thread(us.team, room, _text(before, "thread_ts") or _text(now, "thread_ts") or ts)
    return Changed(
        address=address, platform_id=ts, text=None if deleted else spoken(_text(now, "text"), us.user),
        files_left=None if left == had else left,
    )  # fmt: skip


def gone(event: Mapping[str, object], us: Us) -> Gone | None:
    """A room in which we can say nothing any more: archived, deleted, or we were sent out (R3)."""
    kind, room = _text(event, "type"), _text(event, "channel")
    if not _ROOM_LOST.fullmatch(kind) or not room:
        return None
    address = Address(channel=places.NAME, space=us.team, room=room)
    return Gone(address=address, reason=kind.replace("_", " "))


def spoken(text: str, bot: str) -> str:
    """The text as its author sees it: our own mention at its start is left out, tokens and entities are spelled out."""
    stripped = re.sub(rf"^\s*<@{re.escape(bot)}(\|[^>]*)?>[\s,:]*", "", text)
    return html.unescape(_TOKEN.sub(_spelled, stripped)) if "&" in text or "<" in text else stripped


def _program(event: Mapping[str, object]) -> str:
    """The id of the program that has said it; empty for a person's own words.

    An app that posts with somebody's token is shown as that person, and whatever anybody has told Slackbot to say, as
    in a reminder, comes from Slackbot: neither speaks with a person's rights (R20, R23).
    https://docs.slack.dev/reference/events/message/bot_message
    """
    named = next(_programs(event), "") or _text(event, "app_id")
    nobodys = event.get("subtype") == "bot_message" or _text(event, "user") == SLACKBOT
    return named or (SLACKBOT if nobodys else "")


def _programs(event: Mapping[str, object]) -> Iterator[str]:
    """The bot ids that a message carries."""
    return filter(None, (_text(event, "bot_id"), _text(_part(event, "bot_profile"), "id")))


def _spelled(token: re.Match[str]) -> str:
    mark, target, label = token[1] or "", token[2], token[3]
    if mark == "!":  # <!here>, <!subteam^S1|@team>, <!date^…|fallback>
        return label or f"@{target.partition('^')[0]}"
    if mark:
        return f"{mark}{label.removeprefix(mark) if label else target}"
    if label and label not in (target, target.removeprefix("mailto:"), target.removeprefix("http://")):
        return f"{label} ({target})"
    return target.removeprefix("mailto:")


def _part(event: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = event.get(key)
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def _text(event: Mapping[str, object], key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""
