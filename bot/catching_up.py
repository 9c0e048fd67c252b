"""Catching up: what was said on a channel while nobody listened is read from the platform, each message once (R29)."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from bot.clock import Clock
from bot.errors import CaseboundError
from casestore import bindings, positions
from casestore.db import Store
from casestore.errors import StoreError
from casestore.tx import Tx
from channels.address import Address
from channels.errors import ChannelError, RetryLater, ThreadGone
from channels.messages import Gone
from channels.port import Channel, Receiver

log = logging.getLogger("casebound.listening")

_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0
_READ_AFTER_CLOSE_MS = 30 * 24 * 3_600_000
"""How long after its end a case's thread is still read: else every thread there ever was would be, each time."""


class CatchingUp:
    """Reads the past of one channel. That it is read once at a time is for its caller to see to."""

    def __init__(self, channel: Channel, receiver: Receiver, store: Store, clock: Clock) -> None:
        self._channel, self._receiver, self._store, self._clock = channel, receiver, store, clock
        self._read_all = True

    async def read(self) -> bool:
        """Read every place from where it was last read to its end; what is known already changes nothing.

        First the direct conversations, where new threads may have begun; then every live thread, these among them,
        the liveliest first; then the direct conversations of which nobody has heard yet. False where
        something could not be read that may be readable later.
        """
        self._read_all = True
        known = await self._looked_up(_direct_on, self._channel.name)
        for address in known:
            await self._read_or_say_so(address)
        for address in await self._looked_up(_threads_on, self._channel.name, self._clock.now()):
            if not address.begins:  # nobody can have written there yet
                await self._read_or_say_so(address)
        await self._read_new_ones(set(known))
        return self._read_all

    async def _read_new_ones(self, known: set[Address]) -> None:
        """People who wrote to us for the first time: what they said since everything was last heard, nothing older."""
        try:
            since = await self._store.read(positions.heard_until, self._channel.name)
            if since is None:  # it has never been listened to: nothing was said to us
                return
            async for address, after in self._channel.direct(since):
                if address not in known:
                    await self._read_or_say_so(address, after)
                    for thread in await self._looked_up(_threads_in, address):
                        await self._read_or_say_so(thread)
        except RetryLater as error:
            self._not_read(self._channel.name, error)
            await asyncio.sleep(error.after_ms / 1_000)
        except (ChannelError, StoreError) as error:
            self._not_read(self._channel.name, error)

    async def _looked_up(self, found: Callable[..., Sequence[Address]], *args: object) -> Sequence[Address]:
        try:
            return await self._store.read(found, *args)
        except StoreError as error:
            self._not_read(self._channel.name, error)
            return ()

    async def _read_or_say_so(self, address: Address, after: str | None = None) -> None:
        try:
            try:
                await self._read_at(address, after)
            except ThreadGone as error:
                await self._receiver.gone(Gone(address=address, reason=error.reason))
        except (ChannelError, StoreError, CaseboundError) as error:  # the position stands: it is read from there again
            self._not_read(str(address), error)

    def _not_read(self, place: str, error: Exception) -> None:
        """What the platform refuses it will refuse again; a store that fails, or a person nobody knows yet, passes."""
        if not isinstance(error, ChannelError) or isinstance(error, RetryLater):
            self._read_all = False
        log.warning("channel.not_caught_up", extra={"fields": {"address": place, "error": str(error)}})

    async def _read_at(self, address: Address, begin: str | None) -> None:
        """From the position, or else from `begin`. Whoever is asked to wait waits, and goes on from what is stored.

        Raises `RetryLater` where it fails again and again without saying when to come: the others are not kept waiting.
        """
        after = await self._store.read(positions.of, str(address)) or begin
        newest, wait_s = after, _FIRST_WAIT_S
        while True:
            try:
                async for said in self._channel.catch_up(address, newest):
                    await self._receiver.inbound(said)
                    newest, wait_s = said.platform_id, _FIRST_WAIT_S
                break
            except RetryLater as error:
                if not error.after_ms and wait_s >= _LONGEST_WAIT_S:
                    raise
                await asyncio.sleep(error.after_ms / 1_000 or wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        if newest is not None and newest != after:
            await self._store.write(positions.move, str(address), newest)


def _direct_on(tx: Tx, channel: str) -> list[Address]:
    """The direct conversations that are caught up on: places without a thread."""
    return [address for address in map(Address.parse, positions.on(tx, channel)) if not address.thread]


def _threads_on(tx: Tx, channel: str, now: int) -> list[Address]:
    """The threads in which something may have been said that concerns a case."""
    return [*map(Address.parse, bindings.live_on(tx, channel, ended_after=now - _READ_AFTER_CLOSE_MS))]


def _threads_in(tx: Tx, room: Address) -> list[Address]:
    return [address for address in map(Address.parse, bindings.live_in(tx, str(room))) if address.thread]
