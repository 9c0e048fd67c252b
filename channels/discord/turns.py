"""One thing after the other in each channel of Discord's: what is told live, and what is read of its past (R29)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Turns:
    """Whose turn it is, for each channel, by Discord's id of it. A channel at rest is not remembered."""

    def __init__(self) -> None:
        self._turns: dict[int, asyncio.Lock] = {}
        self._waiting: dict[int, int] = {}

    @asynccontextmanager
    async def of(self, channel: int) -> AsyncGenerator[None]:
        """In the order in which it came, although each comes in a task of its own."""
        lock = self._turns.setdefault(channel, asyncio.Lock())
        self._waiting[channel] = self._waiting.get(channel, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._waiting[channel] -= 1
            if not self._waiting[channel]:
                del self._waiting[channel], self._turns[channel]
