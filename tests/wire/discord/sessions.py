"""A session: what a bot has asked to hear, and everything that it was told, so that it can be told again.

https://docs.discord.com/developers/events/gateway#resuming
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.wire.discord.intents import ALWAYS, Intent
from tests.wire.discord.payload import Json

# #initiating-a-disconnect: without a closing code "the session will remain active and timeout after a few minutes".
# How many is not said.
SECONDS = 180.0


@dataclass(eq=False)
class Session:
    """One session. `dropped_at`: when its connection was lost, in seconds of this server; None: it has one."""

    id: str
    intents: Intent
    log: list[Json] = field(default_factory=list[Json])
    dropped_at: float | None = None

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return len(self.log)

    def wants(self, intent: Intent) -> bool:
        """Whether it has asked for events of this kind."""
        return intent == ALWAYS or intent in self.intents

    def write(self, name: str, data: Callable[[bool], Json]) -> Json:
        """One more event: op 0, with its number. gateway-events#payload-structure"""
        event: Json = {
            "op": 0, "t": name, "s": self.seq + 1, "d": data(Intent.MESSAGE_CONTENT in self.intents),
        }  # fmt: skip
        self.log.append(event)
        return event

    def after(self, seq: int) -> list[Json]:
        """What came after an event."""
        return self.log[seq:]

    def over(self, now: float) -> bool:
        """Whether it can be resumed no more."""
        return self.dropped_at is not None and now - self.dropped_at > SECONDS
