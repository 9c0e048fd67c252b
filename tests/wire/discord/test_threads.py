"""Threads: what may be done in one that is archived, locked, private or gone, with the real client."""

from __future__ import annotations

import discord as library
import pytest

from tests.wire.discord.clients import Bot, raw, refused
from tests.wire.discord.messages import Type
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Thread
from tests.wire.discord.server import DiscordServer


async def _thread(discord: DiscordServer, client: Bot, *, private: bool = True) -> Thread:
    room = discord.room("ops")
    kind = library.ChannelType.private_thread if private else library.ChannelType.public_thread
    await client.http.start_thread_without_message(
        int(room.id), name="C-1", auto_archive_duration=1440, type=kind.value
    )  # fmt: skip
    return discord.world.threads_of(room)[0]


async def test_speaking_in_an_archived_thread_opens_it(discord: DiscordServer, client: Bot) -> None:
    thread = await _thread(discord, client)
    discord.archive(thread)
    await client.get_partial_messageable(int(thread.id)).send("hello")
    assert not thread.archived


async def test_in_an_archived_and_locked_thread_only_a_moderator_speaks(discord: DiscordServer, client: Bot) -> None:
    thread = await _thread(discord, client)
    where = client.get_partial_messageable(int(thread.id))
    sent = await where.send("before")
    discord.archive(thread, locked=True)
    assert await refused(where.send("hello")) == (400, 50083)
    assert await refused(sent.edit(content="changed")) == (400, 50083)
    assert await refused(sent.delete()) == (400, 50083)
    discord.grant(discord.guild, discord.bot, discord.role("moderator", May.MANAGE_THREADS))
    await where.send("hello")
    assert not thread.archived


async def test_in_a_locked_thread_that_is_open_nothing_is_said_or_changed(discord: DiscordServer, client: Bot) -> None:
    thread = await _thread(discord, client)
    where = client.get_partial_messageable(int(thread.id))
    sent = await where.send("before")
    discord.lock(thread)
    assert await refused(where.send("hello")) == (403, 160005)
    assert await refused(sent.edit(content="changed")) == (403, 160005)
    await sent.delete()
    discord.lock(thread, False)
    await where.send("hello")


async def test_in_an_archived_thread_nothing_is_changed_and_nobody_added(discord: DiscordServer, client: Bot) -> None:
    kim = discord.member("kim")
    thread = await _thread(discord, client)
    sent = await client.get_partial_messageable(int(thread.id)).send("before")
    discord.archive(thread)
    assert await refused(sent.edit(content="changed")) == (400, 50083)
    assert await refused(client.http.add_user_to_thread(int(thread.id), int(kim.id))) == (400, 50083)
    assert thread.archived
    await sent.delete()


async def test_a_thread_that_is_gone_and_one_in_a_room_that_is_gone_are_unknown(
    discord: DiscordServer, client: Bot
) -> None:
    first, second = await _thread(discord, client), await _thread(discord, client)
    discord.delete_thread(first)
    discord.delete_room(second.parent)
    for thread in (first, second):
        assert await refused(client.get_partial_messageable(int(thread.id)).send("hello")) == (404, 10003)


async def test_a_bot_that_was_kicked_reaches_nothing(discord: DiscordServer, client: Bot) -> None:
    thread = await _thread(discord, client)
    discord.kick_bot(discord.guild)
    assert await refused(client.get_partial_messageable(int(thread.id)).send("hello")) == (403, 50001)
    assert await refused(client.fetch_channel(int(thread.parent.id))) == (403, 50001)


async def test_out_of_a_private_thread_the_bot_sees_it_no_more(discord: DiscordServer, client: Bot) -> None:
    thread = await _thread(discord, client)
    discord.remove_from(thread, discord.bot)
    assert await refused(client.fetch_channel(int(thread.id))) == (403, 50001)


