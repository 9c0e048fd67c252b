"""What there is: guilds, places, people, one application with its bot, and what has been called."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from tests.wire.discord.clock import Clock
from tests.wire.discord.faults import Faults
from tests.wire.discord.guilds import Guild
from tests.wire.discord.intents import Intent
from tests.wire.discord.limits import Limits
from tests.wire.discord.messages import Flag, Message
from tests.wire.discord.payload import ApiError, Json, invalid
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Direct, Place, Room, Thread
from tests.wire.discord.refusals import missing_access, missing_permissions, unknown_channel, unknown_message
from tests.wire.slack.changes import Changes

if TYPE_CHECKING:
    from tests.wire.discord.interactions import Interactions


# …/reference#snowflakes: 64 bits.
LAST = (1 << 64) - 1


@dataclass(eq=False)
class Call:
    """One call that came in. `at` is this server's time; `status` 0: nobody has heard an answer."""

    name: str
    verb: str
    path: str
    params: dict[str, str]
    query: dict[str, str]
    body: Json
    files: dict[int, tuple[str, bytes, str]]
    at: float
    status: int = 0
    answer: Json | list[Json] | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


def number(call: Call, name: str, default: int, least: int, most: int) -> int:
    """A number of the query, or the refusal."""
    text = call.query.get(name, str(default))
    if not text.isdigit() or not least <= int(text) <= most:
        raise invalid(name, "NUMBER_TYPE_COERCE", f"int value should be from {least} to {most}.")
    return int(text)


def moment(text: str) -> float:
    """A time of the query, in seconds since 1970, or the refusal."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError as wrong:
        raise invalid("before", "DATE_TIME_TYPE_PARSE", "Could not parse. Should be ISO8601.") from wrong


class Hears(Protocol):
    """Whoever is told of what happens: the gateway."""

    def happened(self, name: str, data: Callable[[bool], Json], intent: Intent) -> None:
        """An event. `data` is asked whether with the content of messages or without."""
        ...


class World:
    """The state of Discord, as far as one application can see it."""

    interactions: "Interactions"

    def __init__(self, clock: Clock, token: str, privileged: Intent) -> None:
        self.clock = clock
        self.token = token
        self.privileged = privileged
        self.changes = Changes()
        self.faults = Faults()
        self.limits = Limits()
        self.gateway: Hears | None = None
        self.people: dict[str, Person] = {}
        self.guilds: dict[str, Guild] = {}
        self.places: dict[str, Place] = {}
        self.calls: list[Call] = []
        self.commands: dict[str, list[Json]] = {}
        self.typing: list[str] = []
        self.nonces: dict[tuple[str, str], tuple[float, Message]] = {}
        self.url = ""
        self.bot = self.add(Person(clock.snowflake(), "casebound", bot=True))

    @property
    def app(self) -> str:
        """The application's id, which is its bot's too."""
        return self.bot.id

    def add(self, person: Person) -> Person:
        """Somebody is known here."""
        self.people[person.id] = person
        return person

    def direct(self, person: Person) -> Direct:
        """The conversation of the bot with one person, opened if there is none."""
        for place in self.places.values():
            if isinstance(place, Direct) and place.person is person:
                return place
        opened = Direct(self.clock.snowflake(), person, self.bot)
        self.places[opened.id] = opened
        return opened

    def place(self, id: str, *needed: May) -> Place:
        """A place that a call names, where the bot may do what is needed, or the refusal.

        10003: there is none. 50001: the bot may not see it, or is not in the guild. 50013: it may not do that there.
        """
        place = self.places.get(id)
        if place is None or place.deleted:
            raise unknown_channel()
        permissions = place.may(self.bot)
        if May.VIEW_CHANNEL not in permissions:
            raise missing_access()
        if any(permission not in permissions for permission in needed):
            raise missing_permissions()
        return place

    def thread(self, id: str, refusal: ApiError) -> Thread:
        """A thread that the bot may see."""
        place = self.place(id)
        if not isinstance(place, Thread):
            raise refusal
        return place

    def message(self, place: Place, id: str) -> Message:
        """A message that a call names. One that only somebody else may see does not exist for it."""
        found = place.messages.get(id)
        if found is None or found.deleted or found.to is not None:
            raise unknown_message()
        return found

    def sees(self, person: Person, place: Place) -> list[Message]:
        """What stands before somebody in a place, oldest first."""
        if place.deleted or May.VIEW_CHANNEL not in place.may(person):
            return []
        return [m for m in place.messages.values() if not m.deleted and (m.to is None or m.to is person)]

    def mutual(self, person: Person) -> bool:
        """Whether the bot and somebody are in one guild."""
        return any({person.id, self.bot.id} <= guild.members.keys() for guild in self.guilds.values())

    def put(self, message: Message) -> Message:
        """Something has been said; in a thread it counts as activity."""
        message.place.messages[message.id] = message
        if isinstance(message.place, Thread):
            message.place.active_at = self.clock.now()
        self.changes.changed()
        return message

    def threads_of(self, room: Room) -> list[Thread]:
        """The threads of a room that are still there."""
        return [t for t in self.places.values() if isinstance(t, Thread) and t.parent is room and not t.deleted]

    def hears_content(self, message: Message) -> bool:
        """Whether a message's content is given to an application without the intent for it.

        https://docs.discord.com/developers/events/gateway#message-content-intent: its own, direct ones, and those that
        mention it.
        """
        return message.author is self.bot or isinstance(message.place, Direct) or message.names(self.bot)

    def quiet(self, message: Message) -> bool:
        """Whether nobody but one person sees it: no event of it, and no reading of it."""
        return message.to is not None or Flag.EPHEMERAL in message.flags
