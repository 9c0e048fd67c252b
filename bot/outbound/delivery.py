"""Delivery: outbox → channel, in order per address, with the platform's own timing (R27, R28)."""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo

from bot.clock import Clock
from bot.outbound.sending import Sending
from bot.outbound.silence import Silence
from casestore import outbox
from casestore.db import Store
from casestore.errors import StoreError
from casestore.models import OutboxRow
from channels.port import Channel

log = logging.getLogger("casebound.delivery")

_IDLE_S = 1.0
_AT_ONCE = 64  # rows of one channel that are on their way


class Delivery:
    """Delivers what is due on the channels of this process."""

    def __init__(
        self, store: Store, clock: Clock, channels: Mapping[str, Channel], boot: str, zone: tzinfo | None,
        *, stale_after_ms: int | None = None, rooms: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """`stale_after_ms`: what has waited so long is told of, not said. `rooms`: where a lost thread is told of."""
        self._store, self._clock, self._boot = store, clock, boot
        self._names = tuple(channels)
        self._woken = asyncio.Event()
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._silence = Silence()
        self._sending = Sending(
            store, clock, channels, boot, zone, self._silence, stale_after_ms=stale_after_ms, rooms=rooms
        )
        self.at: str | None = None
        """The one address that is served here; None for all. What is due elsewhere is another process's to deliver."""

    @property
    def refused(self) -> dict[str, str]:
        """Channels whose token is refused, and why; shown by `/readyz`."""
        return self._silence.why

    def wake(self) -> None:
        """Something was put into the outbox."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled: ask what became of what an earlier process was sending, and deliver what is due.

        Each row is asked about or sent in a task of its own: a thread whose platform hangs keeps only itself waiting.
        """
        found = False
        try:
            while True:
                self._woken.clear()
                try:
                    if not found:
                        await self._find_left_over()
                        found = True
                    await self._start_due()
                except StoreError as error:
                    log.warning("delivery.store_unavailable", extra={"fields": {"error": str(error)}})
                except Exception:  # whatever it is, what can be delivered is delivered
                    log.exception("delivery.failed")
                with suppress(TimeoutError):
                    async with asyncio.timeout(_IDLE_S):
                        await self._woken.wait()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def deliver_due(self) -> int:
        """Send the first due row of every address, addresses side by side; how many."""
        await asyncio.gather(*(self._sending.settle(doubt.row, doubt.why) for doubt in self._sending.to_ask()))
        rows = await self._take(self._names)
        await asyncio.gather(*(self._sending.send(row) for row in rows))
        return len(rows)

    async def reconcile(self) -> None:
        """Rows an earlier process was sending: ask the platform, or repeat them once, marked (R27)."""
        await self._find_left_over()
        await asyncio.gather(*(self._sending.settle(doubt.row, doubt.why) for doubt in self._sending.to_ask()))

    async def _find_left_over(self) -> None:
        for row in await self._store.read(outbox.left_sending, self._boot, self._names, self.at):
            self._sending.doubt(row, "the process ended while it was being sent")

    async def _start_due(self) -> None:
        for doubt in self._sending.to_ask():
            self._start(doubt.row, self._sending.settle(doubt.row, doubt.why))
        under_way = Counter(self._tasks.values())
        free = tuple(name for name in self._names if under_way[name] < (1 if name in self.refused else _AT_ONCE))
        for row in await self._take(free, _AT_ONCE - max((under_way[name] for name in free), default=0)):
            self._start(row, self._sending.send(row))

    def _start(self, row: OutboxRow, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work, name=f"outbox-{row.id}")
        self._tasks[task] = row.channel
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        del self._tasks[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("delivery.raised", exc_info=error, extra={"fields": {"outbox": task.get_name()}})
        self._woken.set()  # the next row of that address

    async def _take(self, channels: tuple[str, ...], most: int = _AT_ONCE) -> list[OutboxRow]:
        now = self._clock.now()
        well, tried = self._silence.split(channels, now)
        rows = await self._take_of(well, now, most) if well else []
        for name in tried:
            self._silence.attempt(name, now)
        for name in tried:
            first = await self._take_of((name,), now, 1)
            if not first:
                self._silence.not_attempted(name, now)
            rows += first
        return rows

    async def _take_of(self, channels: tuple[str, ...], now: int, most: int) -> list[OutboxRow]:
        return await self._store.write(outbox.take_due, now, channels, boot=self._boot, most=most, at=self.at)
