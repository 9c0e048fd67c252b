"""What can go wrong between a client and Slack, one call at a time."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum


class Cut(StrEnum):
    """When the connection of a call is cut without an answer."""

    BEFORE = "before"
    """Nothing was done."""
    AFTER_ACCEPTING = "after_accepting"
    """It was done; nobody hears of it."""
    HALFWAY = "halfway"
    """Half of a file came. Only for downloads."""


@dataclass(frozen=True)
class Fault:
    """One call that goes wrong. `status` 429 needs `retry_after`; `error` is one of Slack's own, with status 200.

    `body`, of this `content_type`, is what somebody in between says in Slack's place; `accepted`: it was done all the
    same.
    """

    status: int = 200
    error: str = ""
    retry_after: int | None = None
    cut: Cut | None = None
    body: str | None = None
    content_type: str = "text/html"
    accepted: bool = False

    @property
    def prevents(self) -> bool:
        """Whether nothing is done."""
        return self.cut is not Cut.AFTER_ACCEPTING and not self.accepted


@dataclass
class Hold:
    """A call that waits in front of Slack's door until the test lets it go; after it came in, before it is done."""

    method: str
    at_the_door: int = 0
    _open: asyncio.Event = field(default_factory=asyncio.Event)
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    async def arrived(self) -> None:
        """Returns once a call waits."""
        async with asyncio.timeout(15):
            await self._came.wait()

    def release(self) -> None:
        """Let it go, and all that come after."""
        self._open.set()

    async def wait(self) -> None:
        """The call's side."""
        self.at_the_door += 1
        self._came.set()
        await self._open.wait()


class Faults:
    """What the next calls meet, by method, in the order in which it was asked for."""

    def __init__(self) -> None:
        self._next: dict[str, list[Fault | None]] = {}
        self._always: dict[str, Fault] = {}
        self._holds: dict[str, Hold] = {}

    def add(self, method: str, fault: Fault, times: int | None, after: int) -> None:
        """The next `times` calls, once `after` have gone well; `times` None: all, until `clear`."""
        if times is None:
            self._always[method] = fault
        else:
            self._next.setdefault(method, []).extend([*[None] * after, *[fault] * times])

    def clear(self, method: str) -> None:
        """All is well again."""
        self._next.pop(method, None)
        self._always.pop(method, None)

    def hold(self, method: str) -> Hold:
        """Let the calls of a method wait."""
        hold = Hold(method)
        self._holds[method] = hold
        return hold

    def held(self, method: str) -> Hold | None:
        """Whether calls of a method wait."""
        return self._holds.get(method)

    def take(self, method: str) -> Fault | None:
        """What this call meets."""
        waiting = self._next.get(method)
        return waiting.pop(0) if waiting else self._always.get(method)
