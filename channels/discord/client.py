"""The connection to Discord: discord.py's client with the fewest intents that work, and whether it is alive.

https://docs.discord.com/developers/events/gateway
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route

from channels.discord.failures import NotDiscord
from channels.discord.places import NAME
from channels.errors import AuthFailed, RetryLater

log = logging.getLogger("casebound.discord")

_HEARTBEAT_S = 41.25
"""What Discord names when it says hello, usually. Each heartbeat is answered at once."""
_LATE = 1.15
"""A connection on which nothing was heard for so many heartbeats is taken for dead."""
PATIENCE_S = 50.0
"""After so long without a word discord.py opens another; it has to be longer than a heartbeat."""
SETTLES_S = 2.0
"""Once connected, Discord tells of one server after the other; after so long without another, that was all of them."""


class Events(Protocol):
    """Who is told what arrives; each in a task of its own, begun in the order of arrival."""

    async def connected(self) -> None: ...
    async def said(self, message: discord.Message) -> None: ...
    async def edited(self, message: discord.Message) -> None: ...
    async def removed(self, guild: int | None, channel: int, messages: set[int]) -> None: ...
    async def interacted(self, interaction: discord.Interaction) -> None: ...
    async def thread_gone(self, guild: int, parent: int, thread: int, why: str) -> None: ...
    async def rooms_gone(self, guild: int, rooms: list[int], why: str) -> None: ...
    async def invited(self, guild: int) -> None: ...


class Gateway(discord.Client):
    """One connection. Nothing of what it caches is anybody's truth, so it caches next to nothing."""

    def __init__(self, now: Callable[[], float], patience_s: float = PATIENCE_S, settles_s: float = SETTLES_S) -> None:
        """`now` in seconds, of a clock that only runs forward."""
        intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # nobody here wants to speak
        super().__init__(
            intents=intents, max_messages=None, member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False, allowed_mentions=discord.AllowedMentions.none(), enable_debug_events=True,
            heartbeat_timeout=patience_s, guild_ready_timeout=settles_s, max_ratelimit_timeout=30.0,
        )  # fmt: skip
        _refuse_pages(self.http)
        self.tree = app_commands.CommandTree[discord.Client](self)
        self._now, self._heard, self._heartbeat_s = now, now(), _HEARTBEAT_S
        self._events: Events | None = None
        self._in_session = False

    def tells(self, events: Events) -> None:
        """From now on what arrives is told to `events`."""
        self._events = events

    @property
    def alive(self) -> bool:
        """Whether events reach us: there is a session on the connection, and something was heard lately.

        A gateway in trouble may take a connection, answer its heartbeats, and begin no session on it.
        """
        on = self._in_session and self.is_ready() and not self.is_closed() and self.ws.open
        return on and self._now() - self._heard < _LATE * self._heartbeat_s

    async def on_socket_raw_receive(self, frame: str) -> None:
        self._heard = self._now()
        if '"heartbeat_interval"' in frame:
            self._in_session = False  # it is the first word on a connection
            self._heartbeat_s = json.loads(frame)["d"]["heartbeat_interval"] / 1_000

    async def on_ready(self) -> None:
        self._in_session = True
        await self._tell(lambda events: events.connected())

    async def on_resumed(self) -> None:
        self._in_session = True
        await self._tell(lambda events: events.connected())

    async def on_message(self, message: discord.Message) -> None:
        await self._tell(lambda events: events.said(message))

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        await self._tell(lambda events: events.edited(payload.message))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        await self._tell(lambda events: events.removed(payload.guild_id, payload.channel_id, {payload.message_id}))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        await self._tell(lambda events: events.removed(payload.guild_id, payload.channel_id, payload.message_ids))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        await self._tell(lambda events: events.interacted(interaction))

    async def on_raw_thread_update(self, payload: discord.RawThreadUpdateEvent) -> None:
        """A thread that is archived or locked is written in all the same by who may: it opens by that."""
        if payload.data.get("thread_metadata", {}).get("locked") and not self._moderates(payload.parent_id):
            why = "it was locked"
            await self._tell(lambda to: to.thread_gone(payload.guild_id, payload.parent_id, payload.thread_id, why))

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        why = "it was deleted"
        await self._tell(lambda to: to.thread_gone(payload.guild_id, payload.parent_id, payload.thread_id, why))

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        await self._tell(lambda events: events.rooms_gone(channel.guild.id, [channel.id], "the room was deleted"))

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        rooms = [room.id for room in guild.channels]
        await self._tell(lambda events: events.rooms_gone(guild.id, rooms, "we were sent out of the server"))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._tell(lambda events: events.invited(guild.id))

    async def on_error(self, event_method: str, /, *args: object, **kwargs: object) -> None:
        """Discord.py's own way to say it prints a traceback. What a stop of ours cuts off is no bug."""
        if self.is_closed():
            log.info("discord.event_cut_off", extra={"fields": {"event": event_method}})
            return
        log.exception("discord.event_failed", extra={"fields": {"event": event_method}})

    def _moderates(self, room: int) -> bool:
        """Whether a lock on a thread of this room leaves us out: not where we may manage threads."""
        found = self.get_channel(room)
        return isinstance(found, discord.TextChannel) and found.permissions_for(found.guild.me).manage_threads

    async def _tell(self, what: Callable[[Events], Awaitable[None]]) -> None:
        if self._events is not None:
            await what(self._events)


