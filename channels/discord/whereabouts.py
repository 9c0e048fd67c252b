"""Where something happened, as an address; None for a place that does not exist for us (R20, R24).

A guild that is not listed does not exist; neither does a direct conversation with somebody who is in no listed guild.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import TypeVar

import discord

from channels.address import Address
from channels.discord import places

T = TypeVar("T")

_REMEMBERED = 10_000
_MEMBER_FOR_S = 600.0


class Whereabouts:
    """Knows the parent of a thread, and who is in our guilds."""

    def __init__(
        self, client: discord.Client, guilds: Collection[int], rooms: Collection[int], now: Callable[[], float]
    ) -> None:
        """`rooms`: in which a case may begin; none: in all. `now` in seconds, of a clock that only runs forward."""
        self._client, self._guilds, self._rooms, self._now = client, frozenset(guilds), frozenset(rooms), now
        self._parents: OrderedDict[int, int | None] = OrderedDict()
        self._members: OrderedDict[int, tuple[float, bool]] = OrderedDict()

    def listed(self, guild: int | None) -> bool:
        """Whether a guild exists for us."""
        return guild in self._guilds

    def may_begin(self, at: Address) -> bool:
        """Whether a case may begin where somebody mentions us."""
        return at.space == places.DIRECT or not self._rooms or int(at.room) in self._rooms

    def intake(self) -> list[tuple[Address, int]]:
        """The rooms in which a case may begin, each with the newest message in it."""
        rooms = [
            room for guild in self._guilds if (found := self._client.get_guild(guild)) for room in found.text_channels
        ]
        found = [(places.room(room.guild.id, room.id), room.last_message_id) for room in rooms]
        return [(at, newest) for at, newest in found if newest is not None and self.may_begin(at)]

    async def of_message(self, message: discord.Message) -> Address | None:
        """Where it was said."""
        if message.guild is None:
            return places.direct(message.channel.id) if await self._is_known(message.author.id) else None
        return await self._within(message.guild.id, message.channel)

    async def of_interaction(self, interaction: discord.Interaction) -> Address | None:
        """Where somebody pressed or typed something."""
        channel = interaction.channel
        if channel is None:
            return None
        if interaction.guild_id is None:
            return places.direct(channel.id) if await self._is_known(interaction.user.id) else None
        return await self._within(interaction.guild_id, channel)

    async def of(self, guild: int | None, channel: int) -> Address | None:
        """The address of a channel of Discord's."""
        if guild is None:
            return places.direct(channel)
        return await self._within(guild, self._client.get_channel(channel) or discord.Object(channel))

    async def _within(self, guild: int, channel: object) -> Address | None:
        if guild not in self._guilds:
            return None
        if isinstance(channel, discord.Thread):
            return places.thread(guild, channel.parent_id, channel.id)
        number = int(getattr(channel, "id", 0))
        if isinstance(channel, discord.abc.GuildChannel):
            return places.room(guild, number)
        parent = await self._parent(number)
        return places.room(guild, number) if parent is None else places.thread(guild, parent, number)

    async def _parent(self, channel: int) -> int | None:
        """The room of a thread that is not cached, as none is that was archived; None for a room itself."""
        if channel not in self._parents:
            found = await self._client.fetch_channel(channel)
            self._remember(self._parents, channel, found.parent_id if isinstance(found, discord.Thread) else None)
        return self._parents[channel]

    async def _is_known(self, person: int) -> bool:
        """Whether somebody is in a guild of ours; asked again after a while."""
        when, is_in = self._members.get(person, (0.0, False))
        if person not in self._members or self._now() - when > _MEMBER_FOR_S:
            is_in = await self._is_in_any(person)
            self._remember(self._members, person, (self._now(), is_in))
        return is_in

    async def _is_in_any(self, person: int) -> bool:
        for guild in self._guilds:
            try:
                await self._client.http.get_member(guild, person)
            except (discord.NotFound, discord.Forbidden) as error:
                if not error.code:  # not Discord itself: whether they are in it is not known
                    raise
                continue
            return True
        return False

    def _remember(self, kept: OrderedDict[int, T], key: int, value: T) -> None:
        kept[key] = value
        kept.move_to_end(key)
        if len(kept) > _REMEMBERED:
            kept.popitem(last=False)
