"""Sending one row of the outbox, to its end: said, to be tried again, given up, or asked about (R27, R28)."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import Concatenate, ParamSpec

from bot.clock import Clock
from bot.outbound import losing, posting, threads
from bot.outbound.doubt import Doubt, due
from bot.outbound.silence import WAIT_MS, Silence
from casestore import outbox
from casestore.db import Store
from casestore.errors import StoreUnavailable
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

_AGAIN_S = 1.0  # a store that could not be written is tried again
_PATIENCE_S = 30.0  # for a platform to answer one call; after that nobody knows what became of it
_LONGEST_WAIT_MS = 10 * 60_000


class Sending:
    """Sends rows, asks what became of those in doubt, and records both; which and when is not decided here."""

    def __init__(
        self, store: Store, clock: Clock, channels: Mapping[str, Channel], boot: str, zone: tzinfo | None,
        silence: Silence, *, stale_after_ms: int | None, rooms: Sequence[str],
    ) -> None:  # fmt: skip
        self._store, self._clock, self._channels, self._boot, self._zone = store, clock, channels, boot, zone
        self._silence, self._stale_after_ms, self._rooms = silence, stale_after_ms, rooms
        self._unsettled: dict[OutboxId, Doubt] = {}

    def doubt(self, row: OutboxRow, why: str) -> None:
        """Nobody knows whether this row was said: its platform is to be asked."""
        self._unsettled[row.id] = Doubt(row, why, self._clock.now())

    def to_ask(self) -> list[Doubt]:
        """What is to be asked about now, which from here on is; `settle` each."""
        return due(self._unsettled.values(), self._silence, self._clock.now())

    async def send(self, row: OutboxRow) -> None:
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
            await self.settle(row, str(error))
        except Undeliverable as error:
            await self._record(row, posting.undeliverable, self._clock.now(), row, str(error))
        except ChannelError as error:
            await self._retry(row, None, str(error))
        except Exception as error:
            log.exception("delivery.raised", extra={"fields": {"outbox": row.id, "channel": row.channel}})
            await self.settle(row, type(error).__name__)
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

    async def settle(self, row: OutboxRow, why: str) -> None:
        """Sent or not, nobody here knows: settle it, or ask again later; until then the row stays as it is."""
        doubt = self._unsettled.setdefault(row.id, Doubt(row, why, None))
        doubt.at, doubt.asked = None, doubt.asked + 1
        try:
            await self._ask(row, why)
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

    async def _ask(self, row: OutboxRow, why: str) -> None:
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
                await asyncio.sleep(_AGAIN_S)
            except Exception as error:
                if fn is outbox.give_up:
                    raise
                log.exception("delivery.not_recorded", extra={"fields": {"outbox": row.id}})
                why = f"what became of it cannot be recorded ({type(error).__name__})"
                await self._record(row, outbox.give_up, self._clock.now(), row, why)
                return


def _backoff(attempts: int) -> int:
    return min(1_000 * 2 ** min(attempts, 20), _LONGEST_WAIT_MS)
