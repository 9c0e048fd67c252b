"""Reading back what was said while nobody listened, with the real client."""

from __future__ import annotations

import discord as library

from tests.wire.discord.clients import Bot, raw, refused, running
from tests.wire.discord.payload import several
from tests.wire.discord.permissions import May
from tests.wire.discord.server import DiscordServer


async def test_what_was_said_while_the_client_was_down_is_read_in_order_and_once(discord: DiscordServer) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    async with running(discord, Bot()) as bot:
        kim.says(room, "heard")
        await discord.until(lambda: bot.heard)
        last = bot.heard[0].id
    for number in range(230):
        kim.says(room, str(number))
    discord.gateway.forget()
    async with running(discord, Bot()) as bot:
        where = bot.get_partial_messageable(int(room.id))
        missed = [message.content async for message in where.history(limit=None, after=library.Object(last))]
        assert missed == [str(number) for number in range(230)]
        assert bot.heard == []
    assert len(discord.calls("get_messages")) == 3


async def test_a_thread_that_was_archived_meanwhile_can_still_be_read(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    thread = kim.starts_thread(room, "C-1", private=True)
    discord.put_in(thread, discord.bot, by=kim.person)
    kim.says(thread, "last words")
    discord.archive(thread, locked=True)
    history = client.get_partial_messageable(int(thread.id)).history()
    assert "last words" in [message.content async for message in history]


async def test_deleted_messages_and_those_for_somebody_else_are_not_read(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    gone, kept = kim.says(room, "gone"), kim.says(room, "kept")
    kim.deletes(gone)
    where = client.get_partial_messageable(int(room.id))
    assert [message.content async for message in where.history()] == ["kept"]
    assert (await where.fetch_message(int(kept.id))).content == "kept"
    assert await refused(where.fetch_message(int(gone.id))) == (404, 10008)


async def test_newest_come_first_and_what_is_asked_for_is_a_window(discord: DiscordServer) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    said = [kim.says(room, str(number)) for number in range(10)]

    async def read(query: str) -> list[str]:
        _, answer = await raw(discord, "GET", f"/channels/{room.id}/messages?{query}")
        return [message["content"] for message in several(answer)]

    assert await read("limit=3") == ["9", "8", "7"]
    assert await read(f"limit=3&before={said[5].id}") == ["4", "3", "2"]
    assert await read(f"limit=3&after={said[5].id}") == ["8", "7", "6"]
    assert await read(f"limit=3&around={said[5].id}") == ["6", "5", "4"]
    status, _ = await raw(discord, "GET", f"/channels/{room.id}/messages?before=1&after=2")
    assert status == 400


async def test_rooms_guilds_and_members_are_read_as_far_as_the_bot_sees_them(
    discord: DiscordServer, client: Bot
) -> None:
    kim, far = discord.member("kim"), discord.stranger("far")
    seen = discord.room("ops")
    discord.room("board", deny=May.VIEW_CHANNEL)
    guild = int(discord.guild.id)
    assert [room["id"] for room in await client.http.get_all_guild_channels(guild)] == [seen.id]
    assert [one.id async for one in client.fetch_guilds()] == [guild]
    assert (await client.http.get_member(guild, int(kim.id)))["user"]["id"] == kim.id  # pyright: ignore[reportTypedDictNotRequiredAccess]
    assert await refused(client.http.get_member(guild, int(far.id))) == (404, 10007)
    other = discord.new_guild("other", with_bot=False)
    assert await refused(client.fetch_guild(int(other.id))) == (403, 50001)


async def test_the_application_says_whether_it_may_read_content(discord: DiscordServer, client: Bot) -> None:
    assert (await client.application_info()).flags.gateway_message_content_limited


async def test_a_forwarded_message_has_no_text_of_its_own_and_a_preview_is_no_edit(
    discord: DiscordServer, bot: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    updates: list[library.RawMessageUpdateEvent] = []

    @bot.event
    async def on_raw_message_edit(update: library.RawMessageUpdateEvent) -> None:  # pyright: ignore[reportUnusedFunction]
        updates.append(update)

    said = kim.says(room, "see https://example.invalid")
    kim.forwards(said, discord.direct(kim))
    kim.unfurls(said, "https://example.invalid")
    kim.edits(said, "see there")
    await discord.until(lambda: len(updates) == 2)
    assert [message.content for message in bot.heard] == ["see https://example.invalid", ""]
    assert bot.heard[1].message_snapshots[0].content == "see https://example.invalid"
    assert [update.data.get("edited_timestamp") is None for update in updates] == [True, False]
