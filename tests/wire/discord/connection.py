"""One connection of a bot to the gateway: what goes over it, in order, and how it can be broken."""

import asyncio
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import WSCloseCode, web

from tests.wire.discord.payload import Json
from tests.wire.discord.sessions import Session

MOST_SENT = 120


@dataclass(eq=False)
class Connection:
    """One socket.

    `zombie`: it is open, and nothing comes over it any more, not even answers to heartbeats. `unanswered`: only those
    do not come. `heartbeats`: how many came in; `beat`: the last event that the client has named in one.
    """

    socket: web.WebSocketResponse
    request: web.Request
    session: Session | None = None
    zombie: bool = False
    unanswered: bool = False
    heartbeats: int = 0
    beat: int | None = None
    closing: int | None = None
    sent: list[float] = field(default_factory=list[float])
    _queue: "asyncio.Queue[Json | int]" = field(default_factory=lambda: asyncio.Queue["Json | int"]())
    _packed: "Callable[[bytes], bytes] | None" = None
    _writer: "asyncio.Task[None] | None" = None

    def open(self) -> bool:
        """Whether anything can go over it."""
        return not self.socket.closed and self.closing is None

    def start(self) -> None:
        """Send what is put, one after the other.

        https://docs.discord.com/developers/events/gateway#zlib-stream: one context for the connection, and each payload
        ends with a flush. `zstd-stream` is not spoken here: the client takes plain text as well.
        """
        if self.request.query.get("compress") == "zlib-stream":
            packer = zlib.compressobj()
            self._packed = lambda text: packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)
        self._writer = asyncio.create_task(self._write())

    def put(self, payload: Json) -> None:
        """Send this, after what was put before."""
        self._queue.put_nowait(payload)

    def too_many(self) -> bool:
        """gateway#rate-limiting: "120 gateway events per connection every 60 seconds", of real time; 4008 then."""
        now = asyncio.get_running_loop().time()
        self.sent = [*(at for at in self.sent if now - at < 60), now]
        return len(self.sent) > MOST_SENT

    def close(self, code: int) -> None:
        """Close it with this code, after what was put before."""
        self.closing = code
        self._queue.put_nowait(code)

    def abort(self) -> None:
        """End it as a network does."""
        self.closing = 0
        if self.request.transport is not None:
            self.request.transport.abort()

    async def end(self) -> None:
        """No more."""
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        if not self.socket.closed:
            await self.socket.close(code=WSCloseCode.GOING_AWAY)

    async def _write(self) -> None:
        while True:
            what = await self._queue.get()
            if self.zombie:
                continue
            if isinstance(what, int):
                await self.socket.close(code=what)
                return
            text = json.dumps(what)
            try:
                if self._packed is None:
                    await self.socket.send_str(text)
                else:
                    await self.socket.send_bytes(self._packed(text.encode()))
            except ConnectionError:
                # It broke while this was on its way. The session has it in its log.
                return
