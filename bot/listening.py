"""A channel, from the first attempt to reach its platform on; and what was said there while nobody listened (R29)."""

import asyncio
import logging

from casestore import bindings, positions
from casestore.db import Store
from channels.address import Address
from channels.errors import AuthFailed, ChannelError, RetryLater, ThreadGone
from channels.messages import Gone, Inbound
from channels.port import Channel, Receiver

log = logging.getLogger("casebound.listening")

_FIRST_WAIT_S, _LONGEST_WAIT_S, _REFUSED_WAIT_S = 1.0, 60.0, 300.0


class Listening:
    """Starts one channel. A platform that cannot be reached keeps nothing else from starting: it is tried again."""

    def __init__(self, channel: Channel, receiver: Receiver, store: Store) -> None:
        self._channel, self._receiver, self._store = channel, receiver, store
        self._wait_s = _FIRST_WAIT_S

    async def begin(self) -> bool:
        """Whether the channel listens now, and what was missed is stored."""
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
        await self._catch_up()
        return True

    async def until_begun(self) -> None:
        """Try again and again."""
        begun = False
        while not begun:
            await asyncio.sleep(self._wait_s)
            begun = await self.begin()

    async def _catch_up(self) -> None:
        """Read every live thread from where it was last read to its end; what is known already changes nothing."""
        for address in await self._store.read(bindings.live_on, self._channel.name):
            if Address.parse(address).begins:  # nobody can have written there yet
                continue
            try:
                await self._catch_up_at(Address.parse(address))
            except ThreadGone as error:
                await self._receiver.gone(Gone(address=Address.parse(address), reason=error.reason))
            except ChannelError as error:  # the position stands, so the next start reads from the same place
                fields = {"address": address, "error": str(error)}
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
