"""What there is: one workspace with one installation of the app, its people, rooms, views and files."""

from dataclasses import dataclass, field
from itertools import count

from tests.wire.slack.changes import Changes
from tests.wire.slack.clock import Clock
from tests.wire.slack.faults import Faults
from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.people import Person
from tests.wire.slack.rooms import Kind, Message, Room
from tests.wire.slack.tokens import OF_KIND, Token, Tokens
from tests.wire.slack.triggers import Triggers
from tests.wire.slack.views import View


@dataclass(eq=False)
class Call:
    """One call that came in. `at` is this server's time, `answer` what it was told, if anything."""

    method: str
    verb: str
    args: Json
    token: str
    at: float
    status: int = 0
    answer: Json = field(default_factory=dict[str, object])

    @property
    def ok(self) -> bool:
        """Whether it was done and the client heard so."""
        return self.status == 200 and bool(self.answer.get("ok"))


@dataclass(eq=False)
class Shared:
    """A file that somebody has put into a room.

    `mode` and `external`: https://docs.slack.dev/reference/objects/file-object. `claims`: the size that is said of it,
    where that is not true; `address`: where its links lead, `redirects_to`: where the download sends on to.
    """

    id: str
    name: str
    mimetype: str
    content: bytes
    person: Person
    mode: str = "hosted"
    external: bool = False
    claims: int | None = None
    address: str = ""
    redirects_to: str = ""
    deleted: bool = False


class Workspace:
    """The state of Slack, as far as one app can see it."""

    def __init__(self, clock: Clock, tokens: Tokens, team: str, enterprise: str | None) -> None:
        self.clock = clock
        self.tokens = tokens
        self.team = team
        self.enterprise = enterprise
        self.app_id = "A0CASEBOUND"
        self.changes = Changes()
        self.faults = Faults()
        self.triggers = Triggers(clock)
        self.people: dict[str, Person] = {}
        self.rooms: dict[str, Room] = {}
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.files: dict[str, Shared] = {}
        self.calls: list[Call] = []
        self.statuses: dict[tuple[str, str], str] = {}
        self.events: list[Json] = []
        self.limits: dict[str, float] = {}
        self.pace = 0.0
        self.interactions: dict[str, Interaction] = {}
        self.url = ""
        self._numbers = count(1)
        self.bot = self.add(Person(self.id("UBOT"), team, "casebound", enterprise, "B0CASEBOUND", self.app_id))

    def id(self, prefix: str) -> str:
        """A new id, as short as it may be."""
        return f"{prefix}{next(self._numbers):04d}"

    def add(self, person: Person) -> Person:
        """Somebody is known here."""
        self.people[person.id] = person
        return person

    def room(self, channel: object, token: Token, *, family: str = "") -> Room:
        """The room that a call names, as far as the app may know of it.

        A private room that the app is not in does not exist for it, and neither does a deleted one:
        https://docs.slack.dev/reference/methods/conversations.info#errors (channel_not_found).
        """
        room = self.rooms.get(str(channel))
        hidden = room is not None and room.kind is not Kind.PUBLIC and self.bot.id not in room.members
        if room is None or room.deleted or hidden:
            raise Refused("channel_not_found")
        if family:
            token.need(f"{OF_KIND[room.kind]}:{family}")
        return room

    def direct(self, person: Person) -> Room:
        """The conversation of the app with one person, opened if there is none."""
        for room in self.rooms.values():
            if room.kind is Kind.DIRECT and person.id in room.members:
                return room
        opened = Room(self.id("D"), "", self.team, Kind.DIRECT, {person.id, self.bot.id})
        self.rooms[opened.id] = opened
        return opened

    def put(self, message: Message) -> Message:
        """Something has been said."""
        message.room.messages[message.ts] = message
        self.changes.changed()
        return message


@dataclass(eq=False)
class Interaction:
    """What a `response_url` belongs to, and what the app has posted there."""

    room: Room | None
    message: Message | None
    person: Person
    at: float
    answers: list[Json] = field(default_factory=list[Json])