def _refuse_pages(http: HTTPClient) -> None:
    """Let no page of a proxy pass for an answer of Discord's, which is JSON or nothing: it raises `NotDiscord`.

    Discord.py hands text on, and then breaks wherever it first looks into it.
    """
    asked = http.request

    async def request(route: Route, **how: Any) -> Any:
        answer = await asked(route, **how)
        if isinstance(answer, str) and answer:
            raise NotDiscord(f"a text of {len(answer):,} characters")
        return answer

    http.request = request


def points_at(api_url: str | None, gateway_url: str | None) -> None:
    """Let every client of this process speak to another server than Discord's. discord.py has one for all."""
    if api_url is not None:
        Route.BASE = api_url.rstrip("/")
    if gateway_url is not None:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)


async def connect(gateway: Gateway, token: str) -> asyncio.Task[None]:
    """Log in and connect; the task that keeps the connection. Raises `AuthFailed`, and what discord.py raises."""
    try:
        await gateway.login(token)
    except discord.LoginFailure:
        raise AuthFailed(NAME, "discord.token is not one (any more)") from None
    keeping = asyncio.create_task(gateway.connect(), name="discord gateway")
    ready = asyncio.create_task(gateway.wait_until_ready(), name="discord ready")
    try:
        await asyncio.wait({keeping, ready}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        raise
    finally:
        ready.cancel()
    if keeping.done():
        await _why_not(keeping)
    return keeping


def refusal(ended: object) -> AuthFailed | None:
    """What to mend where Discord has ended a connection for good: the token or the intent; None for anything else.

    https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
    """
    if isinstance(ended, discord.PrivilegedIntentsRequired):
        how = "switch on Message Content Intent on the page Bot of the application"
        return AuthFailed(NAME, f"it does not let us read messages: {how}")
    if isinstance(ended, discord.ConnectionClosed) and ended.code == 4004:
        return AuthFailed(NAME, "discord.token is not one (any more)")
    return None


async def _why_not(keeping: asyncio.Task[None]) -> None:
    try:
        await keeping
    except (discord.PrivilegedIntentsRequired, discord.ConnectionClosed) as error:
        if (refused := refusal(error)) is None:
            raise
        raise refused from None
    except AttributeError as error:  # what discord.py comes to where its very first connection is turned away
        raise RetryLater(0, f"Discord's gateway does not take us ({type(error).__name__})") from None
    raise AuthFailed(NAME, "it closed the connection")
