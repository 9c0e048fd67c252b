"""What Discord sends: stored, decided or answered, and in one channel of Discord's one thing after the other."""

from __future__ import annotations

import logging
from collections.abc import Collection

import aiohttp
import discord

from channels.address import Address
from channels.discord import events, places
from channels.discord.again import Again
from channels.discord.answers import Answers
from channels.discord.turns import Turns
from channels.discord.whereabouts import Whereabouts
from channels.messages import Gone, Resumed
from channels.port import Receiver

log = logging.getLogger("casebound.discord")

_NOT_STORED = "I could not store that. Please say it again in a minute."


class Listener:
    """One for each connection of ours."""

    def __init__(
        self, client: discord.Client, receiver: Receiver, where: Whereabouts, answers: Answers, changes: Again,
        turns: Turns,
    ) -> None:  # fmt: skip
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
            at = await self._where.of_message(message)
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
            at = await self._where.of_message(message)
            if at is not None and (changed := events.changed(message, at, self._us)) is not None:
                await self._changes.changed(changed)

    async def removed(self, guild: int | None, channel: int, messages: Collection[int]) -> None:
        async with self._turns.of(channel):
            at = await self._where.of(guild, channel)
            if at is not None:
                for message in messages:
                    await self._changes.changed(events.deleted(message, at))

    async def interacted(self, interaction: discord.Interaction) -> None:
        await self._answers.interacted(interaction)

    async def thread_gone(self, guild: int, parent: int, thread: int, why: str) -> None:
        await self._gone(guild, places.thread(guild, parent, thread), why)

    async def rooms_gone(self, guild: int, rooms: list[int], why: str) -> None:
        for room in rooms:
            await self._gone(guild, places.room(guild, room), why)

    async def _gone(self, guild: int, address: Address, why: str) -> None:
        if self._where.listed(guild):
            await self._receiver.gone(Gone(address=address, reason=why))

    async def _say(self, message: discord.Message, text: str) -> None:
        try:
            await message.channel.send(text)
        except (discord.DiscordException, aiohttp.ClientError, TimeoutError, OSError) as error:
            log.warning("discord.not_said", extra={"fields": {"error": type(error).__name__}})

    @property
    def _us(self) -> int:
        return self._client.user.id if self._client.user is not None else 0
