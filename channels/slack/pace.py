"""About one message a second in each room, as Slack asks; whoever is too early is given a time to come again.

https://docs.slack.dev/apis/web-api/rate-limits#posting-messages
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

INTERVAL_S = 1.0
_MOST_ROOMS = 1_000
"""Of more rooms those are forgotten that may be posted to and in which nobody waits."""
_KEPT_S = 10.0
"""How long a place is kept for a thread that does not come at its time: what it had to say may be gone."""


@dataclass(slots=True)
class _Place:
    """A thread's place in the line of its room: when it may post, and when it was told to come."""

    at: float
    told: float


@dataclass(slots=True)
class _Room:
    """When the room may be posted to again, and who waits for that: first come, first served."""

    free: float
    line: dict[str, _Place] = field(default_factory=dict[str, _Place])


class Pace:
    """The times at which rooms may be posted to. Nothing waits in here: who is early comes again at the time it got."""

    def __init__(self, now: Callable[[], float], interval_s: float = INTERVAL_S) -> None:
        """`now` in seconds, from any beginning."""
        self._now, self._interval_s = now, interval_s
        self._rooms: dict[str, _Room] = {}

    def __len__(self) -> int:
        """How many rooms are remembered."""
        return len(self._rooms)

    def wait_s(self, room: str, thread: str) -> float:
        """How long the next message of this thread has to wait; 0 lets it go, and the room's next a second later.

        A time that was given may have moved when its thread comes: then there is another.
        """
        now = self._now()
        here = self._room(room, now)
        place = here.line.get(thread)
        if place is None:
            at = max(now, here.free, *(last.at + self._interval_s for last in list(here.line.values())[-1:]))
            place = here.line[thread] = _Place(at, at)
        if place.at > now:
            place.told = place.at
            return place.at - now
        del here.line[thread]
        self._close_until(here, now, now + self._interval_s)
        return 0.0

    def hold(self, room: str, thread: str, seconds: float) -> None:
        """Slack has told this thread how long nobody is to post in the room; then it is the first, unless it was 0."""
        now = self._now()
        here = self._room(room, now)
        until = max(here.free, now + seconds)
        if seconds > 0:
            here.line = {thread: _Place(until, until), **here.line}
        self._close_until(here, now, until)

    def _close_until(self, here: _Room, now: float, free: float) -> None:
        """Nobody posts before `free`, and all who wait move with it, each a second after the one before."""
        kept = now - _KEPT_S
        here.free = free
        here.line = {thread: place for thread, place in here.line.items() if place.told >= kept}
        for place in here.line.values():
            place.at = max(place.at, free)
            free = place.at + self._interval_s

    def _room(self, room: str, now: float) -> _Room:
        if room not in self._rooms and len(self._rooms) >= _MOST_ROOMS:
            self._rooms = {name: one for name, one in self._rooms.items() if one.line or one.free > now}
        return self._rooms.setdefault(room, _Room(now))
