"""A channel, from the first attempt to reach its platform on; and what was said there while nobody listened (R29)."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from bot.errors import CaseboundError
from casestore import bindings, positions
from casestore.db import Store
from casestore.errors import StoreError
from casestore.tx import Tx
from channels.address import Address
from channels.errors import AuthFailed, ChannelError, RetryLater, ThreadGone
from channels.messages import Gone, Inbound
from channels.port import Channel, Receiver

log = logging.getLogger("casebound.listening")

_FIRST_WAIT_S, _LONGEST_WAIT_S, _REFUSED_WAIT_S = 1.0, 60.0, 300.0
_LONGEST_START_S = 5.0


class Listening:
    """Starts one channel. A platform that cannot be reached keeps nothing else from starting: it is tried again."""

    def __init__(self, channel: Channel, receiver: Receiver, store: Store) -> None:
        self._channel, self._receiver, self._store = channel, receiver, store
        self._wait_s = _FIRST_WAIT_S
        self._tried = asyncio.Event()
        self._failed: Exception | None = None

    async def run(self) -> None:
        """Begin, however often that is tried, and store what was missed."""
        try:
            while not await self._begin():
                self._tried.set()
                await asyncio.sleep(self._wait_s)
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
        """Read every place from where it was last read to its end; what is known already changes nothing.

        First the direct conversations, where new threads may have begun; then every live thread, these among them.
        """
        for found in (_direct_on, bindings.live_on):
            for text in await self._places(found):
                if not (address := Address.parse(text)).begins:  # nobody can have written there yet
                    await self._catch_up_or_say_so(address)

    async def _places(self, found: Callable[[Tx, str], list[str]]) -> list[str]:
        try:
            return await self._store.read(found, self._channel.name)
        except StoreError as error:
            fields = {"channel": self._channel.name, "error": str(error)}
            log.warning("channel.not_caught_up", extra={"fields": fields})
            return []

    async def _catch_up_or_say_so(self, address: Address) -> None:
        try:
            await self._catch_up_at(address)
        except ThreadGone as error:
            await self._receiver.gone(Gone(address=address, reason=error.reason))
        except (
            ChannelError,
            StoreError,
            CaseboundError,
        ) as error:  # the position stands: the next start reads from the same place
            fields = {"address": str(address), "error": str(error)}
            log.warning("channel.not_caught_up", extra={"fields": fields})

    async def _catch_up_at(self, address: Address) -> None:
        after = await self._store.read(positions.of, str(address))
        newest: Inbound | None = None
        while True:
            try:
                async for said in self._channel.catch_up(address, after):
                    await self._receiver.inbound(said)
                    newest = said
                break
            except RetryLater as error:
                await asyncio.sleep(error.after_ms / 1_000 or _FIRST_WAIT_S)
        if newest is not None:
            await self._store.write(positions.move, str(address), newest.platform_id)


def _direct_on(tx: Tx, channel: str) -> list[str]:
    """The direct conversations that are caught up on: places without a thread."""
    return [address for address in positions.on(tx, channel) if not Address.parse(address).thread]
