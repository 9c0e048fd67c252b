"""Where something is said, and by whom: addresses and accounts."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from channels.errors import BadAddress
from channels.storable import Storable
from channels.visible import one_line

_CHANNEL = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PART = re.compile(r"[!-.0-~]{1,255}")  # printable ASCII without a blank and without "/"
_HOW = (
    "Write channel:space/room/thread, for example slack:T1/C2/1710.003; "
    "channel:space/room for a whole room; web:/CASE for the dashboard."
)


_TO_BEGIN = "new-"


class Address(BaseModel, frozen=True, extra="forbid"):
    """A place on a channel, as text `slack:T1/C2/1710.003`.

    `space` is a workspace or guild, `room` a room in it (or a direct conversation), `thread` a thread there.
    An address without a thread is the room itself. The dashboard has only threads, one a case: `web:/<case>`.
    Two addresses are the same when every character is; nothing is folded, trimmed or normalised (R21).
    """

    channel: str
    space: str = ""
    room: str = ""
    thread: str = ""

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        fault = _fault(self.channel, self.space, self.room, self.thread)
        if fault:
            raise _bad(str(self), fault)
        return self

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that `text` spells. Raises `BadAddress`: what is wrong, and how to write one."""
        channel, colon, rest = text.partition(":")
        if not colon:
            raise _bad(text, "there is no colon after the channel")
        match rest.split("/"):
            case ["", thread]:
                space, room = "", ""
            case [space, room]:
                thread = ""
            case [space, room, thread] if thread:
                pass
            case _:
                raise _bad(text, "there are too few or too many slashes")
        fault = _fault(channel, space, room, thread)
        if fault:
            raise _bad(text, fault)
        return cls(channel=channel, space=space, room=room, thread=thread)

    def to_begin(self, name: str) -> Address:
        """The thread in this room that the first message of ours will begin; `name` tells it from others."""
        return self.model_copy(update={"thread": f"{_TO_BEGIN}{name}"})

    @property
    def begins(self) -> bool:
        """Whether it stands for a thread that is not there yet: what is sent to it is sent to the room."""
        return self.thread.startswith(_TO_BEGIN)

    @property
    def begins_on(self) -> str:
        """The name that `to_begin` was given; empty for a thread that is there."""
        return self.thread.removeprefix(_TO_BEGIN) if self.begins else ""

    def begun(self, thread: str) -> Address:
        """The thread by the name that the platform has given it."""
        return self.model_copy(update={"thread": thread})

    @property
    def on_platform(self) -> Address:
        """Where the platform is to be asked: the room, for a thread that is not there yet."""
        return self.begun("") if self.begins else self

    def __str__(self) -> str:
        place = f"{self.space}/{self.room}" if self.space or self.room else ""
        thread = f"/{self.thread}" if self.thread else ""
        return f"{self.channel}:{place}{thread}"


class Account(BaseModel, frozen=True, extra="forbid"):
    """Somebody's account on a platform: they are `channel`, `space`, `account_id` and nothing else (R20).

    `account_id` is the platform's immutable id. `display_name` is for showing and takes no part in comparing:
    anybody may call themselves anything. `guest`: it is only a guest in its space, None where that could not be found
    out; `program`: nobody sits behind it,
    it is another bot's. Nothing but a binding of ours makes a program known.
    """

    channel: Annotated[str, Field(min_length=1)]
    space: str
    account_id: Annotated[str, Field(min_length=1)]
    display_name: Storable = ""
    guest: bool | None = False
    program: bool = False

    @property
    def identity(self) -> tuple[str, str, str]:
        """What makes two accounts the same."""
        return (self.channel, self.space, self.account_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Account) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)


def _fault(channel: str, space: str, room: str, thread: str) -> str | None:
    if not _CHANNEL.fullmatch(channel):
        return "the channel is a name in lower case"
    if channel == "web":
        if space or room or not thread:
            return "the dashboard has no spaces and no rooms, only cases"
    elif not (space and room):
        return "the space or the room is missing"
    if any(part and not _PART.fullmatch(part) for part in (space, room, thread)):
        return "a part is too long or holds a blank, a slash or a character outside ASCII"
    return None


def _bad(text: str, why: str) -> BadAddress:
    shown = one_line(text if len(text) <= 80 else f"{text[:80]}…")
    return BadAddress(f'"{shown}" is not an address: {why}. {_HOW}')
