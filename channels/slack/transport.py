"""How Slack's events reach us: over a socket that we open, or by signed requests to an address of ours.

https://docs.slack.dev/apis/events-api/comparing-http-socket-mode
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from channels.slack.signature import Signature
from channels.slack.web import Web
from channels.webhook import Answer, Request

PATH = "/slack/events"
MOST_BYTES = 2**20
"""Slack's largest payloads hold a view, which has at most 250 kB.

https://docs.slack.dev/reference/methods/views.open#errors (view_too_large)
"""


class Transport(Protocol):
    """One of the two."""

    @property
    def connected(self) -> bool:
        """Whether what people do reaches us now, as far as can be known from here."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why not, as far as that is known."""
        ...

    async def connect(self, app: AsyncApp, web: Web, resumed: Callable[[], Awaitable[None]]) -> None:
        """From now on `app` is told. Raises `AuthFailed`, `RetryLater`.

        `resumed` is called whenever we are told again after we may not have been, as far as that shows.
        """
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...


class Requests:
    """HTTP mode. Slack says nothing while nobody does anything, so being there to be told is all that can be known.

    That it could not reach us for a while does not show either.
    """

    path = PATH
    most_bytes = MOST_BYTES
    trouble: str | None = None

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
