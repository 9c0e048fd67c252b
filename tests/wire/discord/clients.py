"""The real client, as small as it may be, connected to the server."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import discord
import pytest
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.wire.discord.payload import Json
from tests.wire.discord.server import DiscordServer

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)


class Bot(discord.Client):
    """A client that keeps what it hears. `heard`: messages of others; `own`: its own; `events`: all events by name."""

    def __init__(self, *, intents: discord.Intents = INTENTS, heartbeat_timeout: float = 60.0) -> None:
        super().__init__(
            intents=intents, allowed_mentions=discord.AllowedMentions.none(), max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(), chunk_guilds_at_startup=False,
            guild_ready_timeout=0.05, heartbeat_timeout=heartbeat_timeout,
        )  # fmt: skip
        self.tree = discord.app_commands.CommandTree(self)
        self.heard: list[discord.Message] = []
        self.own: list[discord.Message] = []
        self.events: list[str] = []
        self.pressed: list[str] = []
        self.running: asyncio.Task[None] | None = None

    @property
    def texts(self) -> list[str]:
        """What others have said."""
        return [message.content for message in self.heard]

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify anew at once: the library waits five seconds, for the sake of the real Discord."""

    async def on_message(self, message: discord.Message) -> None:
        """Keep it, unless it is its own or a note of Discord's."""
        if not message.is_system():
            (self.own if message.author.id == self.application_id else self.heard).append(message)

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Note every event by its name."""
        if not event.startswith("socket"):
            self.events.append(event)
        super().dispatch(event, *args, **kwargs)


class Gate(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"gate:(?P<id>\d+):(?P<verb>yes|no)"):
    """A button that carries all there is to know, so that a client which never made it can answer."""

    def __init__(self, id: int, verb: str) -> None:
        self.id_, self.verb = id, verb
        label = "Approve" if verb == "yes" else "Deny"
        super().__init__(discord.ui.Button(label=label, custom_id=f"gate:{id}:{verb}"))

    @classmethod
    async def from_custom_id(cls, interaction: Any, item: Any, match: re.Match[str], /) -> "Gate":
        """Made again from what the press says."""
        return cls(int(match["id"]), match["verb"])

    async def callback(self, interaction: Any) -> None:
        """Acknowledge, change the card, tell the one who pressed."""
        await interaction.response.defer()
        interaction.client.pressed.append(f"{self.id_}:{self.verb}")
        await interaction.message.edit(content=f"{self.verb} by {interaction.user.id}", view=None)
        await interaction.followup.send("recorded", ephemeral=True)


def gate_view(id: int) -> discord.ui.View:
    """Approve and Deny."""
    view = discord.ui.View(timeout=None)
    view.add_item(Gate(id, "yes"))
    view.add_item(Gate(id, "no"))
    return view


def plain_view() -> discord.ui.View:
    """One button, Approve, that nobody answers by itself."""
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Approve", custom_id="plain"))
    return view


def point(monkeypatch: pytest.MonkeyPatch, server: DiscordServer) -> None:
    """From now on every client of this process goes to the server."""
    monkeypatch.setattr(Route, "BASE", server.api_url)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway_url))


@asynccontextmanager
async def running(server: DiscordServer, bot: Bot, *, token: str | None = None) -> AsyncGenerator[Bot]:
    """The client is connected and has been told of its guilds."""
    bot.running = asyncio.ensure_future(bot.start(token or server.token))
    try:
        await server.until(lambda: bot.is_ready() or (bot.running is not None and bot.running.done()))
        if bot.running.done():
            await bot.running
        yield bot
    finally:
        await bot.close()
        await asyncio.gather(bot.running, return_exceptions=True)


@asynccontextmanager
async def logged_in(server: DiscordServer) -> AsyncGenerator[Bot]:
    """The client over HTTP alone, with nothing connected."""
    bot = Bot()
    await bot.login(server.token)
    try:
        yield bot
    finally:
        await bot.close()


async def refused(call: Awaitable[object]) -> tuple[int, int]:
    """The status and Discord's code of a call that is refused."""
    with pytest.raises(discord.HTTPException) as raised:
        await call
    return raised.value.status, raised.value.code


async def raw(
    server: DiscordServer, verb: str, path: str, body: object = None, *, token: str | None = None
) -> tuple[int, Json]:
    """A call that the real client would not make."""
    headers = {
        "Authorization": f"Bot {token or server.token}",
        "User-Agent": "DiscordBot (https://example.invalid, 1.0)",
    }
    async with aiohttp.ClientSession() as session:
        arguments: Json = {} if body is None else {"json": body}
        async with session.request(verb, server.api_url + path, headers=headers, **arguments) as answer:
            return answer.status, await answer.json() if answer.status != 204 else {}
