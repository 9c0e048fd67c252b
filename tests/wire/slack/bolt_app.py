"""The real Bolt app, as small as it may be, connected to the server."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from tests.wire.slack.clients import web_client
from tests.wire.slack.payload import Json
from tests.wire.slack.server import APP_TOKEN, SIGNING_SECRET, SlackServer

quiet = logging.getLogger("tests.wire.slack.bolt")
quiet.setLevel(logging.CRITICAL)


@dataclass
class Heard:
    """What the app has stored, before anything was acknowledged.

    `failing`: so many of the next receipts raise. `slow`: the next one waits until this is set.
    """

    bodies: list[Json] = field(default_factory=list[Json])
    retries: list[str | None] = field(default_factory=list["str | None"])
    failing: int = 0
    failed: int = 0
    slow: asyncio.Event | None = None

    async def receive(self, body: Json, retry: str | None) -> None:
        """Store, at once or when the disk has time."""
        if (slow := self.slow) is not None:
            self.slow = None
            await slow.wait()
        self.keep(body, retry)

    def keep(self, body: Json, retry: str | None) -> None:
        """Store, or fail as a full disk does."""
        if self.failing:
            self.failing -= 1
            self.failed += 1
            raise OSError("disk full")
        self.bodies.append(body)
        self.retries.append(retry)

    def events(self) -> list[Json]:
        """The inner events."""
        return [body["event"] for body in self.bodies if "event" in body]


def bolt(slack: SlackServer, heard: Heard, *, signed: bool = False, drops_own: bool = False) -> AsyncApp:
    """An app that stores before Bolt does anything else, so before it acknowledges, and answers every interaction.

    Not in `app.middleware`, which comes after the authorisation: see test_bolt.py.
    """

    async def store(body: Json, req: AsyncBoltRequest, next: Callable[[], Awaitable[None]]) -> None:
        await heard.receive(body, (req.headers.get("x-slack-retry-num") or [None])[0])
        await next()

    app = AsyncApp(
        client=web_client(slack), logger=quiet, signing_secret=SIGNING_SECRET if signed else None,
        request_verification_enabled=signed, ignoring_self_events_enabled=drops_own, before_authorize=store,
    )  # fmt: skip

    async def acknowledge(ack: Callable[..., Awaitable[None]]) -> None:
        await ack()

    listens = cast("Any", app)  # its decorators are typed in part only
    for event in ("message", "app_mention", "reaction_added", "app_home_opened", "tokens_revoked", "channel_left"):
        listens.event(event)(stored)
    for listen in (listens.action({"action_id": "approve"}), listens.command("/case"), listens.shortcut("open_case")):
        listen(acknowledge)
    return app


async def stored(event: Json) -> None:
    """A listener that has nothing left to do."""


@asynccontextmanager
async def connected(slack: SlackServer, app: AsyncApp, *, ping: float = 5.0) -> AsyncGenerator[AsyncSocketModeHandler]:
    """The app listens over Socket Mode."""
    handler = AsyncSocketModeHandler(app, APP_TOKEN, logger=quiet, ping_interval=ping)
    await handler.connect_async()
    try:
        await slack.connected()
        yield handler
    finally:
        await handler.close_async()
        await asyncio.sleep(0)
