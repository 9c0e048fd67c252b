"""Catching up: what was said on a channel while nobody listened is read from the platform, each message once (R29)."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from bot.clock import Clock
from bot.errors import CaseboundError
from casestore import bindings, positions
from casestore.db import Store
from casestore.errors import StoreError
from casestore.tx import Tx
from channels.address import Address
from channels.errors import AuthFailed, ChannelError, RetryLater, ScopeMissing, ThreadGone
from channels.messages import Gone
from channels.port import Channel, Receiver

log = logging.getLogger("casebound.listening")

_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 60_000, 60 * 60_000
_READ_AFTER_CLOSE_MS = 30 * 24 * 3_600_000
"""How long after its end a case's thread is still read: else every thread there ever was would be, each time."""


@dataclass(frozen=True, slots=True)
class _Waits:
    """A place that could not be read: not before `due` (ms UTC), `pause` (ms) after the last attempt."""

    due: int
    pause: int
    after: str | None = None


class CatchingUp:
    """Reads the past of one channel. That it is read once at a time is for its caller to see to."""

    def __init__(self, channel: Channel, receiver: Receiver, store: Store, clock: Clock) -> None:
        self._channel, self._receiver, self._store, self._clock = channel, receiver, store, clock
        self._waiting: dict[Address | None, _Waits] = {}  # None: looking for direct conversations nobody has heard of
        self._ended = True

    @property
    def read_all(self) -> bool:
        """Whether nothing is left that may be readable later."""
        return self._ended and not self._waiting

    async def read(self) -> None:
        """Read every place from where it was last read to its end; what is known already changes nothing.

        First the direct conversations, where new threads may have begun; then every live thread, these among them,
        the liveliest first; then the direct conversations of which nobody has heard yet. A place that cannot be read
        waits alone, for longer each time. A token that is refused ends it: every other call would be refused too.
        """
        self._ended = False
        waited, self._waiting = self._waiting, {}
        try:
            for address in await self._known():
                await self._read_or_say_so(address, waited.get(address))
            for address in await self._store.read(_threads_on, self._channel.name, self._clock.now()):
                if not address.begins:  # nobody can have written there yet
                    await self._read_or_say_so(address, waited.get(address))
            await self._read_new_ones(waited.get(None))
        except (AuthFailed, StoreError) as error:  # all of it is read again
            self._say(self._channel.name, error)
            return
        self._ended = True

    async def read_on(self) -> None:
        """Read what waits and is due by now, or everything where that was not come to an end with."""
        if not self._ended:
            await self.read()
            return
        due = {place: waits for place, waits in self._waiting.items() if waits.due <= self._clock.now()}
        try:
            for place, waits in due.items():
                del self._waiting[place]
                if place is None:
                    await self._read_new_ones(waits)
                else:
                    await self._read_or_say_so(place, waits)
                    if not place.thread:  # what was said there may have been the first of a thread
                        await self._read_threads_in(place)
        except (AuthFailed, StoreError) as error:
            self._ended = False
            self._say(self._channel.name, error)

    async def _known(self) -> Sequence[Address]:
        return await self._store.read(_direct_on, self._channel.name)

    async def _read_new_ones(self, waited: _Waits | None) -> None:
        """People who wrote to us for the first time: what they said since everything was last heard, nothing older."""
        since = await self._store.read(positions.heard_until, self._channel.name)
        if since is None:  # it has never been listened to: nothing was said to us
            return
        known = {*await self._known(), *self._waiting}
        try:
            async for address, after in self._channel.direct(since):
                if address not in known:
                    await self._read_or_say_so(address, None, after)
                    await self._read_threads_in(address)
        except ChannelError as error:
            self._not_read(None, error, waited)

    async def _read_threads_in(self, room: Address) -> None:
        for thread in await self._store.read(_threads_in, room):
            await self._read_or_say_so(thread, self._waiting.get(thread))

    async def _read_or_say_so(self, address: Address, waited: _Waits | None, begin: str | None = None) -> None:
        begin = begin if waited is None else begin or waited.after
        try:
            try:
                await self._read_at(address, begin)
            except ThreadGone as error:
                await self._receiver.gone(Gone(address=address, reason=error.reason))
        except (ChannelError, StoreError, CaseboundError) as error:  # the position stands: it is read from there again
            self._not_read(address, error, waited, begin)
        else:
            self._waiting.pop(address, None)

    def _not_read(
        self, place: Address | None, error: Exception, waited: _Waits | None, begin: str | None = None
    ) -> None:  # fmt: skip
        """What the platform refuses it will refuse again; all else passes. Raises a token's refusal: it is of all."""
        if isinstance(error, AuthFailed) and not isinstance(error, ScopeMissing):
            raise error
        if not isinstance(error, ChannelError) or isinstance(error, RetryLater | ScopeMissing):
            pause = _FIRST_PAUSE_MS if waited is None else min(2 * waited.pause, _LONGEST_PAUSE_MS)
            asked = error.after_ms if isinstance(error, RetryLater) else 0
            self._waiting[place] = _Waits(self._clock.now() + max(pause, asked), pause, begin)
        self._say(self._channel.name if place is None else str(place), error)

    def _say(self, place: str, error: Exception) -> None:
        log.warning("channel.not_caught_up", extra={"fields": {"address": place, "error": str(error)}})

    async def _read_at(self, address: Address, begin: str | None) -> None:
        """From the position, or else from `begin`. Whoever is asked to wait waits, and goes on from what is stored.

        Raises `RetryLater` where it fails again and again without saying when to come: the others are not kept waiting.
        """
        after = await self._store.read(positions.of, str(address)) or begin
        newest, wait_s = after, _FIRST_WAIT_S
        while True:
            past = self._channel.catch_up(address, newest)
            try:
                async for said in past:
                    await self._receiver.inbound(said)
                    newest, wait_s = said.platform_id, _FIRST_WAIT_S
                break
            except RetryLater as error:
                if not error.after_ms and wait_s >= _LONGEST_WAIT_S:
                    raise
                await asyncio.sleep(error.after_ms / 1_000 or wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            finally:
                if isinstance(past, AsyncGenerator):  # else what waits for its end waits until it is collected
                    await past.aclose()
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
