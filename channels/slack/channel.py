"""Slack as a channel: what arrives is stored before it is acknowledged, what is said goes out in order (R27, R29)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from slack_bolt.async_app import AsyncApp

from channels.address import Address
from channels.attached import Fetched
from channels.errors import AuthFailed, ChannelError, RetryLater
from channels.findings import Finding
from channels.messages import Card, Content, Inbound, Outbound, Resumed
from channels.port import Receiver
from channels.slack import events, places, typed
from channels.slack.events import Us
from channels.slack.examine import Examination
from channels.slack.files import Files
from channels.slack.guests import Guests, marked
from channels.slack.listener import Listener
from channels.slack.outgoing import Outgoing
from channels.slack.pace import Pace
from channels.slack.quota import Quota
from channels.slack.socket_mode import Socket
from channels.slack.transport import Requests, Transport
from channels.slack.web import Web
from channels.style import slack_ts
from channels.webhook import Webhook

log = logging.getLogger("casebound.slack")

_CATCH_UP_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class SlackLogin:
    """What the adapter needs to know.

    bot_token        `xoxb-…`; no secret of these is ever shown
    teams            ids of the workspaces whose people exist for us; without any, nobody does (R20, R24)
    app_token        `xapp-…`, for Socket Mode
    signing_secret   where Slack tells us things by requests instead: what it signs them with
    tells_guests     whether it matters who is a guest: then Slack is asked of everybody who acts
    api_url          where the Web API is, ending in `/`
    """

    bot_token: str = field(repr=False)
    teams: Sequence[str]
    app_token: str | None = field(default=None, repr=False)
    signing_secret: str | None = field(default=None, repr=False)
    tells_guests: bool = False
    api_url: str = "https://slack.com/api/"

    def transport(self, look_every_s: float) -> Transport:
        """By requests where there is a signing secret, else over a socket. Raises `ValueError` without either."""
        if self.signing_secret is not None:
            return Requests(self.signing_secret)
        if self.app_token is None:
            raise ValueError("Slack needs an app token, or a signing secret.")
        return Socket(self.app_token, self.api_url, look_every_s)


@dataclass(frozen=True, slots=True)
class _Running:
    """What there is between start and stop."""

    us: Us
    out: Outgoing
    files: Files
    web: Web
    asking: asyncio.Task[None]


class SlackChannel:
    """The adapter, over either transport."""

    def __init__(
        self, login: SlackLogin, now: Callable[[], float] = time.monotonic, *, look_every_s: float = 5.0,
        ask_every_s: float = 60.0,
    ) -> None:  # fmt: skip
        """`now` in seconds: what the pace of posts is kept by. A socket is looked after every `look_every_s`.

        Every `ask_every_s` Slack is asked whether the bot token is good: it may end while nobody says anything.
        """
        self._ask_every_s = ask_every_s
        self._not_started: str | None = None
        self._login, self._clock, self._pace, self._quota = login, now, Pace(now), Quota(now)
        self._transport = login.transport(look_every_s)
        self._now: _Running | None = None
        self._guests: Guests | None = None

    @property
    def name(self) -> str:
        return places.NAME

    @property
    def connected(self) -> bool:
        return self._now is not None and self._transport.connected

    @property
    def trouble(self) -> str | None:
        """What is wrong, as far as that is known: a token that is refused, a connection that does not come about."""
        if self._now is None:
            return self._not_started
        if self._now.asking.done():
            return "it is not asked any more whether the bot token is good: restart the service"
        return self._now.web.refused or self._transport.trouble

    @property
    def webhook(self) -> Webhook | None:
        """Where Slack posts to, in HTTP mode."""
        return self._transport if isinstance(self._transport, Requests) else None

    async def start(self, receiver: Receiver) -> None:
        if self._now is not None:
            return
        try:
            self._now = await self._started(receiver)
        except ChannelError as error:
            self._not_started = str(error)
            raise
        self._not_started = None

    async def _started(self, receiver: Receiver) -> _Running:
        web = Web(self._login.bot_token, self._login.api_url, self._clock)
        us = await self._who_we_are(web)
        out = Outgoing(web, us.bot, self._pace)
        self._guests = Guests(web, self._clock) if self._login.tells_guests else None
        listener = Listener(web, out, us, receiver, self._guests)
        # not as a middleware: Bolt asks who it is before those, and acknowledges what it cannot ask for
        app = AsyncApp(
            name="casebound",
            client=web.client,
            logger=log,
            before_authorize=listener.store_first,
            request_verification_enabled=False,
        )
        listener.listen(app)
        await self._transport.connect(app, web, partial(receiver.resumed, Resumed(channel=places.NAME)))
        asking = asyncio.create_task(self._keep_asking(web), name="slack-token")
        asking.add_done_callback(_say_why)
        return _Running(us, out, Files(web), web, asking)

    async def stop(self) -> None:
        running, self._now = self._now, None
        if running is not None:
            running.asking.cancel()
            await asyncio.gather(running.asking, return_exceptions=True)
        await self._transport.close()

    async def _keep_asking(self, web: Web) -> None:
        """Until cancelled: whether the bot token is good, which `web` remembers."""
        while True:
            await asyncio.sleep(self._ask_every_s)
            try:
                await web.who_we_are()
            except ChannelError as error:
                log.info("slack.asked", extra={"fields": {"error": str(error)}})

    async def begin(
        self, place: Address, label: str, title: str, people: Sequence[str], *, since: int
    ) -> Address | None:  # fmt: skip
        """A thread of Slack's begins with what is said first."""
        return None

    async def send(self, outbound: Outbound) -> str:
        return await self._running.out.send(outbound)

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        await self._running.out.edit(address, platform_id, content)

    async def delete(self, address: Address, platform_id: str) -> None:
        await self._running.out.delete(address, platform_id)

    async def working(self, address: Address, words: str) -> None:
        await self._running.out.working(address, words)

    async def find(self, address: Address, nonce: str) -> str | None:
        return await self._running.out.find(address, nonce)

    async def catch_up(self, address: Address, after: str | None) -> AsyncIterator[Inbound]:
        running = self._running
        async for message in running.out.oldest_first(address, after, pages=_CATCH_UP_PAGES, quota=self._quota):
            said = events.inbound({"type": "message", "channel": address.room, **message}, running.us)
            if said is None or typed.command(said) is not None:  # a command is done when it is given, or never
                continue
            if after is None or places.is_after(said.platform_id, after):
                yield said if self._guests is None else await marked(said, self._guests)

    async def direct(self, since: int) -> AsyncIterator[tuple[Address, str]]:
        running = self._running
        async for room in running.out.direct_rooms(self._quota):
            yield Address(channel=places.NAME, space=running.us.team, room=room), slack_ts(since)

    async def fetch(self, reference: str, limit: int) -> Fetched:
        return await self._running.files.fetch(reference, limit)

    async def examine(self, sample: Card, room: str | None) -> AsyncIterator[Finding]:
        """What is amiss with the set-up of the app, if anything; needs no start."""
        login = self._login
        app = None if login.app_token is None else Web(login.app_token, login.api_url, setting="slack.app_token")
        looking = Examination(Web(login.bot_token, login.api_url), teams=login.teams, app=app, pace=self._pace)
        async for finding in looking.findings(sample, room):
            yield finding

    @property
    def _running(self) -> _Running:
        if self._now is None:
            raise RetryLater(0, "Slack is stopped")
        return self._now

    async def _who_we_are(self, web: Web) -> Us:
        who = await web.read("auth.test")
        if not who.get("bot_id"):  # auth.test, "bot_id": only of a bot token; nothing of ours would be known as ours
            raise AuthFailed(places.NAME, "slack.bot_token is not a bot's, which begins with xoxb-")
        us = Us(str(who["team_id"]), str(who["user_id"]), str(who["bot_id"]), frozenset(self._login.teams))
        if us.team not in us.teams:
            log.warning("slack.workspace_not_listed", extra={"fields": {"team": us.team}})
        return us


def _say_why(asking: asyncio.Task[None]) -> None:
    """Loudly, at once: nobody waits for it until the channel stops."""
    if not asking.cancelled() and (error := asking.exception()) is not None:
        log.error("slack.asking_ended", extra={"fields": {"error": type(error).__name__}})
