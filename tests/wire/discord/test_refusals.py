"""Whom Discord does not let do what: tokens, verbs, permissions, spelling mistakes."""

from __future__ import annotations

from typing import Any, cast

import aiohttp
import discord as library
import pytest

from tests.wire.discord.clients import Bot, gate_view, raw, refused
from tests.wire.discord.payload import ApiError, Json
from tests.wire.discord.permissions import May
from tests.wire.discord.server import DiscordServer


async def test_a_wrong_token_is_refused_everywhere_and_nothing_is_done(discord: DiscordServer) -> None:
    room = discord.room("ops")
    for verb, path in (("POST", f"/channels/{room.id}/messages"), ("GET", "/users/@me"), ("GET", "/gateway/bot")):
        status, answer = await raw(discord, verb, path, {"content": "x"}, token="wrong")
        assert (status, answer["message"]) == (401, "401: Unauthorized")
    assert room.messages == {}


async def test_a_client_that_does_not_say_what_it_is_is_blocked(discord: DiscordServer) -> None:
    headers = {"Authorization": f"Bot {discord.token}", "User-Agent": "curl/8.0"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{discord.api_url}/users/@me", headers=headers) as answer,
    ):
        assert answer.status == 403


async def test_what_is_not_there_is_404_and_what_is_there_for_another_verb_405(discord: DiscordServer) -> None:
    room = discord.room("ops")
    assert (await raw(discord, "GET", "/nowhere"))[0] == 404
    assert (await raw(discord, "PUT", f"/channels/{room.id}/messages", {"content": "x"}))[0] == 405
    assert (await raw(discord, "GET", "/users/4711"))[1]["code"] == 10013
    assert (await raw(discord, "GET", "/guilds/4711"))[1]["code"] == 10004


MISTAKES: list[Json] = [
    {"content": "x", "contents": "y"},
    {"content": "x", "embeds": [{"titel": "y"}]},
    {"content": "x", "allowed_mentions": {"parsed": []}},
    {"content": "x", "components": [{"type": 1, "components": [], "label": "y"}]},
    {"content": 7},
    {"content": "x", "tts": "no"},
    {"content": "x", "flags": 1 << 6},
    {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
    {"content": "x", "allowed_mentions": {"parse": ["people"]}},
    {"content": "x", "attachments": [{"id": 0}]},
]


@pytest.mark.parametrize("body", MISTAKES)
async def test_what_discord_does_not_know_or_take_is_refused_and_nothing_is_said(
    discord: DiscordServer, body: Json
) -> None:
    room = discord.room("ops")
    status, answer = await raw(discord, "POST", f"/channels/{room.id}/messages", body)
    assert (status, answer["code"]) == (400, 50035)
    assert room.messages == {}


async def test_a_body_that_is_no_json_or_of_another_kind_is_refused(discord: DiscordServer) -> None:
    room = discord.room("ops")
    headers = {"Authorization": f"Bot {discord.token}", "User-Agent": "DiscordBot (https://example.invalid, 1)"}
    codes: list[int] = []
    async with aiohttp.ClientSession(headers=headers) as session:
        for mimetype in ("application/json", "text/plain"):
            url = f"{discord.api_url}/channels/{room.id}/messages"
            async with session.post(url, data=b"{", headers={"Content-Type": mimetype}) as answer:
                codes.append((await answer.json())["code"])
    assert codes == [50109, 50035]


async def test_answers_are_of_the_media_type_that_clients_compare(discord: DiscordServer) -> None:
    headers = {"Authorization": f"Bot {discord.token}", "User-Agent": "DiscordBot (https://example.invalid, 1)"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"{discord.api_url}/users/@me") as answer,
    ):
        assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("missing", "code"),
    [(May.VIEW_CHANNEL, 50001), (May.SEND_MESSAGES, 50013)],
)
async def test_without_permission_nothing_is_said(discord: DiscordServer, client: Bot, missing: May, code: int) -> None:
    where = client.get_partial_messageable(int(discord.room("ops", deny=missing).id))
    assert await refused(where.send("x")) == (403, code)
    assert await refused(client.http.send_typing(where.id)) == (403, code)


