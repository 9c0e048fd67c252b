"""How often a method is called while we catch up: less than Slack allows, since others call it too.

https://docs.slack.dev/apis/web-api/rate-limits: methods of tier 2 at least 20 times a minute, of tier 3 at least 50.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable

_PER_MINUTE = {"conversations.list": 15, "conversations.history": 40, "conversations.replies": 40}
_MINUTE_S = 60.0


class Quota:
    """The latest calls of each method. They may come at once, as long as no minute has too many of them."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` in seconds, from any beginning."""
        self._now = now
        self._called: defaultdict[str, deque[float]] = defaultdict(deque)

    def wait_s(self, method: str) -> float:
        """How long the next call has to wait; 0 lets it go, and counts it."""
        now, called = self._now(), self._called[method]
        if len(called) >= _PER_MINUTE[method]:
            if (wait := called[0] + _MINUTE_S - now) > 0:
                return wait
            called.popleft()
        called.append(now)
        return 0.0

    async def turn(self, method: str) -> None:
        """Until the method may be called."""
        while (wait_s := self.wait_s(method)) > 0:  # noqa: ASYNC110 - time is all that is waited for
            await asyncio.sleep(wait_s)
