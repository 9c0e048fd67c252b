"""Edits and deletions that could not be stored are told again until they are: Discord tells of nothing twice (R29).

They are kept in memory. What a kill takes with it is the change alone: the message stays as it was said.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque

from channels.messages import Changed
from channels.port import Receiver

log = logging.getLogger("casebound.discord")

_MOST = 1_000
"""Changes that are kept, of all places together."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 60.0
_MOST_ATTEMPTS = 1_500
"""About a day of them; by then it is the change that is wrong, and those behind it have waited long enough."""


class Again:
    """Tells the receiver of changes, those of each place in their order."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._kept: dict[str, deque[Changed]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def changed(self, changed: Changed) -> None:
        """Tell of it now; where that fails, or others of its place wait, it waits behind them. Raises nothing."""
        place = str(changed.address)
        if place in self._kept:
            self._keep(place, changed)
            return
        try:
            await self._receiver.changed(changed)
        except Exception as error:  # whatever it is, nobody else tells of it again
            log.warning("discord.change_not_stored", extra={"fields": _fields(place, error)})
            self._keep(place, changed)

    async def stop(self) -> None:
        """Tell of nothing more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _keep(self, place: str, changed: Changed) -> None:
        if sum(map(len, self._kept.values())) >= _MOST:
            log.error("discord.change_lost", extra={"fields": {"address": place, "error": "too many are kept"}})
            return
        if place in self._kept:
            self._kept[place].append(changed)
            return
        self._kept[place] = deque([changed])
        task = asyncio.create_task(self._tell(place), name=f"again {place}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell(self, place: str) -> None:
        """What is kept of one place, to its end."""
        kept = self._kept[place]
        try:
            while kept:
                await self._tell_first(place, kept[0])
                kept.popleft()
        finally:
            del self._kept[place]

    async def _tell_first(self, place: str, changed: Changed) -> None:
        wait_s, tries = _FIRST_WAIT_S, 0
        while True:
            await asyncio.sleep(wait_s)
            try:
                await self._receiver.changed(changed)
            except Exception as error:
                wait_s, tries = min(2 * wait_s, _LONGEST_WAIT_S), tries + 1
                if tries >= _MOST_ATTEMPTS:
                    log.error("discord.change_lost", extra={"fields": _fields(place, error)})
                    return
            else:
                return


def _fields(place: str, error: Exception) -> dict[str, object]:
    return {"address": place, "error": type(error).__name__}
