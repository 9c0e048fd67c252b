"""Discord as a channel: what arrives is stored in its order, what is said goes out once (R27, R29)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import discord

from channels.address import Address
from channels.attached import Fetched
from channels.discord import acquaintance, client, commands, events, files, places, threads
from channels.discord.again import Again
from channels.discord.answers import Answers
from channels.discord.client import Gateway
from channels.discord.examine import Examination
from channels.discord.failures import translated
from channels.discord.listener import Listener
from channels.discord.outgoing import Outgoing
from channels.discord.turns import Turns
from channels.discord.whereabouts import Whereabouts
from channels.errors import AuthFailed, ChannelError, RetryLater
from channels.findings import Finding
from channels.messages import Card, Content, Inbound, Outbound, Resumed
from channels.port import Receiver
from channels.style import discord_snowflake

log = logging.getLogger("casebound.discord")

_ENDED = "The connection to Discord has ended; it is opened again."
_REFUSED_AGAIN_S = 300.0


@dataclass(frozen=True, slots=True)
class DiscordLogin:
    """What the adapter needs to know.

    token         the bot's; never shown
    guilds        ids of the servers that exist for us; without any, none does (R20, R24)
    rooms         ids of the rooms in which a mention counts; empty: every one there that we see
    private       whether threads of ours are seen only by those who are in them
    approvals     id of the room in which approvals are asked too, None: nowhere but in the thread; for `examine` alone
    api_url       where the REST API is, without a slash at the end; gateway_url where the gateway is
    patience_s    after so long without a word the connection is opened anew
    settles_s     after so long without news of a further server, it has told of all
    again_s       so long after a connection that Discord has ended, or that failed, another is tried
    """

    token: str = field(repr=False)
    guilds: Sequence[str]
    rooms: Sequence[str] = ()
    private: bool = True
    approvals: str | None = None
    api_url: str | None = None
    gateway_url: str | None = None
    patience_s: float = client.PATIENCE_S
    settles_s: float = client.SETTLES_S
    again_s: float = 30.0


@dataclass(slots=True)
class _Running:
    """What there is while we are connected, or are to be again by discord.py itself."""

    gateway: Gateway
    out: Outgoing
    where: Whereabouts
    connection: asyncio.Task[None]


class DiscordChannel:
    """The adapter."""

    def __init__(self, login: DiscordLogin, now: Callable[[], float] = time.monotonic) -> None:
        """`now` in seconds, of a clock that only runs forward."""
        self._login, self._clock = login, now
        self._now: _Running | None = None
        self._turns = Turns()
        self._keeping: asyncio.Task[None] | None = None
        self._changes: Again | None = None
        self._why_not: str | None = None

    @property
    def name(self) -> str:
        return places.NAME

    @property
    def connected(self) -> bool:
        return self._now is not None and self._now.gateway.alive

    @property
    def trouble(self) -> str | None:
        """What is wrong, as far as that is known: a token that is refused, a connection that is silent."""
        if self._now is None or self._now.gateway.alive:
            return self._why_not
        return "The connection to Discord is gone or silent; it is opened again."

    async def start(self, receiver: Receiver) -> None:
        if self._keeping is not None:
            return
        client.points_at(self._login.api_url, self._login.gateway_url)
        changes = Again(receiver)
        self._now = await self._connect(receiver, changes)
        self._changes = changes
        self._keeping = asyncio.create_task(self._keep(receiver, changes, self._now), name="discord")

    async def stop(self) -> None:
        keeping, self._keeping = self._keeping, None
        running, self._now = self._now, None
        if keeping is not None:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
        if running is not None:
            await _close(running)
        changes, self._changes = self._changes, None
        if changes is not None:
            await changes.stop()

    async def send(self, outbound: Outbound) -> str:
        return await self._running.out.send(outbound)

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        await self._running.out.edit(address, platform_id, content)

    async def delete(self, address: Address, platform_id: str) -> None:
        await self._running.out.delete(address, platform_id)

    async def working(self, address: Address, words: str) -> None:
        if words:  # it goes away by itself
            await self._running.out.typing(address)

    async def find(self, address: Address, nonce: str) -> str | None:
        return await self._running.out.find(address, nonce)

    async def begin(
        self, place: Address, label: str, title: str, people: Sequence[str], *, since: int
    ) -> Address:  # fmt: skip
        gateway = self._running.gateway
        return await threads.begin(gateway, place, label, title, people, since, private=self._login.private)

    async def catch_up(self, address: Address, after: str | None) -> AsyncIterator[Inbound]:
        """What happens there meanwhile waits until it is read to its end, or given up.

        What is said now comes after what was said before, and a change after the message that it changes.
        """
        running = self._running
        guild = None if address.space == places.DIRECT else int(address.space)
        place = running.gateway.get_partial_messageable(places.channel_of(address), guild_id=guild)
        since = discord.Object(int(after)) if after is not None and after.isdecimal() else discord.Object(0)
        async with self._turns.of(places.channel_of(address)):
            with translated(address):
                async for message in place.history(limit=None, after=since, oldest_first=True):
                    said = events.inbound(message, address, self._us)
                    if said is not None and (said.addressed or not said.address.begins):
                        yield said

    async def direct(self, since: int) -> AsyncIterator[tuple[Address, str]]:
        """Rooms in which somebody may have mentioned us. Discord lists no conversations with a bot alone."""
        begin = discord_snowflake(since)
        for address, newest in self._running.where.intake():
            if newest > int(begin):
                yield address, begin

    async def examine(self, sample: Card, room: str | None) -> AsyncIterator[Finding]:
        """What is amiss with the set-up of the application, if anything; needs no start."""
        client.points_at(self._login.api_url, self._login.gateway_url)
        login = self._login
        unseen = login.private and login.approvals is None
        looking = Examination(login.token, [int(guild) for guild in login.guilds], unseen=unseen)
        async for finding in looking.findings(sample, room):
            yield finding

    async def absent(self, account_ids: Sequence[str]) -> Mapping[str, str]:
        """Which of these accounts are nobody's in our servers; needs no start."""
        client.points_at(self._login.api_url, self._login.gateway_url)
        return await acquaintance.absent(self._login.token, [*map(int, self._login.guilds)], account_ids)

    async def fetch(self, reference: str, limit: int) -> Fetched:
        return await files.fetch(self._running.gateway, reference, limit)

    async def _connect(self, receiver: Receiver, changes: Again) -> _Running:
        gateway = Gateway(self._clock, self._login.patience_s, self._login.settles_s)
        guilds, rooms = [*map(int, self._login.guilds)], [*map(int, self._login.rooms)]
        where = Whereabouts(gateway, guilds, rooms, self._clock)
        answers = Answers(receiver, where)
        commands.offer(gateway.tree, answers.typed, answers.opened_on)
        offer = partial(_offer_commands, gateway)
        gateway.tells(Listener(gateway, receiver, where, answers, changes, self._turns, offer))
        try:
            with translated(places.ALL):
                connection = await client.connect(gateway, self._login.token)
                for guild in guilds:
                    await _offer_commands(gateway, guild)
        except BaseException as error:
            self._why_not = str(error) if isinstance(error, ChannelError) else type(error).__name__
            await gateway.close()
            raise
        self._why_not = None
        return _Running(gateway, Outgoing(gateway, self._clock), where, connection)

    async def _keep(self, receiver: Receiver, changes: Again, running: _Running) -> None:
        """Discord.py connects again by itself, but for what it gives up on, such as a token that is refused."""
        while True:
            (ended,) = await asyncio.gather(running.connection, return_exceptions=True)
            log.error("discord.connection_ended", extra={"fields": {"error": type(ended).__name__}})
            refused = client.refusal(ended)
            self._why_not = _ENDED if refused is None else str(refused)
            self._now = None
            await _close_to_the_end(running)
            running = await self._connect_again(receiver, changes)
            self._now = running
            await receiver.resumed(Resumed(channel=places.NAME))

    async def _connect_again(self, receiver: Receiver, changes: Again) -> _Running:
        wait_s = self._login.again_s
        while True:
            await asyncio.sleep(wait_s)
            try:
                return await self._connect(receiver, changes)
            except ChannelError as error:
                wait_s = _REFUSED_AGAIN_S if isinstance(error, AuthFailed) else self._login.again_s
                log.error("discord.not_connected", extra={"fields": {"error": str(error)}})
            except Exception:  # a bug; but nobody else tries it again
                wait_s = self._login.again_s
                log.exception("discord.not_connected")

    @property
    def _running(self) -> _Running:
        if self._now is None:
            raise RetryLater(0, "Discord is stopped")
        return self._now

    @property
    def _us(self) -> int:
        user = self._running.gateway.user
        return user.id if user is not None else 0


async def _offer_commands(gateway: Gateway, guild: int) -> None:
    """In a listed server. One that we are not in yet has none of ours until we are invited."""
    there = discord.Object(guild)
    gateway.tree.copy_global_to(guild=there)
    try:
        await gateway.tree.sync(guild=there)
    except discord.Forbidden:
        log.warning("discord.commands_not_offered", extra={"fields": {"guild": str(guild)}})


async def _close_to_the_end(running: _Running) -> None:
    """Also where whoever waits for it is told to stop: nobody else would close it."""
    closing = asyncio.create_task(_close(running), name="discord closes")
    try:
        await asyncio.shield(closing)
    finally:
        await closing


async def _close(running: _Running) -> None:
    await running.gateway.close()
    await asyncio.gather(running.connection, return_exceptions=True)
