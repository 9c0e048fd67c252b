"""What can go wrong between a client and Discord, one call at a time, by the name of the endpoint."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum


class When(StrEnum):
    """Whether a call that goes wrong was done."""

    BEFORE = "before"
    """Nothing was done."""
    AFTER = "after"
    """It was done; nobody hears of it."""


@dataclass(frozen=True)
class Fault:
    """One call that goes wrong: with a status, or (`cut`) with no answer at all.

    `body`, of this `content_type`: what stands in the answer, as somebody in between may say it in Discord's place.
    """

    status: int = 500
    when: When = When.BEFORE
    cut: bool = False
    retry_after: float | None = None
    everywhere: bool = False
    body: str | None = None
    content_type: str = "text/html"


@dataclass
class Hold:
    """A call that waits until the test lets it go: in front of Discord's door, before it is done, or (`when` AFTER)
    with its answer, when it is done already and the gateway has told of it.
    """

    name: str
    when: When = When.BEFORE
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
    """What the next calls meet, in the order in which it was asked for."""

    def __init__(self) -> None:
        self._next: dict[str, list[Fault]] = {}
        self._always: dict[str, Fault] = {}
        self._holds: dict[str, Hold] = {}

    def add(self, name: str, fault: Fault, times: int | None) -> None:
        """The next `times` calls; None: all, until `clear`."""
        if times is None:
            self._always[name] = fault
        else:
            self._next.setdefault(name, []).extend([fault] * times)

    def clear(self, name: str) -> None:
        """All is well again."""
        self._next.pop(name, None)
        self._always.pop(name, None)

    def hold(self, name: str, when: When) -> Hold:
        """Let the calls of an endpoint wait."""
        hold = self._holds[name] = Hold(name, when)
        return hold

    def held(self, name: str, when: When) -> Hold | None:
        """Whether calls of an endpoint wait there."""
        hold = self._holds.get(name)
        return hold if hold is not None and hold.when is when else None

    def take(self, name: str) -> Fault | None:
        """What this call meets."""
        waiting = self._next.get(name)
        return waiting.pop(0) if waiting else self._always.get(name)

    def release(self) -> None:
        """Let everybody go."""
        for hold in self._holds.values():
            hold.release()
