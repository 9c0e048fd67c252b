"""Cancelling a coroutine at the n-th place where it waits: while it still waits there, or when it would go on."""

import asyncio
from collections.abc import Coroutine, Generator
from enum import Enum
from itertools import count


class When(Enum):
    """At which side of a wait it is cancelled."""

    WAITING = "waiting"
    """It is cancelled while what it waits for is still under way."""
    ARRIVED = "arrived"
    """What it waited for is there, and it is cancelled before it has looked."""


class CutAt:
    """Awaits `work` step by step and cancels it at its n-th wait; `waits` counts them, `cut` says whether it was."""

    def __init__(self, work: Coroutine[object, object, object], nth: int | None, when: When) -> None:
        self._work, self._nth, self._when = work, nth, when
        self.waits = 0
        self.cut = False

    def __await__(self) -> Generator[object, None, object]:
        send = lambda: self._work.send(None)  # noqa: E731
        for n in count():
            try:
                waits_for = send()
            except StopIteration as done:
                return done.value
            self.waits += 1
            cut_here = n == self._nth
            if cut_here and self._when is When.WAITING:
                self.cut = True
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            yield waits_for
            if cut_here and self._when is When.ARRIVED:
                self.cut = True
                send = lambda: self._work.throw(asyncio.CancelledError())  # noqa: E731
            else:
                send = lambda: self._work.send(None)  # noqa: E731
