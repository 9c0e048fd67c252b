"""Previews: what the assistant is about to say, for whoever listens, until it is settled or is not said (R12).

In memory alone, and nothing a run does depends on it (R13). There is no queue: a listener is woken, and takes what is
there then. One that is slow, or gone, misses nothing that counts and holds nobody up.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

from casestore.leases import Lease
from casestore.models import CaseId


class Preview:
    """The words of one model call so far, which it hears as `bot.models.hearing` says."""

    def __init__(self, lease: Lease, told: Callable[[], None]) -> None:
        self.lease = lease
        """What the run acts under: without it nothing of this is said in the end."""
        self.attempt = 0
        """Goes up whenever the words begin anew."""
        self.text = ""
        self._told = told

    def add(self, piece: str) -> None:
        """More words."""
        self.text += piece
        self._told()

    def clear(self) -> None:
        """These words are not what is said."""
        self.attempt += 1
        self.text = ""
        self._told()


class Listener:
    """One who listens to a case."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """There is something to look at."""
        self._woken.set()

    async def wait(self, at_most_s: float) -> None:
        """Until there is something to look at, or so many seconds have passed."""
        try:
            async with asyncio.timeout(at_most_s):
                await self._woken.wait()
        except TimeoutError:
            return
        finally:
            self._woken.clear()


class Previews:
    """Who listens to which case, and what is being said in it. At most so many (`most`) listen at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._listeners: dict[CaseId, set[Listener]] = {}
        self._spoken: dict[CaseId, Preview] = {}
        self.closed = False
        """Whether the service ends, and everybody who listens is to go."""

    @property
    def full(self) -> bool:
        """Whether nobody else can listen now."""
        return sum(len(those) for those in self._listeners.values()) >= self._most

    def of(self, case_id: CaseId) -> Preview | None:
        """What is being said in a case now; None where nothing is, or nobody listened when it began."""
        return self._spoken.get(case_id)

    @contextmanager
    def listening(self, case_id: CaseId) -> Generator[Listener]:
        """Listen to a case."""
        listener = Listener()
        those = self._listeners.setdefault(case_id, set())
        those.add(listener)
        try:
            yield listener
        finally:
            those.discard(listener)
            if not those:
                self._listeners.pop(case_id, None)

    @contextmanager
    def speaking(self, case_id: CaseId, lease: Lease) -> Generator[Preview | None]:
        """A model is asked, and its answer recorded; None where nobody listens. Left, whoever listens is woken."""
        if case_id not in self._listeners:
            yield None
            return
        preview = Preview(lease, lambda: self._wake(case_id))
        self._spoken[case_id] = preview
        try:
            yield preview
        finally:
            if self._spoken.get(case_id) is preview:  # the next run of the case may have begun, and this one be late
                del self._spoken[case_id]
            self._wake(case_id)

    def close(self) -> None:
        """Send everybody away."""
        self.closed = True
        for case_id in self._listeners:
            self._wake(case_id)

    def _wake(self, case_id: CaseId) -> None:
        for listener in self._listeners.get(case_id, ()):
            listener.wake()
