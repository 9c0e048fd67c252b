"""The real client connects, hears, opens threads and answers."""

from __future__ import annotations

import discord as library

from tests.wire.discord.clients import Bot, running
from tests.wire.discord.messages import Type
from tests.wire.discord.server import DiscordServer


async def test_a_client_connects_and_knows_its_guild_and_its_rooms(discord: DiscordServer) -> None:
    room = discord.room("ops")
    async with running(discord, Bot()) as bot:
        assert [guild.id for guild in bot.guilds] == [int(discord.guild.id)]
        assert getattr(bot.get_channel(int(room.id)), "name", None) == "ops"
        assert bot.application_id == int(discord.bot.id)
    assert discord.gateway.mistakes == []


async def test_a_mention_is_heard_and_answered_in_a_private_thread(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    asked = kim.mentions(room, "nginx is down")
    await discord.until(lambda: bot.heard)
    assert bot.heard[0].content == asked.content
    assert bot.heard[0].mentions[0].id == int(discord.bot.id)
    where = bot.heard[0].channel
    assert isinstance(where, library.TextChannel)
    thread = await where.create_thread(name="C-1 nginx is down", auto_archive_duration=1440)
    await thread.add_user(bot.heard[0].author)
    await thread.send("I look.", nonce="out-1")
    made = (await discord.threads(room))[0]
    assert made.private
    assert [m.content for m in kim.sees(made) if m.type is Type.DEFAULT] == ["I look."]
    assert kim.sees(made)[0].type is Type.RECIPIENT_ADD
    kim.says(made, "thank you")
    await discord.until(lambda: len(bot.heard) == 2)
    assert isinstance(bot.heard[1].channel, library.Thread)
