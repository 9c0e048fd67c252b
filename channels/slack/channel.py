"""Slack as a channel: what arrives is stored before it is acknowledged, what is said goes out in order (R27, R29)."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp

from channels.address import Address
from channels.errors import RetryLater
from channels.messages import Content, Inbound, Outbound
from channels.port import Receiver
from channels.slack import events, places
from channels.slack.events import Us
from channels.slack.failures import translated
from channels.slack.listener import Listener
from channels.slack.outgoing import Outgoing
from channels.slack.pace import Pace
from channels.slack.web import Web

log = logging.getLogger("casebound.slack")

_CATCH_UP_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class SlackLogin:
    """What the adapter needs to know.

    bot_token, app_token   `xoxb-…` and `xapp-…`; never shown
    teams                  ids of the workspaces whose people exist for us; without any, nobody does (R20, R24)
    api_url                where the Web API is, ending in `/`
    """

    bot_token: str = field(repr=False)
    app_token: str = field(repr=False)
    teams: Sequence[str]
    api_url: str = "https://slack.com/api/"


@dataclass(frozen=True, slots=True)
class _Running:
    """What there is between start and stop."""

    us: Us
    out: Outgoing
    socket: AsyncSocketModeHandler


class SlackChannel:
    """The adapter, in Socket Mode."""

    def __init__(
        self, login: SlackLogin, now: Callable[[], float] = time.monotonic, *, look_every_s: float = 5.0
    ) -> None:
        """`now` in seconds: what the pace of posts is kept by. The connection is looked after every `look_every_s`."""
        self._login, self._pace, self._look_every_s = login, Pace(now), look_every_s
        self._now: _Running | None = None

    @property
    def name(self) -> str:
        return places.NAME

    @property
    def connected(self) -> bool:
        if self._now is None:
            return False
        client = self._now.socket.client
        session = client.current_session
        return not (client.closed or client.stale or session is None or session.closed)

    async def start(self, receiver: Receiver) -> None:
        if self._now is not None:
            return
        web = Web(self._login.bot_token, self._login.api_url)
        us = await self._who_we_are(web)
        # the socket's own client tries a token that is refused for ever, and says so to nobody
        await Web(self._login.app_token, self._login.api_url).change("apps.connections.open")
        out = Outgoing(web, us.bot, self._pace)
        listener = Listener(web, out, us, receiver)
        # not as a middleware: Bolt asks who it is before those, and acknowledges what it cannot ask for
        app = AsyncApp(client=web.client, logger=log, before_authorize=listener.store_first)
        listener.listen(app)
        socket = AsyncSocketModeHandler(
            app, self._login.app_token, logger=log, web_client=web.client, ping_interval=self._look_every_s
        )
        try:
            with translated(web.home):
                await socket.connect_async()
        except BaseException:
            await socket.close_async()
            raise
        self._now = _Running(us, out, socket)

    async def stop(self) -> None:
        running, self._now = self._now, None
        if running is not None:
            await running.socket.close_async()

    async def send(self, outbound: Outbound) -> str:
        return await self._running.out.send(outbound)

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        await self._running.out.edit(address, platform_id, content)

    async def delete(self, address: Address, platform_id: str) -> None:
        await self._running.out.delete(address, platform_id)

    async def find(self, address: Address, nonce: str) -> str | None:
        return await self._running.out.find(address, nonce)

    async def catch_up(self, address: Address, after: str | None) -> AsyncIterator[Inbound]:
        running = self._running
        async for message in running.out.history(address, oldest=after, pages=_CATCH_UP_PAGES):
            said = events.inbound({"type": "message", "channel": address.room, **message}, running.us)
            if said is not None and (after is None or places.is_after(said.platform_id, after)):
                yield said

    @property
    def _running(self) -> _Running:
        if self._now is None:
            raise RetryLater(0, "Slack is stopped")
        return self._now

    async def _who_we_are(self, web: Web) -> Us:
        who = await web.read("auth.test")
        us = Us(str(who["team_id"]), str(who["user_id"]), str(who["bot_id"]), frozenset(self._login.teams))
        if us.team not in us.teams:
            log.warning("slack.workspace_not_listed", extra={"fields": {"team": us.team}})
        return us