@pytest.mark.parametrize(
    ("missing", "private"),
    [(May.CREATE_PRIVATE_THREADS, True), (May.CREATE_PUBLIC_THREADS, False)],
)
async def test_each_kind_of_thread_needs_its_own_permission(
    discord: DiscordServer, client: Bot, missing: May, private: bool
) -> None:
    room = discord.room("ops", deny=missing)
    start = client.http.start_thread_without_message
    of_kind = {True: start(int(room.id), name="C-1", type=12, auto_archive_duration=60)}
    of_kind[False] = start(int(room.id), name="C-1", type=11, auto_archive_duration=60)
    assert await refused(of_kind[private]) == (403, 50013)
    await of_kind[not private]


async def test_to_speak_in_a_thread_needs_its_own_permission_and_not_that_of_the_room(
    discord: DiscordServer, client: Bot
) -> None:
    thread = await _thread(discord, client)
    where = client.get_partial_messageable(int(thread.id))
    discord.rule(thread.parent, discord.bot, deny=May.SEND_MESSAGES)
    await where.send("hello")
    assert await refused(client.get_partial_messageable(int(thread.parent.id)).send("hello")) == (403, 50013)
    discord.rule(thread.parent, discord.bot, deny=May.SEND_MESSAGES_IN_THREADS)
    assert await refused(where.send("hello")) == (403, 50013)


