"""How Slack's events reach us: over a socket that we open, or by signed requests to an address of ours.

https://docs.slack.dev/apis/events-api/comparing-http-socket-mode
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, cast

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient

from channels.slack.failures import translated
from channels.slack.signature import Signature
from channels.slack.web import Web
from channels.webhook import Answer, Request

log = logging.getLogger("casebound.slack")

PATH = "/slack/events"


class Transport(Protocol):
    """One of the two."""

    @property
    def connected(self) -> bool:
        """Whether what people do reaches us now, as far as can be known from here."""
        ...

    async def connect(self, app: AsyncApp, web: Web, resumed: Callable[[], Awaitable[None]]) -> None:
        """From now on `app` is told. Raises `AuthFailed`, `RetryLater`.

        `resumed` is called whenever we are told again after we may not have been, as far as that shows.
        """
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...


class Socket:
    """Socket Mode: nothing of ours has to be reachable."""

    def __init__(self, app_token: str, api_url: str, look_every_s: float) -> None:
        """The connection is looked after every `look_every_s`."""
        self._app_token, self._api_url, self._look_every_s = app_token, api_url, look_every_s
        self._handler: AsyncSocketModeHandler | None = None

    @property
    def connected(self) -> bool:
        if self._handler is None:
            return False
        client = self._handler.client
        session = client.current_session
        return not (client.closed or client.stale or session is None or session.closed)

    async def connect(self, app: AsyncApp, web: Web, resumed: Callable[[], Awaitable[None]]) -> None:
        # the socket's own client tries a token that is refused for ever, and says so to nobody
        await Web(self._app_token, self._api_url).change("apps.connections.open")
        handler = AsyncSocketModeHandler(
            app, self._app_token, logger=log, web_client=web.client, ping_interval=self._look_every_s
        )
        greeted = _Greeted(resumed)
        cast("Any", handler.client).message_listeners.append(greeted.heard)  # its own types do not say of what
        try:
            with translated(web.home):
                await handler.connect_async()
        except BaseException:
            await handler.close_async()
            raise
        greeted.began(handler.client)
        self._handler = handler

    async def close(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None:
            await handler.close_async()


class _Greeted:
    """Who knows by Slack's `hello` that there is a new connection: from then on events come over it.

    Every one but the first, also one that Slack has asked for: an event for which there was no connection comes again
    three times, and that may be in the next time without one.
    https://docs.slack.dev/apis/events-api/using-socket-mode#hello
    """

    def __init__(self, resumed: Callable[[], Awaitable[None]]) -> None:
        self._resumed = resumed
        self._first: object = None

    def began(self, client: SocketModeClient) -> None:
        """The first connection is made; its `hello` may have come already."""
        self._first = self._first or client.current_session

    async def heard(self, client: AsyncBaseSocketModeClient, message: dict[str, object], raw: str | None) -> None:
        """One message of Slack's."""
        session = cast("SocketModeClient", client).current_session
        if message.get("type") != "hello":
            return
        if self._first in (None, session):
            self._first = session
        else:
            await self._resumed()


class Requests:
    """HTTP mode. Slack says nothing while nobody does anything, so being there to be told is all that can be known.

    That it could not reach us for a while does not show either.
    """

    path = PATH

    def __init__(self, signing_secret: str) -> None:
        """Raises `ValueError` for an empty secret."""
        self._signature = Signature(signing_secret)
        self._app: AsyncApp | None = None

    @property
    def connected(self) -> bool:
        return self._app is not None

    async def connect(self, app: AsyncApp, web: Web, resumed: Callable[[], Awaitable[None]]) -> None:
        self._app = app

    async def close(self) -> None:
        self._app = None

    async def take(self, request: Request) -> Answer:
        """One request of Slack's. Bolt reads a body before it checks who signed it, so it is checked here, first."""
        if not self._signature.signed(request.headers, request.body):
            return Answer(401, "This is not signed by Slack, or too old.")
        if self._app is None:
            return Answer(503, "Slack is not listened to just now. Try again.")
        headers: dict[str, str | Sequence[str]] = dict(request.headers)
        told = await self._app.async_dispatch(AsyncBoltRequest(body=request.body.decode(), headers=headers))
        kind = told.first_headers().get("content-type", Answer.content_type)
        return Answer(told.status, told.body or "", kind)
