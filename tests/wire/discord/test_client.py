"""The real client connects, hears, opens threads, and hears of what becomes of them."""

from __future__ import annotations

import io

import aiohttp
import discord as library
import pytest

from tests.wire.discord.clients import Bot, running
from tests.wire.discord.intents import Intent
from tests.wire.discord.messages import Type
from tests.wire.discord.server import DiscordServer

NO_CONTENT = library.Intents(guilds=True, guild_messages=True, dm_messages=True)


async def test_a_client_connects_and_knows_its_guild_and_its_rooms(discord: DiscordServer) -> None:
    room = discord.room("ops")
    kim = discord.member("kim")
    active, archived = kim.starts_thread(room, "active"), kim.starts_thread(room, "archived")
    discord.archive(archived)
    async with running(discord, Bot()) as bot:
        assert [thread.id for guild in bot.guilds for thread in guild.threads] == [int(active.id)]
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


async def test_a_private_thread_is_seen_by_those_in_it_and_by_nobody_else(discord: DiscordServer, bot: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    thread = kim.starts_thread(room, "secret", private=True)
    kim.says(thread, "psst")
    assert bob.sees(thread) == []
    assert bot.get_channel(int(thread.id)) is None
    kim.adds(thread, discord.bot)
    await discord.until(lambda: bot.get_channel(int(thread.id)))
    kim.says(thread, "now you hear me")
    await discord.until(lambda: bot.heard)
    assert bot.texts == ["now you hear me"]


async def test_a_direct_message_is_heard_and_answered(discord: DiscordServer, bot: Bot) -> None:
    kim = discord.member("kim")
    kim.says(None, "help")
    await discord.until(lambda: bot.heard)
    assert isinstance(bot.heard[0].channel, library.DMChannel)
    await bot.heard[0].channel.send("here I am")
    assert [said.content for said in kim.sees()] == ["help", "here I am"]


async def test_without_the_intent_only_what_is_meant_for_the_bot_has_content(
    discord: DiscordServer,
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    async with running(discord, Bot(intents=NO_CONTENT)) as bot:
        kim.says(room, "between us", files=[kim.file("log.txt", b"secret")])
        mention = kim.mentions(room, "help")
        kim.says(None, "directly")
        own = await bot.get_partial_messageable(int(room.id)).send("mine")
        kim.says(room, "a reply", to=discord.world.message(room, str(own.id)))
        await discord.until(lambda: len(bot.heard) == 4)
        assert bot.texts == ["", mention.content, "directly", "a reply"]
        assert bot.heard[0].attachments == []
        assert (await discord.until(lambda: bot.own))[0].content == "mine"
        # Over HTTP it is the application's setting that counts, and that allows it.
        history = [m.content async for m in bot.get_partial_messageable(int(room.id)).history(oldest_first=True)]
        assert history[0] == "between us"


async def test_an_application_that_may_not_read_content_reads_none_over_http_either(discord: DiscordServer) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    kim.says(room, "between us")
    discord.world.privileged = Intent(0)
    async with running(discord, Bot(intents=NO_CONTENT)) as bot:
        assert [m.content async for m in bot.get_partial_messageable(int(room.id)).history()] == [""]


async def test_edits_and_deletions_are_heard(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    said, gone, more = (kim.says(room, text) for text in ("one", "two", "three"))
    kim.edits(said, "one!")
    kim.deletes(gone)
    discord.clear(room, said, more)
    await discord.until(lambda: "raw_bulk_message_delete" in bot.events)
    raw = [event for event in bot.events if event.startswith("raw_")]
    assert raw == ["raw_message_edit", "raw_message_delete", "raw_bulk_message_delete"]


async def test_what_becomes_of_a_thread_is_heard(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    thread = kim.starts_thread(room, "nginx", on=kim.says(room, "nginx is down"))
    await discord.until(lambda: bot.get_channel(int(thread.id)))
    await discord.until(lambda: "raw_message_edit" in bot.events)
    discord.archive(thread, locked=True)
    await discord.until(lambda: "raw_thread_update" in bot.events)
    assert bot.get_channel(int(thread.id)) is None
    discord.unarchive(thread)
    discord.delete_thread(thread)
    await discord.until(lambda: "raw_thread_delete" in bot.events)
    discord.delete_room(room)
    await discord.until(lambda: "guild_channel_delete" in bot.events)
    discord.kick_bot(discord.guild)
    await discord.until(lambda: "guild_remove" in bot.events)
    assert kim.sees(room) == []


async def test_a_quiet_thread_is_archived_in_time_and_wakes_when_somebody_speaks(
    discord: DiscordServer, bot: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    thread = kim.starts_thread(room, "nginx")
    discord.advance(1440 * 60 - 1)
    assert not thread.archived
    discord.advance(1)
    assert thread.archived
    await bot.get_partial_messageable(int(thread.id)).send("still there?")
    assert not thread.archived


async def test_a_room_that_the_bot_may_not_view_has_no_name_for_it_and_no_messages(discord: DiscordServer) -> None:
    kim, room = discord.member("kim"), discord.room("board")
    discord.rule(room, discord.bot, deny=room.may(discord.bot))
    async with running(discord, Bot()) as bot:
        kim.mentions(room, "psst")
        kim.says(None, "after")
        await discord.until(lambda: bot.heard)
        assert bot.texts == ["after"]
        assert getattr(bot.get_channel(int(room.id)), "name", None) != "board"


async def test_a_file_is_fetched_by_its_link_until_that_is_over_and_then_by_a_new_one(
    discord: DiscordServer, bot: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    kim.mentions(room, "see", files=[kim.file("log.txt", b"502 502")])
    await discord.until(lambda: bot.heard)
    attached = bot.heard[0].attachments[0]
    assert (attached.filename, attached.size, await attached.read()) == ("log.txt", 7, b"502 502")
    async with aiohttp.ClientSession() as session, session.get(attached.url.replace("hm=", "hm=0")) as forged:
        assert forged.status == 404
    discord.advance(24 * 3600 + 1)
    with pytest.raises(library.NotFound):
        await attached.read()
    again = await bot.heard[0].channel.fetch_message(bot.heard[0].id)
    assert await again.attachments[0].read() == b"502 502"


async def test_the_bot_sends_a_file(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    file = library.File(io.BytesIO(b"a,b"), "report.csv", description="the report")
    sent = await bot.get_partial_messageable(int(room.id)).send("here", file=file)
    assert await sent.attachments[0].read() == b"a,b"
    shown = kim.sees(room)[0].attachments[0]
    assert (shown.name, shown.content, shown.description) == ("report.csv", b"a,b", "the report")


async def test_files_that_an_edit_does_not_name_are_gone(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops")
    files = [library.File(io.BytesIO(name.encode()), name) for name in ("a.txt", "b.txt")]
    sent = await client.get_partial_messageable(int(room.id)).send("two", files=files)
    await sent.edit(content="still two")
    assert [file.name for file in discord.posts(room)[0].attachments] == ["a.txt", "b.txt"]
    await sent.edit(attachments=[sent.attachments[1], library.File(io.BytesIO(b"c"), "c.txt")])
    assert [(file.name, file.content) for file in discord.posts(room)[0].attachments] == [
        ("b.txt", b"b.txt"),
        ("c.txt", b"c"),
    ]


async def test_a_sticker_is_a_message_without_text(discord: DiscordServer, bot: Bot) -> None:
    kim = discord.member("kim")
    kim.sends_sticker(discord.direct(kim), "wave")
    await discord.until(lambda: bot.heard)
    assert (bot.heard[0].content, [sticker.name for sticker in bot.heard[0].stickers]) == ("", ["wave"])


async def test_typing_is_shown_where_the_bot_may_speak(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops")
    async with client.get_partial_messageable(int(room.id)).typing():
        pass
    assert discord.world.typing == [room.id]
