"""A channel, from the first attempt to reach its platform on; what was said while nobody listened is caught up on."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from bot.clock import Clock
from bot.inbound.catching_up import CatchingUp
from casestore import positions
from casestore.db import Store
from casestore.errors import StoreError
from casestore.tx import Tx
from channels.errors import AuthFailed, ChannelError
from channels.port import Channel, Receiver

log = logging.getLogger("casebound.listening")

_FIRST_WAIT_S, _LONGEST_WAIT_S, _REFUSED_WAIT_S = 1.0, 60.0, 300.0
_LONGEST_START_S = 5.0
_BEAT_S = 60.0
_ASLEEP_MS = 3 * int(_BEAT_S * 1_000)
"""More than this between two beats: the machine has slept, and what was said meanwhile was said to nobody."""
_MARGIN_MS = 10 * 60_000
"""So long ago everything is certainly heard: no platform delivers later, and no dead connection looks alive so long."""


class Listening:
    """Starts one channel. A platform that cannot be reached keeps nothing else from starting: it is tried again."""

    def __init__(self, channel: Channel, receiver: Receiver, store: Store, clock: Clock) -> None:
        self._channel, self._receiver, self._store, self._clock = channel, receiver, store, clock
        self._past = CatchingUp(channel, receiver, store, clock)
        self._wait_s = _FIRST_WAIT_S
        self._tried = asyncio.Event()
        self._again = asyncio.Event()
        self._beat = clock.now()
        self._failed: Exception | None = None

    async def run(self) -> None:
        """Begin, however often that is tried, and store what was missed: then, and whenever something may have been.

        It is read once at a time: however often a connection comes and goes while that lasts, once more afterwards.
        """
        try:
            await self._note(positions.listen, self._clock.now())  # what was said before concerns nobody here
            while not await self._begin():
                self._tried.set()
                await asyncio.sleep(self._wait_s)
            await self._catch_up()
            self._tried.set()
            while True:
                await self._until_missed()
                await self._catch_up()
        except Exception as error:  # a bug: `tried` says it to whoever starts the service
            self._failed = error
            raise
        finally:
            self._tried.set()

    async def tried(self, most_s: float = _LONGEST_START_S) -> None:
        """Until what was missed is stored, the first attempt has failed, or so many seconds have passed.

        What is missed comes before what is new, where that can be had: but no start waits long for it. Raises what no
        platform's trouble explains.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._tried.wait()
        if self._failed is not None:
            raise self._failed

    def resumed(self) -> None:
        """The channel was away and is back: what was said meanwhile is read, beside what is said now."""
        self._again.set()

    async def _begin(self) -> bool:
        """Whether the channel listens now."""
        try:
            await self._channel.start(self._receiver)
        except ChannelError as error:
            refused = isinstance(error, AuthFailed)
            self._wait_s = _REFUSED_WAIT_S if refused else min(2 * self._wait_s, _LONGEST_WAIT_S)
            log.log(
                logging.ERROR if refused else logging.WARNING, "channel.not_started",
                extra={"fields": {"channel": self._channel.name, "error": str(error)}},
            )  # fmt: skip
            return False
        return True

    async def _catch_up(self) -> None:
        self._again.clear()
        begun = self._clock.now()
        await self._past.read()
        if self._past.read_all:
            await self._note(positions.hear, begun - _MARGIN_MS)
        self._beat = self._clock.now()

    async def _until_missed(self) -> None:
        """Until everything is to be read: the channel was away, or the machine slept. What waits is read meanwhile."""
        while not self._again.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(_BEAT_S):
                    await self._again.wait()
                    return
            now = self._clock.now()
            slept = now - self._beat > _ASLEEP_MS
            if slept:
                return
            await self._past.read_on()
            self._beat = self._clock.now()
            if self._channel.connected and self._past.read_all:
                await self._note(positions.hear, now - _MARGIN_MS)

    async def _note(self, how: Callable[[Tx, str, int], None], at: int) -> None:
        """Note until when all is heard. Where the store fails, a later beat does."""
        try:
            await self._store.write(how, self._channel.name, at)
        except StoreError as error:
            fields = {"channel": self._channel.name, "error": str(error)}
            log.warning("channel.not_noted", extra={"fields": fields})