async def test_a_thread_on_a_message_has_its_id_and_there_is_one_at_most(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    said = kim.says(room, "nginx is down")
    made = await client.http.start_thread_with_message(
        int(room.id), int(said.id), name="C-1", auto_archive_duration=1440
    )  # fmt: skip
    assert made["id"] == said.id
    thread = discord.world.places[said.id]
    assert [first.type for first in thread.messages.values()] == [Type.THREAD_STARTER_MESSAGE]
    call = client.http.start_thread_with_message(int(room.id), int(said.id), name="C-2", auto_archive_duration=1440)
    assert await refused(call) == (400, 160004)


async def test_nobody_is_added_to_a_thread_of_a_room_that_they_may_not_view(
    discord: DiscordServer, client: Bot
) -> None:
    kim = discord.member("kim")
    thread = await _thread(discord, client)
    discord.rule(thread.parent, kim.person, deny=May.VIEW_CHANNEL)
    assert await refused(client.http.add_user_to_thread(int(thread.id), int(kim.id))) == (403, 50001)
    assert await refused(client.http.add_user_to_thread(int(thread.id), 4711)) == (404, 10013)


async def test_its_owner_renames_and_archives_a_thread_and_only_a_moderator_locks_or_deletes_it(
    discord: DiscordServer, client: Bot
) -> None:
    thread = await _thread(discord, client)
    await client.http.edit_channel(int(thread.id), name="C-1 resolved", archived=True)
    assert (thread.name, thread.archived) == ("C-1 resolved", True)
    assert Type.CHANNEL_NAME_CHANGE in [said.type for said in thread.messages.values()]
    await client.http.edit_channel(int(thread.id), archived=False)
    assert await refused(client.http.edit_channel(int(thread.id), locked=True)) == (403, 50013)
    assert await refused(client.http.delete_channel(int(thread.id))) == (403, 50013)
    discord.grant(discord.guild, discord.bot, discord.role("moderator", May.MANAGE_THREADS))
    await client.http.edit_channel(int(thread.id), locked=True)
    assert thread.locked
    await client.http.delete_channel(int(thread.id))
    assert thread.deleted


async def test_threads_are_listed_active_ones_by_guild_and_archived_ones_by_room(
    discord: DiscordServer, client: Bot
) -> None:
    thread = await _thread(discord, client)
    listed = await client.http.get_active_threads(int(discord.guild.id))
    assert [one["id"] for one in listed["threads"]] == [thread.id]
    assert [member["user_id"] for member in listed["members"]] == [discord.bot.id]
    discord.archive(thread)
    assert (await client.http.get_active_threads(int(discord.guild.id)))["threads"] == []
    room = int(thread.parent.id)
    mine = await client.http.get_joined_private_archived_threads(room)
    assert [one["id"] for one in mine["threads"]] == [thread.id]
    assert await refused(client.http.get_private_archived_threads(room)) == (403, 50013)


async def test_who_is_named_in_a_private_thread_is_in_it_and_who_may_not_be_named_is_not(
    discord: DiscordServer, client: Bot
) -> None:
    kim, bob = discord.member("kim"), discord.member("bob")
    thread = await _thread(discord, client)
    where = client.get_partial_messageable(int(thread.id))
    await where.send(f"{kim.person.mention} see", allowed_mentions=library.AllowedMentions(users=True))
    await where.send(f"{bob.person.mention} see")
    assert kim.sees(thread)
    assert bob.sees(thread) == []


async def test_threads_come_into_sight_with_their_room(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    discord.rule(room, discord.guild.everyone, deny=May.VIEW_CHANNEL)
    staff = discord.role("staff")
    discord.rule(room, staff, allow=May.VIEW_CHANNEL)
    discord.grant(discord.guild, kim.person, staff)
    open_, closed = kim.starts_thread(room, "open"), kim.starts_thread(room, "closed")
    discord.archive(closed)
    assert bot.get_channel(int(open_.id)) is None
    discord.grant(discord.guild, discord.bot, staff)
    await discord.until(lambda: bot.get_channel(int(open_.id)))
    assert bot.get_channel(int(closed.id)) is None
    discord.take(discord.guild, discord.bot, staff)
    assert await refused(bot.fetch_channel(int(open_.id))) == (403, 50001)


async def test_a_thread_that_is_opened_again_is_known_again_with_the_bots_membership(
    discord: DiscordServer, bot: Bot
) -> None:
    thread = await _thread(discord, bot)
    discord.archive(thread)
    await discord.until(lambda: bot.get_channel(int(thread.id)) is None)
    discord.unarchive(thread)
    await discord.until(lambda: getattr(bot.get_channel(int(thread.id)), "me", None))


async def test_archived_threads_are_listed_newest_first_a_page_at_a_time(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    made = [kim.starts_thread(room, f"C-{number}") for number in range(5)]
    for thread in made:
        discord.advance(1)
        discord.archive(thread)
    channel = client.get_partial_messageable(int(room.id)).id
    first = await client.http.get_public_archived_threads(channel, limit=2)
    assert [one["name"] for one in first["threads"]] == ["C-4", "C-3"]
    assert first["has_more"]
    stamp = first["threads"][1]["thread_metadata"]["archive_timestamp"]
    rest = await client.http.get_public_archived_threads(channel, before=stamp, limit=50)
    assert [one["name"] for one in rest["threads"]] == ["C-2", "C-1", "C-0"]
    assert not rest["has_more"]
    path = f"/channels/{room.id}/threads/archived/public"
    for query in ("limit=1", "limit=x", "before=yesterday"):
        assert (await raw(discord, "GET", f"{path}?{query}"))[0] == 400


async def test_who_began_a_private_thread_puts_others_out_of_it_and_whoever_is_in_it_leaves(
    discord: DiscordServer, client: Bot
) -> None:
    kim = discord.member("kim")
    thread = await _thread(discord, client)
    await client.http.add_user_to_thread(int(thread.id), int(kim.id))
    await client.http.remove_user_from_thread(int(thread.id), int(kim.id))
    assert kim.sees(thread) == []
    assert await refused(client.http.remove_user_from_thread(int(thread.id), int(kim.id))) == (404, 10007)
    other = kim.starts_thread(thread.parent, "theirs", private=True)
    discord.put_in(other, discord.bot, by=kim.person)
    assert await refused(client.http.remove_user_from_thread(int(other.id), int(kim.id))) == (403, 50013)
    await client.http.leave_thread(int(other.id))
    assert await refused(client.fetch_channel(int(other.id))) == (403, 50001)
