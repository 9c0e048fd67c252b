"""Socket Mode: a connection that we open, look after, and open anew. Nothing of ours has to be reachable.

Slack's own client connects anew by itself, but tries a token that is refused, and an address that lets nobody in any
more, for ever, and says so to nobody. Here it only tells that a connection has had its time.
https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, cast

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from channels.errors import AuthFailed, ChannelError, RetryLater
from channels.slack.failures import translated
from channels.slack.web import Web

log = logging.getLogger("casebound.slack")

Resumed = Callable[[], Awaitable[None]]

_LOOKS_TO_CONNECT, _LOOKS_BETWEEN = 2, 12
"""So many looks a connection is given to come about, and at most so many pass between two attempts."""


class _Addressless(logging.Filter):
    """The address of a socket lets in whoever has it: it is left out of what Slack's client logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = re.sub(r"wss?://\S+", "wss://…", record.getMessage()), ()
        record.exc_info = None
        return True


_socket_log = logging.getLogger("casebound.slack.socket")
_socket_log.addFilter(_Addressless())


class _Client(SocketModeClient):
    """Slack's client for one connection: `lost` is set when it would connect anew."""

    def __init__(self, app_token: str, web: Web, look_every_s: float) -> None:
        super().__init__(app_token, logger=_socket_log, web_client=web.client, ping_interval=look_every_s)
        self.lost = asyncio.Event()
        self.under_way: set[asyncio.Task[object]] = set()

    @property
    def lives(self) -> bool:
        session = self.current_session
        return not (self.closed or self.stale or session is None or session.closed)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        self.lost.set()

    async def until_lost(self, within_s: float) -> bool:
        """Whether it is, after so long at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self.lost.wait()
        return self.lost.is_set() or not self.lives


class Socket:
    """The connection that counts; one that it has taken the place of may still be answering what came over it."""

    def __init__(self, app_token: str, api_url: str, look_every_s: float) -> None:
        """The connection is looked after every `look_every_s`."""
        self._app_token, self._look_every_s = app_token, look_every_s
        self._app = Web(app_token, api_url, setting="slack.app_token")
        self._client: _Client | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.trouble: str | None = None

    @property
    def connected(self) -> bool:
        return self.trouble is None and self._client is not None and self._client.lives

    async def connect(self, app: AsyncApp, web: Web, resumed: Resumed) -> None:
        client = self._client = await self._opened(app, web)
        self._begin(self._look_after(client, app, web, resumed))

    async def close(self) -> None:
        client, self._client = self._client, None
        tasks, self.trouble = tuple(self._tasks), None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if client is not None:
            await _close(client)

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _opened(self, app: AsyncApp, web: Web, resumed: Resumed | None = None) -> _Client:
        """A new connection; `resumed` is called once events come over it, which Slack's `hello` says.

        Also one that Slack has asked for: an event for which there was no connection comes again three times, and
        that may be in the next time without one. Raises `AuthFailed` where the app token is refused, `RetryLater`.
        """
        address = (await self._app.change("apps.connections.open")).get("url")
        if not isinstance(address, str):
            raise RetryLater(0, "what answers for Slack names no address to connect to; is there a proxy before it?")

        async def take(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
            await _answer(app, client, request)

        async def greeted(client: AsyncBaseSocketModeClient, message: dict[str, object], raw: str | None) -> None:
            if resumed is not None and message.get("type") == "hello":
                await resumed()

        client = _Client(self._app_token, web, self._look_every_s)
        client.wss_uri = address
        cast("Any", client).message_listeners.append(greeted)  # its own types do not say of what
        client.socket_mode_request_listeners.append(take)
        try:
            with translated(web.home):
                async with asyncio.timeout(_LOOKS_TO_CONNECT * self._look_every_s):
                    await client.connect()
        except BaseException:
            await _close(client)
            raise
        return client

    async def _look_after(self, client: _Client, app: AsyncApp, web: Web, resumed: Resumed) -> None:
        """Until cancelled: open a new connection where this one is gone, or Slack asks for it."""
        wait_s = self._look_every_s
        while True:
            if self.trouble is not None:
                await asyncio.sleep(wait_s)
            elif not await client.until_lost(wait_s):
                wait_s = self._look_every_s
                continue
            try:
                opened = await self._opened(app, web, resumed)
            except Exception as error:  # whatever it is, nobody else tries it again
                wait_s = self._after(error, wait_s)
                continue
            self._begin(self._let_go(client))
            client = self._client = opened
            self.trouble = None
            # one that Slack ends at once is not asked for again and again
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, self._longest_s)

    def _after(self, error: Exception, wait_s: float) -> float:
        """How long to wait after an attempt that failed, in seconds. What was met is logged once; a bug each time."""
        if not isinstance(error, ChannelError):
            self.trouble = "connecting failed in a way nobody foresaw; it is tried again"
            log.error("slack.not_connected", exc_info=error)
        elif self.trouble != str(error):
            self.trouble = str(error)
            level = logging.ERROR if isinstance(error, AuthFailed) else logging.WARNING
            log.log(level, "slack.not_connected", extra={"fields": {"error": self.trouble}})
        if isinstance(error, RetryLater) and error.after_ms:
            return error.after_ms / 1_000
        return self._longest_s if isinstance(error, AuthFailed) else min(2 * wait_s, self._longest_s)

    @property
    def _longest_s(self) -> float:
        return _LOOKS_BETWEEN * self._look_every_s

    async def _let_go(self, old: _Client) -> None:
        """Close it once what came over it is answered."""
        try:
            if old.under_way:
                await asyncio.wait(old.under_way, timeout=_LOOKS_TO_CONNECT * self._look_every_s)
        finally:
            await _close(old)


async def _answer(app: AsyncApp, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
    """Bolt's answer to one envelope, over the connection that it came by."""
    under_way, task = cast("_Client", client).under_way, asyncio.current_task()
    assert task is not None
    under_way.add(task)
    try:
        answer = await run_async_bolt_app(app, request)
        await send_async_response(client, request, answer, 0.0)  # when it came is for a debugging line alone
    finally:
        under_way.discard(task)


async def _close(client: _Client) -> None:
    await client.close()
    its = cast("Any", client)  # tasks of nothing in particular, which strict types do not let through
    own = (its.message_processor, its.current_session_monitor, its.message_receiver)
    await asyncio.gather(*filter(None, own), return_exceptions=True)
