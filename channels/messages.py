"""What passes between a channel and the rest of the program.

Inwards: `Inbound`, `Quoting`, `Changed`, `Press`, `Command`, `Gone`, `Resumed`. Outwards: `Outbound`, whose content is
a `Text` or a `Card`.
All are frozen and refuse unknown fields. Times are integer milliseconds UTC. Text that comes in makes itself
storable; text that goes out is inert.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt

from channels.address import Account, Address
from channels.attached import Attached
from channels.card import Argument, Card, Digest8, Verb
from channels.storable import Storable
from channels.visible import Inert

__all__ = [
    "Account",
    "Address",
    "Argument",
    "Attached",
    "Card",
    "Changed",
    "Command",
    "Content",
    "Gone",
    "Inbound",
    "Outbound",
    "PlatformId",
    "Press",
    "Quoting",
    "Resumed",
    "Sent",
    "Text",
    "Verb",
]

PlatformId = Annotated[str, Field(min_length=1, max_length=255)]
"""The platform's own name for one message, unique in its address: what a duplicate is recognised by (R29)."""


class Inbound(BaseModel, frozen=True, extra="forbid"):
    """One message from a person. `addressed`: the bot is spoken to (a mention, a direct message).

    `begins_direct`: it begins a thread in a conversation with the bot alone, where whatever is said is for the bot.
    `alone`: nobody but the author and the bot reads there.
    `files`: what was attached to it; `said` is the text with these named below it.
    """

    address: Address
    account: Account
    platform_id: PlatformId
    text: Storable
    addressed: bool
    at: NonNegativeInt
    begins_direct: bool = False
    alone: bool = False
    files: tuple[Attached, ...] = ()

    @property
    def said(self) -> str:
        """All that was said, for whoever has only this: the text, and what was attached, a line each."""
        return "\n".join(filter(None, (self.text, *self.file_lines)))

    @property
    def file_lines(self) -> tuple[str, ...]:
        """A line for each file."""
        return tuple(f"(file: {file})" for file in self.files)


class Quoting(BaseModel, frozen=True, extra="forbid"):
    """Somebody asks for a case on a message that stands on the platform, by a shortcut or a menu on it.

    `said` is the message, as its author's; `by` is who asks. `listened_to`: False where the author is of a space whose
    people do not exist for us, and only their words can be in a case.
    """

    by: Account
    said: Inbound
    listened_to: bool = True


class Changed(BaseModel, frozen=True, extra="forbid"):
    """A person has changed the message `platform_id` of theirs; `text` None: it is deleted.

    `files_left`: the references of what is still attached to it, where that has changed.
    """

    address: Address
    platform_id: PlatformId
    text: Storable | None
    files_left: frozenset[str] | None = None


class Press(BaseModel, frozen=True, extra="forbid"):
    """A press on a button of the card `platform_id`. What it means is for the store to decide (R5).

    `platform_id` is None where the button stood on no copy of the card, as on a person's own page.
    """

    address: Address
    platform_id: PlatformId | None
    account: Account
    gate_id: PositiveInt
    verb: Verb
    digest8: Digest8
    reason: Storable | None = None


class Command(BaseModel, frozen=True, extra="forbid"):
    """A command typed to the bot: the whole line, with its slash.

    `platform_id`: the message that it was typed as, where it was one; what was said there before it is older.
    """

    address: Address
    account: Account
    text: Storable
    platform_id: PlatformId | None = None


class Gone(BaseModel, frozen=True, extra="forbid"):
    """The platform says that nothing can be said at `address` any more, nor at `others`, lost at the same time (R3)."""

    address: Address
    reason: Storable
    others: tuple[Address, ...] = ()


class Resumed(BaseModel, frozen=True, extra="forbid"):
    """The channel hears people again after a time in which it may not have (R29)."""

    channel: str


class Text(BaseModel, frozen=True, extra="forbid"):
    """One piece of text, already escaped and split by `text.pieces`: it is sent as it stands."""

    kind: Literal["text"] = "text"
    text: Annotated[Inert, Field(min_length=1)]


Content = Annotated[Text | Card, Field(discriminator="kind")]


class Outbound(BaseModel, frozen=True, extra="forbid"):
    """One platform message to be sent.

    `nonce` is our own id of it (the outbox row's), at most 25 characters so that every platform can carry it;
    `find` looks it up. `possible_duplicate` says, visibly, that it may have been sent before (R27).
    """

    address: Address
    nonce: Annotated[str, Field(pattern=r"^[!-~]{1,25}$")]
    content: Content
    possible_duplicate: bool = False


class Sent(BaseModel, frozen=True, extra="forbid"):
    """An outbound message the platform has accepted, and the platform's name for it."""

    outbound: Outbound
    platform_id: PlatformId