async def test_files_and_embeds_need_their_own_permissions(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops", deny=May.EMBED_LINKS)
    where = client.get_partial_messageable(int(room.id))
    await where.send("x")
    assert await refused(where.send(embed=library.Embed(title="x"))) == (403, 50013)


async def test_without_the_history_nothing_is_read_and_nothing_replied_to(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops", deny=May.READ_MESSAGE_HISTORY)
    said = kim.says(room, "help")
    where = client.get_partial_messageable(int(room.id))
    assert [message async for message in where.history()] == []
    assert await refused(where.fetch_message(int(said.id))) == (403, 50013)
    reference = library.MessageReference(message_id=int(said.id), channel_id=int(room.id))
    assert await refused(where.send("x", reference=reference)) == (403, 160002)


async def test_a_reply_needs_a_message_that_is_there_unless_it_says_otherwise(
    discord: DiscordServer, client: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    said, gone = kim.says(room, "help"), kim.says(room, "never mind")
    kim.deletes(gone)
    where = client.get_partial_messageable(int(room.id))
    await where.send("yes?", reference=library.MessageReference(message_id=int(said.id), channel_id=int(room.id)))
    assert discord.posts(room)[0].replied is said
    lost = library.MessageReference(message_id=int(gone.id), channel_id=int(room.id))
    assert await refused(where.send("x", reference=lost)) == (400, 50035)
    lost.fail_if_not_exists = False
    await where.send("alone", reference=lost)
    assert discord.posts(room)[1].reference is None


async def test_a_note_of_discords_own_cannot_be_replied_to(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    kim.starts_thread(room, "C-1")
    note = next(iter(room.messages))
    reference = library.MessageReference(message_id=int(note), channel_id=int(room.id))
    where = client.get_partial_messageable(int(room.id))
    assert await refused(where.send("x", reference=reference)) == (400, 50035)


async def test_only_its_own_messages_are_edited_and_others_deleted_only_by_moderators(
    discord: DiscordServer, client: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    said = kim.says(room, "help")
    message = client.get_partial_messageable(int(room.id)).get_partial_message(int(said.id))
    assert await refused(message.edit(content="x")) == (403, 50005)
    assert await refused(message.delete()) == (403, 50013)
    discord.grant(discord.guild, discord.bot, discord.role("moderator", May.MANAGE_MESSAGES))
    await message.delete()
    assert await refused(message.delete()) == (404, 10008)
    assert await refused(message.edit(content="x")) == (404, 10008)


async def test_some_people_take_no_direct_messages_and_some_cannot_be_reached(
    discord: DiscordServer, client: Bot
) -> None:
    for who, code in (
        (discord.member("closed", accepts_direct=False), 50007),
        (discord.stranger("far"), 50278),
    ):
        opened = await client.http.start_private_message(int(who.id))
        assert await refused(client.get_partial_messageable(int(opened["id"])).send("x")) == (403, code)
    kim = discord.member("kim")
    first = await client.http.start_private_message(int(kim.id))
    assert (await client.http.start_private_message(int(kim.id)))["id"] == first["id"] == discord.direct(kim).id


async def test_permissions_are_added_up_as_discord_does(discord: DiscordServer) -> None:
    kim, room = discord.member("kim").person, discord.room("ops")
    staff = discord.role("staff")
    discord.rule(room, discord.guild.everyone, deny=May.VIEW_CHANNEL)
    assert room.may(kim) == May(0)
    discord.grant(discord.guild, kim, staff)
    discord.rule(room, staff, allow=May.VIEW_CHANNEL)
    assert May.SEND_MESSAGES in room.may(kim)
    discord.rule(room, kim, deny=May.SEND_MESSAGES)
    assert May.SEND_MESSAGES not in room.may(kim)
    assert May.VIEW_CHANNEL in room.may(kim)
    discord.grant(discord.guild, kim, discord.role("admin", May.ADMINISTRATOR))
    assert May.SEND_MESSAGES in room.may(kim)


async def test_people_are_held_to_the_rules_too(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    with pytest.raises(AssertionError, match="2000"):
        kim.says(room, "x" * 2001)
    discord.rule(room, kim.person, deny=May.VIEW_CHANNEL)
    await client.get_partial_messageable(int(room.id)).send("?", view=gate_view(7))
    with pytest.raises(AssertionError, match="do not see"):
        kim.presses(discord.posts(room)[0], "Approve")
    ops = discord.room("open")
    said, thread = kim.says(ops, "help"), kim.starts_thread(ops, "C-1")
    discord.rule(ops, kim.person, deny=May.USE_APPLICATION_COMMANDS)
    with pytest.raises(AssertionError, match="may not use commands"):
        kim.uses("Open a case", said)
    old = kim.says(thread, "old")
    discord.archive(thread)
    with pytest.raises(ApiError, match="archived"):
        kim.edits(old, "new")


async def test_in_a_time_out_one_only_looks_on(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    where = client.get_partial_messageable(int(room.id))
    discord.time_out(discord.guild, discord.bot)
    discord.time_out(discord.guild, kim.person)
    assert await refused(where.send("x")) == (403, 50013)
    with pytest.raises(ApiError, match="Missing Permissions"):
        kim.says(room, "x")
    assert [message async for message in where.history()] == []
    discord.time_out(discord.guild, discord.bot, False)
    await where.send("x")
    assert [message.content for message in kim.sees(room)] == ["x"]


async def test_what_this_server_gets_wrong_itself_fails_the_test(discord: DiscordServer) -> None:
    room = discord.room("ops")
    discord.world.nonces = cast("Any", None)
    status, _ = await raw(discord, "POST", f"/channels/{room.id}/messages", {"content": "x", "nonce": "1"})
    assert status == 501
    assert "NoneType" in discord.api.broken.pop()
