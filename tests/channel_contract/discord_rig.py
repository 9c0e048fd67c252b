"""Discord for the contract suite: the adapter with the real client, against the server in tests/wire/discord."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

from channels.card import Verb
from channels.discord.channel import DiscordChannel, DiscordLogin
from channels.messages import Address
from tests.channel_contract.recorder import Recorder
from tests.discord.reading import buttons, read
from tests.wire.discord.server import DiscordServer


class DiscordRig:
    """One direct conversation with one person."""

    hostile = ("\x1b[2J", "@everyone", "<@1000000000000000001>", "<t:0:R>", "||hidden||",
               "[bank](https://evil.example)", "\u202e", "\x00")  # fmt: skip
    finds = False
    takes_back = True

    def __init__(self, discord: DiscordServer) -> None:
        self.discord = discord
        self.receiver = Recorder()
        login = DiscordLogin(
            discord.token, [discord.guild.id], api_url=discord.api_url, gateway_url=discord.gateway_url, settles_s=0.05,
        )  # fmt: skip
        self.channel = DiscordChannel(login)
        self.kim = discord.member("kim")
        self.place = discord.direct(self.kim)
        self.address = Address.parse(f"discord:@me/{self.place.id}/{self.place.id}")

    async def says(self, text: str) -> None:
        tried = len(self.receiver.tried)
        said = len(self.discord.posts(self.place))
        self.kim.says(None, text)
        await self.receiver.until_tried(tried + 1)
        if self.receiver.refusing:
            await self.discord.said(self.place, said + 1)

    async def comes_again(self) -> bool:
        return False

    async def goes_away(self) -> bool:
        """For so long that the session is gone: nothing is told again by itself."""
        self.discord.gateway.refuse = True
        self.discord.gateway.forget()
        self.discord.gateway.drop()
        return True

    async def writes(self, text: str) -> None:
        self.kim.says(None, text)

    async def comes_back(self) -> None:
        self.discord.gateway.refuse = False
        await self.discord.connected()

    def shown(self) -> list[str]:
        return [read(message) for message in self.discord.posts(self.place)]

    def offered(self) -> set[Verb]:
        newest = self.discord.posts(self.place)[-1]
        return {cast("Verb", name.split(":")[2]) for name in buttons(newest)}

    async def lose(self) -> Address:
        room = self.discord.room("closed")
        self.discord.delete_room(room)
        return Address.parse(f"discord:{self.discord.guild.id}/{room.id}")

    def is_platforms(self, task: asyncio.Task[object]) -> bool:
        """The server's tasks run beside ours."""
        return "RequestHandler" in repr(task.get_coro()) or "Connection." in repr(task.get_coro())


@asynccontextmanager
async def discord_rig() -> AsyncGenerator[DiscordRig]:
    """The server and the adapter, which is not started yet."""
    async with DiscordServer() as discord:
        rig = DiscordRig(discord)
        yield rig
        await rig.channel.stop()
