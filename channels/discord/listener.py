"""What Discord sends: stored, decided or answered, and in one channel of Discord's one thing after the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from functools import partial

import aiohttp
import discord

from channels.address import Address
from channels.discord import events, places
from channels.discord.again import Again
from channels.discord.answers import Answers
from channels.discord.failures import translated
from channels.discord.turns import Turns
from channels.discord.whereabouts import Whereabouts
from channels.errors import ChannelError, ThreadGone, Undeliverable
from channels.messages import Gone, Resumed
from channels.port import Receiver

log = logging.getLogger("casebound.discord")

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 60.0
_NOT_STORED = "I could not store that. Please say it again in a minute."


class Listener:
    """One for each connection of ours."""

    def __init__(
        self, client: discord.Client, receiver: Receiver, where: Whereabouts, answers: Answers, changes: Again,
        turns: Turns, offer: Callable[[int], Awaitable[None]],
    ) -> None:  # fmt: skip
        """`offer` offers our commands in a server."""
        self._offer = offer
        self._client, self._receiver, self._where, self._answers = client, receiver, where, answers
        self._changes, self._turns = changes, turns
        self._was_connected = False

    async def connected(self) -> None:
        """What was said before the first time is read by whoever started us."""
        if self._was_connected:
            await self._receiver.resumed(Resumed(channel=places.NAME))
        self._was_connected = True

    async def said(self, message: discord.Message) -> None:
        async with self._turns.of(message.channel.id):
            at = await self._found(partial(self._where.of_message, message))
            said = None if at is None else events.inbound(message, at, self._us)
            if at is None or said is None:
                return
            if not self._where.may_begin(at):
                said = said.model_copy(update={"addressed": False})
            if said.address.begins and not said.addressed:  # talk in a room, which is none of our business
                return
            try:
                answer = await self._receiver.inbound(said)
            except Exception as error:  # Discord says nothing twice: whoever said it has to know
                log.warning("discord.not_stored", extra={"fields": {"error": type(error).__name__}})
                answer = _NOT_STORED
            if answer:
                await self._say(message, answer)

    async def edited(self, message: discord.Message) -> None:
        async with self._turns.of(message.channel.id):
            at = await self._found(partial(self._where.of_message, message))
            if at is not None and (changed := events.changed(message, at, self._us)) is not None:
                await self._changes.changed(changed)

    async def removed(self, guild: int | None, channel: int, messages: Collection[int]) -> None:
        async with self._turns.of(channel):
            at = await self._found(partial(self._where.of, guild, channel))
            if at is not None:
                for message in messages:
                    await self._changes.changed(events.deleted(message, at))

    async def interacted(self, interaction: discord.Interaction) -> None:
        await self._answers.interacted(interaction)

    async def thread_gone(self, guild: int, parent: int, thread: int, why: str) -> None:
        await self._gone(guild, [places.thread(guild, parent, thread)], why)

    async def rooms_gone(self, guild: int, rooms: list[int], why: str) -> None:
        await self._gone(guild, [places.room(guild, room) for room in rooms], why)

    async def invited(self, guild: int) -> None:
        """Into a server that we were sent out of, perhaps: with that Discord took our commands away."""
        if self._where.listed(guild):
            await self._offer(guild)

    async def _gone(self, guild: int, gone: list[Address], why: str) -> None:
        if gone and self._where.listed(guild):
            await self._receiver.gone(Gone(address=gone[0], others=tuple(gone[1:]), reason=why))

    async def _found(self, where: Callable[[], Awaitable[Address | None]]) -> Address | None:
        """Where it was, asked until Discord says so: what comes after it there waits, or it would be passed over (R29).

        None for a place that we may not see. Once the connection is given up, the next one reads what is missing.
        """
        wait_s = _FIRST_WAIT_S
        while not self._client.is_closed():
            try:
                with translated(places.ALL):
                    return await where()
            except (ThreadGone, Undeliverable):
                return None
            except ChannelError as error:
                log.warning("discord.place_not_told", extra={"fields": {"error": str(error)}})
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        return None

    async def _say(self, message: discord.Message, text: str) -> None:
        try:
            await message.channel.send(text)
        except (discord.DiscordException, aiohttp.ClientError, TimeoutError, OSError) as error:
            log.warning("discord.not_said", extra={"fields": {"error": type(error).__name__}})

    @property
    def _us(self) -> int:
        return self._client.user.id if self._client.user is not None else 0
