"""About one message a second in each room, as Slack asks; whoever is too early is given a time to come again.

https://docs.slack.dev/apis/web-api/rate-limits#posting-messages
"""

from __future__ import annotations

from collections.abc import Callable

INTERVAL_S = 1.0


class Pace:
    """The times at which rooms may be posted to. Nothing waits in here: who is early comes again at the time it got."""

    def __init__(self, now: Callable[[], float], interval_s: float = INTERVAL_S) -> None:
        """`now` in seconds, from any beginning."""
        self._now, self._interval_s = now, interval_s
        self._free: dict[str, float] = {}
        self._given: dict[tuple[str, str], float] = {}

    def wait_s(self, room: str, thread: str) -> float:
        """How long the next message of this thread has to wait; 0 lets it go, and the room's next a second later."""
        now = self._now()
        given = self._given.pop((room, thread), None)
        if given is not None and given <= now:
            return 0.0
        at = given if given is not None else max(now, self._free.get(room, now))
        if given is None:
            self._free[room] = at + self._interval_s
        if at <= now:
            return 0.0
        self._given[room, thread] = at
        return at - now

    def hold(self, room: str, seconds: float) -> None:
        """Slack has said how long nobody is to post there."""
        self._free[room] = max(self._free.get(room, 0.0), self._now() + seconds)
