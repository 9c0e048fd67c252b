"""Messages, and what hangs on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING

from tests.wire.discord.payload import Json
from tests.wire.discord.people import Person

if TYPE_CHECKING:
    from tests.wire.discord.places import Place


class Type(IntEnum):
    """https://docs.discord.com/developers/resources/message#message-object-message-types"""

    DEFAULT = 0
    RECIPIENT_ADD = 1
    CHANNEL_NAME_CHANGE = 4
    THREAD_CREATED = 18
    REPLY = 19
    CHAT_INPUT_COMMAND = 20
    THREAD_STARTER_MESSAGE = 21
    CONTEXT_MENU_COMMAND = 23


SYSTEM = (Type.RECIPIENT_ADD, Type.CHANNEL_NAME_CHANGE, Type.THREAD_CREATED, Type.THREAD_STARTER_MESSAGE)


class Flag(IntFlag):
    """#message-object-message-flags"""

    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    IS_COMPONENTS_V2 = 1 << 15


@dataclass(eq=False)
class Attached:
    """A file on a message."""

    id: str
    name: str
    content: bytes
    mimetype: str
    description: str | None = None
    claims: int | None = None
    """The size that its message tells of, where that is not the true one."""
    link: str | None = None
    """The link that its message carries, where that is not the one to here."""


@dataclass(eq=False)
class Pings:
    """Who is notified of a message: people and roles by id, `@everyone` (or `@here`), and the author replied to."""

    users: list[Person] = field(default_factory=list[Person])
    roles: list[str] = field(default_factory=list[str])
    everyone: bool = False
    replied: Person | None = None

    def __bool__(self) -> bool:
        return bool(self.users or self.roles or self.everyone or self.replied)


@dataclass(eq=False)
class Message:
    """One message. `to`: only this person sees it. `versions`: the components it had before, which a screen may show.

    `replied` is what it answers, `forwarded` what it passes on, with no text of its own.
    """

    place: Place
    id: str
    author: Person
    content: str
    at: str
    type: Type = Type.DEFAULT
    embeds: list[Json] = field(default_factory=list[Json])
    components: list[Json] = field(default_factory=list[Json])
    attachments: list[Attached] = field(default_factory=list[Attached])
    flags: Flag = field(default_factory=lambda: Flag(0))
    nonce: str | None = None
    pings: Pings = field(default_factory=Pings)
    reference: Json | None = None
    replied: Message | None = None
    edited_at: str | None = None
    deleted: bool = False
    to: Person | None = None
    interaction: Json | None = None
    versions: list[list[Json]] = field(default_factory=list[list[Json]])
    forwarded: Message | None = None
    stickers: list[str] = field(default_factory=list[str])

    def names(self, person: Person) -> bool:
        """Whether it mentions somebody: gateway#message-content-intent, "content in which the app is mentioned"."""
        return person in self.pings.users or self.pings.replied is person
