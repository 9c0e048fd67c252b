"""Where things are said: rooms (Discord: text channels), threads, and direct messages with the bot."""

from dataclasses import dataclass, field
from enum import IntEnum

from tests.wire.discord.guilds import Guild, Role
from tests.wire.discord.messages import Message
from tests.wire.discord.payload import Json
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import EVERYTHING, NOTHING, May


class Kind(IntEnum):
    """https://docs.discord.com/developers/resources/channel#channel-object-channel-types"""

    ROOM = 0
    DIRECT = 1
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12


@dataclass(eq=False)
class Place:
    """What messages are in, by id, oldest first."""

    id: str
    messages: dict[str, Message] = field(default_factory=dict[str, Message], kw_only=True)
    deleted: bool = field(default=False, kw_only=True)

    @property
    def guild(self) -> Guild | None:
        """The guild it is in; None: a direct message."""
        return None

    @property
    def last(self) -> str | None:
        """The id of the newest message. channel#channel-object, `last_message_id`: it may be a deleted one."""
        return next(reversed(self.messages), None)

    def may(self, person: Person) -> May:
        """What somebody may do here."""
        raise NotImplementedError

    def as_json(self) -> Json:
        """https://docs.discord.com/developers/resources/channel#channel-object"""
        raise NotImplementedError


@dataclass(eq=False)
class Room(Place):
    """A text channel of a guild. `rules`: by the id of a role or a person, what is denied and what is allowed."""

    home: Guild
    name: str
    rules: dict[str, tuple[May, May]] = field(default_factory=dict[str, tuple[May, May]])

    @property
    def guild(self) -> Guild:
        """The guild it is in."""
        return self.home

    def may(self, person: Person) -> May:
        """https://docs.discord.com/developers/topics/permissions#permission-overwrites, `compute_overwrites`.

        #implicit-permissions: who may not see a room may do nothing in it; who may not send may not mention everyone,
        attach or embed.
        """
        base = self.home.base(person)
        if base in (EVERYTHING, NOTHING):
            return base
        deny, allow = self.rules.get(self.home.id, (NOTHING, NOTHING))
        base = base & ~deny | allow
        of_roles = [self.rules[role] for role in self.home.members[person.id] if role in self.rules]
        for denied, _ in of_roles:
            base &= ~denied
        for _, allowed in of_roles:
            base |= allowed
        deny, allow = self.rules.get(person.id, (NOTHING, NOTHING))
        base = base & ~deny | allow
        return self.home.may_still(person, base) if May.VIEW_CHANNEL in base else NOTHING

    def as_json(self, *, hidden: bool = False) -> Json:
        """`hidden`: channel#obfuscated-channels, "a channel object with obfuscated metadata" over the gateway."""
        rules = [
            {"id": who, "type": 1 if who in self.home.people else 0, "deny": str(int(deny)), "allow": str(int(allow))}
            for who, (deny, allow) in self.rules.items()
        ]
        return {
            "id": self.id, "type": Kind.ROOM.value, "guild_id": self.home.id, "position": 0, "parent_id": None,
            "name": "___hidden___" if hidden else self.name, "topic": None, "nsfw": False, "flags": 0,
            "last_message_id": None if hidden else self.last, "permission_overwrites": [] if hidden else rules,
            "rate_limit_per_user": 0,
        }  # fmt: skip

    def set_rule(self, who: Person | Role, *, deny: May, allow: May) -> None:
        """What a role or a person may not do here, or may here alone."""
        self.rules[who.id] = (deny, allow)


@dataclass(eq=False)
class Thread(Place):
    """A thread of a room. Times are seconds since 1970, `auto_archive` is in minutes.

    https://docs.discord.com/developers/topics/threads
    """

    parent: Room
    name: str
    kind: Kind
    owner: Person
    created: float
    auto_archive: int
    invitable: bool = True
    archived: bool = False
    locked: bool = False
    archive_changed: float = 0.0
    active_at: float = 0.0
    members: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def guild(self) -> Guild:
        """The guild it is in."""
        return self.parent.home

    @property
    def private(self) -> bool:
        """Whether only who was added may see it."""
        return self.kind is Kind.PRIVATE_THREAD

    def may(self, person: Person) -> May:
        """topics/permissions#inherited-permissions-threads: as in the room, which has to be seen in any case.

        topics/threads#permissions: "SEND_MESSAGES has no effect in threads"; a private one is for those who "must be
        invited", or may manage threads.
        """
        permissions = self.parent.may(person)
        if self.private and person.id not in self.members and May.MANAGE_THREADS not in permissions:
            return NOTHING
        return permissions

    def member_json(self, person: Person) -> Json:
        """https://docs.discord.com/developers/resources/channel#thread-member-object"""
        return {"id": self.id, "user_id": person.id, "join_timestamp": self.members[person.id], "flags": 0}

    def as_json(self) -> Json:
        """topics/threads#thread-fields"""
        said = [message for message in self.messages.values() if not message.deleted]
        return {
            "id": self.id, "type": self.kind.value, "guild_id": self.guild.id, "parent_id": self.parent.id,
            "owner_id": self.owner.id, "name": self.name, "last_message_id": self.last, "message_count": len(said),
            "member_count": min(50, len(self.members)), "rate_limit_per_user": 0, "flags": 0,
            "total_message_sent": len(self.messages),
        }  # fmt: skip


@dataclass(eq=False)
class Direct(Place):
    """The conversation of the bot with one person."""

    person: Person
    bot: Person

    def may(self, person: Person) -> May:
        """Both may do what there is to do, and nobody else anything."""
        return EVERYTHING if person in (self.person, self.bot) else NOTHING

    def as_json(self) -> Json:
        """channel#channel-object-example-dm-channel"""
        return {
            "id": self.id, "type": Kind.DIRECT.value, "last_message_id": self.last, "flags": 0,
            "recipients": [self.person.as_json()],
        }  # fmt: skip
