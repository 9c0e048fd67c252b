"""What Slack tells the app: each thing once, and again while it is not acknowledged.

https://docs.slack.dev/apis/events-api/#retries: an event that is not answered within three seconds comes again nearly
at once, then after a minute, then after five; the same `event_id`, the attempt's number, and why. What a person did
by hand (a press, a command) is not repeated: they see that the app did not answer.
"""

from dataclasses import dataclass, field
from typing import Protocol

from tests.wire.slack.payload import Json
from tests.wire.slack.workspace import Workspace

ANSWER_WITHIN = 3.0
AGAIN_AFTER = (0.0, 60.0, 300.0)


@dataclass(eq=False)
class Attempt:
    """One envelope, or one request. `answer` is what the app sent with its acknowledgement."""

    envelope_id: str
    at: float
    number: int
    by: str = ""
    acked_at: float | None = None
    answer: Json = field(default_factory=dict[str, object])
    status: int | None = None


@dataclass(eq=False)
class Delivery:
    """One thing that the app is told, and how often it had to be."""

    kind: str
    payload: Json
    attempts: list[Attempt] = field(default_factory=list[Attempt])

    @property
    def acked(self) -> bool:
        """Whether any attempt has been acknowledged."""
        return any(attempt.acked_at is not None for attempt in self.attempts)

    @property
    def acks(self) -> list[Attempt]:
        """The attempts that were acknowledged."""
        return [attempt for attempt in self.attempts if attempt.acked_at is not None]

    @property
    def answer(self) -> Json:
        """What came with the first acknowledgement."""
        return self.acks[0].answer if self.acks else {}

    @property
    def lost(self) -> bool:
        """Whether Slack has given up."""
        return not self.acked and (self.kind != "events_api" or len(self.attempts) > len(AGAIN_AFTER))

    def due(self) -> float | None:
        """When it comes again, unless it is acknowledged; None: never."""
        if self.acked or self.kind != "events_api" or not 1 <= len(self.attempts) <= len(AGAIN_AFTER):
            return None
        return self.attempts[-1].at + max(ANSWER_WITHIN, AGAIN_AFTER[len(self.attempts) - 1])


class Carrier(Protocol):
    """How an attempt reaches the app: a socket, or a request."""

    async def carry(self, delivery: Delivery, attempt: Attempt) -> None:
        """Send it. Nobody there: nothing happens, it comes again."""
        ...


class Deliveries:
    """All of them, in order."""

    def __init__(self, workspace: Workspace, carrier: Carrier) -> None:
        self._workspace = workspace
        self.carrier = carrier
        self.all: list[Delivery] = []

    async def send(self, kind: str, payload: Json) -> Delivery:
        """Tell the app something new."""
        delivery = Delivery(kind, payload)
        self.all.append(delivery)
        await self.attempt(delivery)
        return delivery

    async def attempt(self, delivery: Delivery, *, as_retry: bool = True) -> Attempt:
        """Once more, under a new envelope id."""
        number = len(delivery.attempts) if as_retry else 0
        attempt = Attempt(self._workspace.id("env-"), self._workspace.clock.now(), number)
        delivery.attempts.append(attempt)
        await self.carrier.carry(delivery, attempt)
        self._workspace.changes.changed()
        return attempt

    async def catch_up(self) -> None:
        """Send again what has become due."""
        for delivery in list(self.all):
            if (due := delivery.due()) is not None and due <= self._workspace.clock.now():
                await self.attempt(delivery)

    def acknowledge(self, envelope_id: str, answer: Json) -> Delivery | None:
        """The app has answered. None: it answered what nobody asked, or twice."""
        for delivery in self.all:
            for attempt in delivery.attempts:
                if attempt.envelope_id == envelope_id and attempt.acked_at is None:
                    attempt.acked_at, attempt.answer = self._workspace.clock.now(), answer
                    self._workspace.changes.changed()
                    return delivery
        return None
