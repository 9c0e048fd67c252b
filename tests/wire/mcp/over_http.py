"""The misbehaving server at an address of this machine, over streamable HTTP, and what goes wrong on the way there.

modelcontextprotocol.io, 2025-11-25, transports, streamable HTTP: a server answers a request it does not let in with an
HTTP status, and one for a session that it does not know with 404, upon which the client begins a new one.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tests.wire.mcp.behaviour import Behaviour


class OverHttp:
    """Where it listens; `start` and `stop` are a deploy of it."""

    def __init__(self, behaviour: Behaviour, *, token: str | None = None) -> None:
        self.behaviour, self._token = behaviour, token
        self.fault: int | str | None = None
        """What becomes of the answers to calls of tools, after the fact: an HTTP status, or `cut`."""
        self._port = 0
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}/mcp"

    async def start(self) -> None:
        """Listen, where it listened before; no session of before is known."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._port))
        self._port = listening.getsockname()[1]
        self._app = self.behaviour.server().streamable_http_app()
        config = uvicorn.Config(
            self._at_the_door, interface="asgi3", log_config=None, lifespan="on", timeout_graceful_shutdown=1
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]))
        await self._server.up.wait()

    async def stop(self) -> None:
        """Listen no more, and cut every connection."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = self._server.force_exit = True
            await self._serving
            self._server = None

    async def _at_the_door(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        if self._token is not None and headers.get("authorization") != f"Bearer {self._token}":
            await Response("who are you?", 401)(scope, receive, send)
            return
        body = b""
        more = scope["method"] == "POST"
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked: dict[str, Any] = json.loads(body) if body else {}
        given = False

        async def again() -> Message:
            nonlocal given
            if given or scope["method"] != "POST":
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        if self.fault is None or asked.get("method") != "tools/call":
            await self._app(scope, again, send)
            return
        await self._app(scope, again, _nowhere)  # it happens
        if isinstance(self.fault, int):
            await Response("oh", self.fault)(scope, receive, send)
            return
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
        await send(start)
        await send({"type": "http.response.body", "body": b"event: mess", "more_body": True})
        # ended without an end: the server closes the connection


async def _nowhere(_: Message) -> None:
    return None


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it is up, and leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def over_http(behaviour: Behaviour, *, token: str | None = None) -> AsyncGenerator[OverHttp]:
    """The server, until the block is left."""
    server = OverHttp(behaviour, token=token)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
