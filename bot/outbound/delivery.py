"""Delivery: outbox → channel, in order per address, with the platform's own timing (R27, R28)."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from typing import Concatenate, ParamSpec

from bot.clock import Clock
from bot.outbound import losing, posting, threads
from bot.outbound.doubt import Doubt, due
from bot.outbound.silence import WAIT_MS, Silence
from casestore import outbox
from casestore.db import Store
from casestore.errors import StoreError, StoreUnavailable
from casestore.models import OutboxId, OutboxRow
from casestore.states import OutboxKind
from casestore.tx import Tx
from channels.errors import (
    AuthFailed,
    BadAddress,
    CannotTell,
    ChannelError,
    RetryLater,
    ThreadGone,
    Uncertain,
    Undeliverable,
)
from channels.messages import Address, Content, Outbound
from channels.port import Channel

P = ParamSpec("P")

log = logging.getLogger("casebound.delivery")

_IDLE_S = 1.0
_PATIENCE_S = 30.0  # for a platform to answer one call; after that nobody knows what became of it
_AT_ONCE = 64  # rows of one channel that are on their way
_LONGEST_WAIT_MS = 10 * 60_000


class Delivery:
    """Delivers what is due on the channels of this process."""

    def __init__(
        self, store: Store, clock: Clock, channels: Mapping[str, Channel], boot: str, zone: tzinfo | None,
        *, stale_after_ms: int | None = None, rooms: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """`stale_after_ms`: what has waited so long is told of, not said. `rooms`: where a lost thread is told of."""
        self._store, self._clock, self._channels, self._boot, self._zone = store, clock, channels, boot, zone
        self._stale_after_ms, self._rooms = stale_after_ms, rooms
        self._names = tuple(channels)
        self._woken = asyncio.Event()
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._unsettled: dict[OutboxId, Doubt] = {}
        self._silence = Silence()
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
        await asyncio.gather(*(self._uncertain(doubt.row, doubt.why) for doubt in self._to_ask()))
        rows = await self._take(self._names)
        await asyncio.gather(*(self._deliver(row) for row in rows))
        return len(rows)

    async def reconcile(self) -> None:
        """Rows an earlier process was sending: ask the platform, or repeat them once, marked (R27)."""
        await self._find_left_over()
        await asyncio.gather(*(self._uncertain(doubt.row, doubt.why) for doubt in self._to_ask()))

    async def _find_left_over(self) -> None:
        for row in await self._store.read(outbox.left_sending, self._boot, self._names, self.at):
            self._unsettled[row.id] = Doubt(row, "the process ended while it was being sent", self._clock.now())

    async def _start_due(self) -> None:
        for doubt in self._to_ask():
            self._start(doubt.row, self._uncertain(doubt.row, doubt.why))
        under_way = Counter(self._tasks.values())
        free = tuple(name for name in self._names if under_way[name] < (1 if name in self.refused else _AT_ONCE))
        for row in await self._take(free, _AT_ONCE - max((under_way[name] for name in free), default=0)):
            self._start(row, self._deliver(row))

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

    def _to_ask(self) -> list[Doubt]:
        """Rows to be asked about now."""
        return due(self._unsettled.values(), self._silence, self._clock.now())

    async def _deliver(self, row: OutboxRow) -> None:
        """One row, to its end: however that is, it is marked, or it would stand before those behind it for ever."""
        now, after_ms = self._clock.now(), self._stale_after_ms
        try:
            if after_ms is not None and row.kind is OutboxKind.MESSAGE and row.put_at <= now - after_ms:
                await self._record(row, posting.pass_over, now, row, now - after_ms, self._zone)
            else:
                await self._attempt(row)
        except Exception as error:  # what became of it could not be recorded, not even that it is given up
            log.exception("delivery.raised", extra={"fields": {"outbox": row.id, "channel": row.channel}})
            why = type(error).__name__
            self._unsettled[row.id] = Doubt(row, why, self._clock.now() + _backoff(row.attempts))

    async def _attempt(self, row: OutboxRow) -> None:
        channel = self._channels[row.channel]
        try:
            address = Address.parse(row.address).on_platform
            content, shown = await self._store.read(posting.content, self._clock.now(), row, self._zone)
        except StoreUnavailable as error:
            await self._retry(row, None, str(error))
            return
        except Exception as error:
            log.exception("delivery.unpresentable", extra={"fields": {"outbox": row.id}})
            why = f"it cannot be presented ({type(error).__name__})"
            await self._record(row, outbox.give_up, self._clock.now(), row, why)
            return
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if (begun := await self._begin(channel, row)) is not None:
                    row, address = begun, Address.parse(begun.address)
                platform_id = await self._hand_over(channel, row, address, content)
        except StoreUnavailable as error:
            await self._retry(row, None, str(error))
        except RetryLater as error:
            await self._retry(row, error.after_ms or None, str(error))
        except AuthFailed as error:
            self._silence.begin(row.channel, error, self._clock.now())
            await self._retry(row, WAIT_MS, str(error))
        except ThreadGone as error:
            await self._lose(row, error)
        except Uncertain as error:
            await self._uncertain(row, str(error))
        except Undeliverable as error:
            await self._record(row, posting.undeliverable, self._clock.now(), row, str(error))
        except ChannelError as error:
            await self._retry(row, None, str(error))
        except Exception as error:
            log.exception("delivery.raised", extra={"fields": {"outbox": row.id, "channel": row.channel}})
            await self._uncertain(row, type(error).__name__)
        else:
            self._silence.end(row.channel)
            await self._record(row, threads.posted, self._clock.now(), row, platform_id, shown=shown)

    async def _begin(self, channel: Channel, row: OutboxRow) -> OutboxRow | None:
        """The row in a thread that is made for it, where its own is not there yet and the platform makes it apart."""
        place = Address.parse(row.address)
        if not place.begins:
            return None
        what = await self._store.read(threads.beginning, row)
        thread = await channel.begin(place, what.label, what.title, what.people, since=what.since)
        return None if thread is None else await self._store.write(threads.begun, self._clock.now(), row, thread)

    async def _hand_over(
        self, channel: Channel, row: OutboxRow, address: Address, content: Content | None
    ) -> str | None:
        if row.kind is OutboxKind.DELETE:
            await channel.delete(address, row.target or "")
            return row.target
        if content is None:
            raise Undeliverable("there is nothing to say")
        if row.kind is OutboxKind.EDIT:
            await channel.edit(address, row.target or "", content)
            return row.target
        outbound = Outbound(
            address=address, nonce=str(row.id), content=content, possible_duplicate=row.possible_duplicate
        )
        return await channel.send(outbound)

    async def _uncertain(self, row: OutboxRow, why: str) -> None:
        """Sent or not, nobody here knows: settle it, or ask again later; until then the row stays as it is."""
        doubt = self._unsettled.setdefault(row.id, Doubt(row, why, None))
        doubt.at, doubt.asked = None, doubt.asked + 1
        try:
            await self._settle(row, why)
        except Exception as error:  # whatever it is, the platform cannot be asked now
            wait = _backoff(row.attempts + doubt.asked - 1)
            if isinstance(error, AuthFailed):
                self._silence.begin(row.channel, error, self._clock.now())
                wait = WAIT_MS
            elif isinstance(error, RetryLater):
                wait = error.after_ms or wait
            elif not isinstance(error, ChannelError | TimeoutError):
                log.exception("delivery.cannot_ask", extra={"fields": {"outbox": row.id, "channel": row.channel}})
            doubt.at = self._clock.now() + wait
        else:
            del self._unsettled[row.id]

    async def _settle(self, row: OutboxRow, why: str) -> None:
        """Ask the platform; where it cannot say, repeat the row once, marked as a possible duplicate."""
        # the end of a process is no failure of the platform: what it left is not kept waiting for that
        after_ms = None if row.boot == self._boot else 0
        if row.kind in (OutboxKind.EDIT, OutboxKind.DELETE):  # doing it again changes nothing
            await self._retry(row, after_ms, why)
            return
        try:
            async with asyncio.timeout(_PATIENCE_S):
                address = Address.parse(row.address).on_platform
                found = await self._channels[row.channel].find(address, str(row.id))
                self._silence.end(row.channel)
        except CannotTell:
            now = self._clock.now()
            if row.possible_duplicate:
                await self._record(row, outbox.give_up, now, row, f"perhaps sent twice already; {why}")
            else:
                await self._record(row, outbox.retry, row, not_before=now, error=why, possible_duplicate=True)
        except ThreadGone as error:
            await self._lose(row, error)
        except (BadAddress, Undeliverable) as error:
            await self._record(row, outbox.give_up, self._clock.now(), row, str(error))
        else:
            if found is None:
                await self._retry(row, after_ms, why)
            else:
                await self._record(row, posting.found, self._clock.now(), row, found)

    async def _retry(self, row: OutboxRow, after_ms: int | None, why: str) -> None:
        """It was certainly not said: again at the platform's time, or at ours where it names none."""
        wait = _backoff(row.attempts) if after_ms is None else after_ms
        told_when = after_ms is not None
        not_before = self._clock.now() + wait
        await self._record(row, outbox.retry, row, not_before=not_before, error=why, told_when=told_when)

    async def _lose(self, row: OutboxRow, error: ThreadGone) -> None:
        await self._record(row, losing.lose_thread, self._clock.now(), row.address, error.reason, self._rooms)

    async def _record(
        self, row: OutboxRow, fn: Callable[Concatenate[Tx, P], object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Write what became of a row, however long the store cannot be written.

        What the store refuses for another reason is a bug: the row is given up. Raises where that is refused too.
        """
        while True:
            try:
                await self._store.write(fn, *args, **kwargs)
                return
            except StoreUnavailable as error:
                log.warning("delivery.store_unavailable", extra={"fields": {"error": str(error)}})
                await asyncio.sleep(_IDLE_S)
            except Exception as error:
                if fn is outbox.give_up:
                    raise
                log.exception("delivery.not_recorded", extra={"fields": {"outbox": row.id}})
                why = f"what became of it cannot be recorded ({type(error).__name__})"
                await self._record(row, outbox.give_up, self._clock.now(), row, why)
                return


def _backoff(attempts: int) -> int:
    return min(1_000 * 2 ** min(attempts, 20), _LONGEST_WAIT_MS)
