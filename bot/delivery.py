"""Delivery: outbox → channel, in order per address, with the platform's own timing (R27, R28)."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import tzinfo
from typing import Concatenate, ParamSpec

from bot import card
from bot.clock import Clock
from casestore import bindings, gates, outbox
from casestore.db import Store
from casestore.errors import StoreError, StoreUnavailable
from casestore.models import OutboxId, OutboxRow
from casestore.states import OutboxKind
from casestore.tx import Tx
from channels.errors import AuthFailed, CannotTell, ChannelError, RetryLater, ThreadGone, Uncertain, Undeliverable
from channels.messages import Address, Content, Outbound, Text
from channels.port import Channel

P = ParamSpec("P")

log = logging.getLogger("casebound.delivery")

_IDLE_S = 1.0
_AT_ONCE = 64
_LONGEST_WAIT_MS = 10 * 60_000
_AUTH_WAIT_MS = 60_000


class Delivery:
    """Delivers what is due on the channels of this process."""

    def __init__(
        self, store: Store, clock: Clock, channels: Mapping[str, Channel], boot: str, zone: tzinfo | None
    ) -> None:
        self._store, self._clock, self._channels, self._boot, self._zone = store, clock, channels, boot, zone
        self._names = tuple(channels)
        self._woken = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._unsettled: dict[OutboxId, tuple[OutboxRow, int]] = {}
        self._silent_until: dict[str, int] = {}
        self.refused: dict[str, str] = {}
        """Channels whose token is refused, and why; shown by `/readyz`."""
        self.at: str | None = None
        """The one address that is served here; None for all. What is due elsewhere is another process's to deliver."""

    def wake(self) -> None:
        """Something was put into the outbox."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled: reconcile what an earlier process was sending, then deliver what is due.

        Each row is sent in a task of its own: a thread whose platform hangs keeps only itself waiting.
        """
        reconciled = False
        try:
            while True:
                self._woken.clear()
                try:
                    if not reconciled:
                        await self.reconcile()
                        reconciled = True
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
        await self._ask_again()
        rows = await self._take(_AT_ONCE)
        await asyncio.gather(*(self._deliver(row) for row in rows))
        return len(rows)

    async def reconcile(self) -> None:
        """Rows an earlier process was sending: ask the platform, or repeat them once, marked (R27)."""
        for row in await self._store.read(outbox.left_sending, self._boot, self._names, self.at):
            await self._uncertain(row, "the process ended while it was being sent")

    async def _start_due(self) -> None:
        await self._ask_again()
        for row in await self._take(_AT_ONCE - len(self._tasks)):
            task = asyncio.create_task(self._deliver(row), name=f"outbox-{row.id}")
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("delivery.raised", exc_info=error, extra={"fields": {"outbox": task.get_name()}})
        self._woken.set()  # the next row of that address

    async def _take(self, most: int) -> list[OutboxRow]:
        now = self._clock.now()
        names = tuple(name for name in self._names if self._silent_until.get(name, 0) <= now)
        if not names or most <= 0:
            return []
        return await self._store.write(outbox.take_due, now, names, boot=self._boot, most=most, at=self.at)

    async def _ask_again(self) -> None:
        """Rows of which the platform could not say, when it was asked, whether they are there."""
        now = self._clock.now()
        for row, at in list(self._unsettled.values()):
            if at <= now:
                del self._unsettled[row.id]
                await self._uncertain(row, "the platform could not be asked at first")

    async def _deliver(self, row: OutboxRow) -> None:
        """One row, to its end: however that is, it is marked, or it would stand before those behind it for ever."""
        channel = self._channels[row.channel]
        try:
            address = Address.parse(row.address)
            content, shown = await self._store.read(_content, self._clock.now(), row, self._zone)
        except StoreUnavailable as error:
            await self._retry(row, None, str(error))
            return
        except Exception as error:
            log.exception("delivery.unpresentable", extra={"fields": {"outbox": row.id}})
            why = f"it cannot be presented ({type(error).__name__})"
            await self._record(outbox.give_up, self._clock.now(), row, why)
            return
        try:
            platform_id = await self._hand_over(channel, row, address, content)
        except RetryLater as error:
            await self._retry(row, error.after_ms or None, str(error))
        except AuthFailed as error:
            self._refused_by(row.channel, error)
            await self._retry(row, _AUTH_WAIT_MS, str(error))
        except ThreadGone as error:
            await self._record(lose_thread, self._clock.now(), row.address, str(error))
        except Uncertain as error:
            await self._uncertain(row, str(error))
        except Undeliverable as error:
            await self._record(outbox.give_up, self._clock.now(), row, str(error))
        except ChannelError as error:
            await self._retry(row, None, str(error))
        except Exception as error:
            log.exception("delivery.raised", extra={"fields": {"outbox": row.id, "channel": row.channel}})
            await self._uncertain(row, type(error).__name__)
        else:
            self.refused.pop(row.channel, None)
            await self._record(outbox.mark_sent, self._clock.now(), row, platform_id, shown=shown)

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
        """Sent or not, nobody here knows: ask the platform; else repeat it once, marked as a possible duplicate."""
        now = self._clock.now()
        if row.kind in (OutboxKind.EDIT, OutboxKind.DELETE):  # doing it again changes nothing
            await self._retry(row, None, why)
            return
        try:
            found = await self._channels[row.channel].find(Address.parse(row.address), str(row.id))
        except CannotTell:
            if row.possible_duplicate:
                await self._record(outbox.give_up, now, row, f"perhaps sent twice already; {why}")
            else:
                await self._record(outbox.retry, row, not_before=now, error=why, possible_duplicate=True)
        except ThreadGone as error:
            await self._record(lose_thread, now, row.address, str(error))
        except ChannelError as error:  # it cannot be asked now: the row stays as it is, and is asked about again
            if isinstance(error, AuthFailed):
                self._refused_by(row.channel, error)
            wait = error.after_ms if isinstance(error, RetryLater) else 0
            self._unsettled[row.id] = (row, now + (wait or _backoff(row.attempts)))
        else:
            if found is None:
                await self._retry(row, None, why)
            else:
                await self._record(_found, now, row, found)

    async def _retry(self, row: OutboxRow, after_ms: int | None, why: str) -> None:
        """It was certainly not said: again at the platform's time, or at ours where it names none."""
        wait = _backoff(row.attempts) if after_ms is None else after_ms
        await self._record(outbox.retry, row, not_before=self._clock.now() + wait, error=why)

    def _refused_by(self, channel: str, error: AuthFailed) -> None:
        """Asking again with the same token makes it worse: the whole channel is left alone for a while."""
        self.refused[channel] = str(error)
        self._silent_until[channel] = self._clock.now() + _AUTH_WAIT_MS

    async def _record(self, fn: Callable[Concatenate[Tx, P], object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Write what became of a row, however long the store cannot be written."""
        while True:
            try:
                await self._store.write(fn, *args, **kwargs)
                return
            except StoreUnavailable as error:
                log.warning("delivery.store_unavailable", extra={"fields": {"error": str(error)}})
                await asyncio.sleep(_IDLE_S)


def lose_thread(tx: Tx, now: int, address: str, reason: str) -> None:
    """The thread is gone: the binding ends, what was to be said there is dead, the case lives on (R3)."""
    outbox.drop_for(tx, now, address, reason)
    bindings.lose(tx, now, address, reason=reason)


def _content(tx: Tx, now: int, row: OutboxRow, zone: tzinfo | None) -> tuple[Content | None, str | None]:
    """What a row says now: a card is made from its gate at this moment (R28)."""
    if row.gate_id is not None and row.kind in (OutboxKind.CARD, OutboxKind.EDIT):
        return card.of_gate(tx, now, gates.by_id(tx, row.gate_id), zone), outbox.look_of(tx, row.gate_id)
    return (None if row.body is None else Text(text=row.body)), None


def _found(tx: Tx, now: int, row: OutboxRow, platform_id: str) -> None:
    """It had been sent; what a card shows is not known, so it is edited."""
    outbox.mark_sent(tx, now, row, platform_id, shown="unknown" if row.gate_id is not None else None)


def _backoff(attempts: int) -> int:
    return min(1_000 * 2 ** min(attempts, 20), _LONGEST_WAIT_MS)
