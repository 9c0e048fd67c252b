"""The line "is working on it…" in the threads of a case, for as long as a run works it.

Best effort, and beside everything: the calls are made in tasks of their own, so that no run and no delivery waits for
them, and a channel that refuses is left alone for a while.
"""

import asyncio
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from bot.clock import Clock
from casestore import bindings
from casestore.db import Store
from casestore.errors import StoreError
from casestore.models import CaseId
from channels.address import Address
from channels.errors import ChannelError, RetryLater, ThreadGone
from channels.port import Channel

log = logging.getLogger("casebound.status_line")

WORDS = "is working on it…"
_PATIENCE_S = 10.0
_LEFT_ALONE_MS = 600_000


class StatusLine:
    """Shows and clears, one after the other in each case."""

    def __init__(self, store: Store, clock: Clock, channels: Mapping[str, Channel]) -> None:
        self._store, self._clock, self._channels = store, clock, channels
        self._last: dict[CaseId, asyncio.Task[None]] = {}
        self._not_before: dict[str, int] = {}

    @contextmanager
    def shown(self, case_id: CaseId) -> Generator[None]:
        """Shown inside the block, cleared when it is left in whatever way. Neither is waited for."""
        self._follow(case_id, WORDS)
        try:
            yield
        finally:
            self._follow(case_id, "")

    async def stop(self) -> None:
        """Let go of what is under way: a platform takes such a line away by itself."""
        under_way = tuple(self._last.values())
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    def _follow(self, case_id: CaseId, words: str) -> None:
        task = asyncio.create_task(self._say(case_id, words, self._last.get(case_id)), name=f"status-{case_id}")
        self._last[case_id] = task
        task.add_done_callback(lambda done: self._forget(case_id, done))

    def _forget(self, case_id: CaseId, done: "asyncio.Task[None]") -> None:
        if self._last.get(case_id) is done:
            del self._last[case_id]

    async def _say(self, case_id: CaseId, words: str, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            bound = await self._store.read(bindings.of_case, case_id)
        except StoreError as error:
            log.info("status_line.store", extra={"fields": {"case": case_id, "error": str(error)}})
            return
        for address in (Address.parse(binding.address) for binding in bound):
            if not address.begins:  # a thread that is not there yet has no such line
                await self._show(address, words)

    async def _show(self, address: Address, words: str) -> None:
        channel = self._channels.get(address.channel)
        if channel is None or self._clock.now() < self._not_before.get(channel.name, 0):
            return
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await channel.working(address, words)
        except ThreadGone:  # delivery hears of it too, and ends the binding
            log.info("status_line.thread_gone", extra={"fields": {"address": str(address)}})
        except (ChannelError, TimeoutError) as error:
            wait_ms = error.after_ms if isinstance(error, RetryLater) else _LEFT_ALONE_MS
            self._not_before[channel.name] = self._clock.now() + wait_ms
            log.warning("status_line.left_alone", extra={"fields": {"address": str(address), "error": str(error)}})
        except Exception:  # whatever a channel does, it is only this line that is missing
            self._not_before[channel.name] = self._clock.now() + _LEFT_ALONE_MS
            log.exception("status_line.failed", extra={"fields": {"address": str(address)}})
