"""What the network and Discord's own troubles do to a call, and what the real client makes of it."""

from __future__ import annotations

import asyncio

import aiohttp
import discord as library
import pytest

from tests.wire.discord.clients import Bot, raw, refused
from tests.wire.discord.server import DiscordServer


async def test_after_a_429_the_client_waits_as_long_as_it_is_told_and_says_it_once(
    discord: DiscordServer, client: Bot
) -> None:
    room = discord.room("ops")
    discord.fail_next("create_message", retry_after=0.05, times=2)
    await client.get_partial_messageable(int(room.id)).send("hello")
    assert [call.status for call in discord.calls("create_message")] == [429, 429, 200]
    assert len(discord.posts(room)) == 1


async def test_the_global_limit_holds_up_whatever_comes_next(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops")
    discord.limit_everything(0.05)
    await asyncio.gather(
        client.get_partial_messageable(int(room.id)).send("hello"), client.fetch_user(int(discord.bot.id))
    )
    assert sorted(call.status for call in discord.calls() if call.name != "get_application") == [200, 200, 200, 429]


async def test_the_global_limit_says_of_itself_that_it_is_global(discord: DiscordServer) -> None:
    discord.limit_everything(5)
    status, answer = await raw(discord, "GET", "/users/@me")
    assert (status, answer["global"], answer["retry_after"]) == (429, True, 5)


async def test_a_bucket_is_counted_for_each_channel_and_the_client_waits_before_it_is_refused(
    discord: DiscordServer, client: Bot
) -> None:
    first, second = discord.room("one"), discord.room("two")
    discord.limit("create_message", 2, 0.2)
    for room in (first, second):
        where = client.get_partial_messageable(int(room.id))
        await asyncio.gather(*(where.send(str(number)) for number in range(5)))
        assert len(discord.posts(room)) == 5
    assert {call.status for call in discord.calls("create_message")} == {200}


async def test_a_bucket_that_is_empty_refuses_with_the_headers_of_it(discord: DiscordServer) -> None:
    room = discord.room("ops")
    discord.limit("create_message", 1, 60)
    path = f"/channels/{room.id}/messages"
    assert (await raw(discord, "POST", path, {"content": "one"}))[0] == 200
    assert discord.calls("create_message")[0].headers["X-RateLimit-Remaining"] == "0"
    status, answer = await raw(discord, "POST", path, {"content": "two"})
    assert (status, answer["global"]) == (429, False)
    assert 0 < answer["retry_after"] <= 60
    assert len(discord.posts(room)) == 1


async def test_a_500_after_the_message_was_taken_makes_one_message(discord: DiscordServer, client: Bot) -> None:
    with_nonce, without = discord.room("with"), discord.room("without")
    discord.fail_next("create_message", after_accepting=True, times=2)
    await asyncio.gather(
        client.get_partial_messageable(int(with_nonce.id)).send("hello", nonce="out-1"),
        client.get_partial_messageable(int(without.id)).send("hello"),
    )
    assert len(discord.posts(with_nonce)) == 1
    # The client gives a message that has no nonce one of its own, for as long as it tries.
    assert len(discord.posts(without)) == 1
    nonces = [call.body["nonce"] for call in discord.calls("create_message")]
    assert len(nonces) == 4
    assert len(set(nonces)) == 2


async def test_a_500_before_the_message_was_taken_is_tried_again(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops")
    discord.fail_next("create_message", status=502, body="<html>Bad gateway</html>")
    await client.get_partial_messageable(int(room.id)).send("hello")
    assert [call.status for call in discord.calls("create_message")] == [502, 200]
    assert len(discord.posts(room)) == 1


@pytest.mark.parametrize(("after", "said"), [(False, 0), (True, 1)])
async def test_a_connection_that_is_cut_is_an_error_and_the_client_does_not_try_again(
    discord: DiscordServer, client: Bot, after: bool, said: int
) -> None:
    room = discord.room("ops")
    discord.fail_next("create_message", cut=True, after_accepting=after)
    with pytest.raises(aiohttp.ClientError):
        await client.get_partial_messageable(int(room.id)).send("hello", nonce="out-1")
    assert len(discord.posts(room)) == said
    assert len(discord.calls("create_message")) == 1
    # What is uncertain is asked again with the same nonce, and is there once.
    await client.get_partial_messageable(int(room.id)).send("hello", nonce="out-1")
    assert len(discord.posts(room)) == 1


async def test_a_503_is_not_tried_again(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops")
    discord.fail_next("create_message", status=503)
    with pytest.raises(library.DiscordServerError):
        await client.get_partial_messageable(int(room.id)).send("hello")
    assert len(discord.calls("create_message")) == 1


async def test_trouble_lasts_until_it_is_healed(discord: DiscordServer, client: Bot) -> None:
    where = client.get_partial_messageable(int(discord.room("ops").id))
    discord.fail_next("create_message", status=503, times=None)
    for _ in range(2):
        assert (await refused(where.send("hello")))[0] == 503
    discord.heal("create_message")
    await where.send("hello")


async def test_a_slow_call_waits_at_the_door_and_is_done_when_it_is_let_in(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops")
    hold = discord.hold("create_message")
    sending = asyncio.ensure_future(client.get_partial_messageable(int(room.id)).send("hello"))
    await hold.arrived()
    assert discord.posts(room) == []
    hold.release()
    await sending
    assert len(discord.posts(room)) == 1


async def test_an_answer_that_is_slow_comes_after_the_gateway_has_told_of_what_was_done(
    discord: DiscordServer, bot: Bot
) -> None:
    room = discord.room("ops")
    seen: list[str] = []

    @bot.event
    async def on_message(message: library.Message) -> None:  # pyright: ignore[reportUnusedFunction]
        seen.append(message.content)

    hold = discord.hold("create_message", answer=True)
    sending = asyncio.ensure_future(bot.get_partial_messageable(int(room.id)).send("hello"))
    await hold.arrived()
    await discord.until(lambda: seen)
    assert not sending.done()
    hold.release()
    assert (await sending).content == "hello"
