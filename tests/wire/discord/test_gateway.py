"""The real client on the gateway: it is let in or not, it is cut off, and it comes back."""

from __future__ import annotations

import aiohttp
import discord as library
import pytest

from tests.wire.discord.clients import INTENTS, Bot, running
from tests.wire.discord.intents import Intent
from tests.wire.discord.payload import Json
from tests.wire.discord.server import TOKEN, DiscordServer

VERSION = "?v=10&encoding=json"
IDENTIFY: Json = {"op": 2, "d": {"token": TOKEN, "intents": INTENTS.value, "properties": None}}


async def test_with_a_wrong_token_nobody_is_let_in(discord: DiscordServer) -> None:
    with pytest.raises(library.LoginFailure):
        async with running(discord, Bot(), token="wrong"):
            pass
    assert [(call.name, call.status) for call in discord.calls()] == [("get_current_user", 401)]


async def test_a_token_that_is_taken_away_between_login_and_identify_closes_with_4004(discord: DiscordServer) -> None:
    bot = Bot()
    await bot.login(discord.token)
    discord.world.token = "another"
    with pytest.raises(library.ConnectionClosed) as closed:
        await bot.connect()
    assert closed.value.code == 4004
    await bot.close()


async def test_an_intent_that_the_settings_do_not_allow_closes_with_4014(discord: DiscordServer) -> None:
    discord.world.privileged = Intent(0)
    with pytest.raises(library.PrivilegedIntentsRequired):
        async with running(discord, Bot()):
            pass


async def test_after_a_broken_connection_the_client_resumes_and_hears_what_it_missed(
    discord: DiscordServer, bot: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    discord.gateway.drop()
    kim.mentions(room, "are you there?")
    await discord.until(lambda: bot.heard)
    assert len(discord.gateway.identified) == 1
    assert len(discord.gateway.resumed) == 1
    assert bot.events.count("resumed") == 1
    assert bot.events.count("ready") == 1


async def test_asked_to_reconnect_the_client_resumes(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    discord.gateway.reconnect()
    await discord.until(lambda: "resumed" in bot.events)
    kim.mentions(room, "after")
    await discord.until(lambda: bot.heard)
    assert len(bot.heard) == 1


@pytest.mark.parametrize("how", ["forgotten", "too late", "invalidated"])
async def test_where_nothing_can_be_resumed_the_client_identifies_anew_and_what_was_said_meanwhile_is_lost_to_it(
    discord: DiscordServer, bot: Bot, how: str
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    if how == "invalidated":
        discord.gateway.invalidate(resumable=False)
    else:
        discord.gateway.refuse = True
        discord.gateway.drop()
        await discord.until(lambda: discord.gateway.turned_away)
        kim.mentions(room, "lost")
        if how == "forgotten":
            discord.gateway.forget()
        else:
            discord.advance(181)
        discord.gateway.refuse = False
    await discord.until(lambda: bot.events.count("ready") == 2)
    kim.mentions(room, "heard")
    await discord.until(lambda: bot.heard)
    assert [message.content.split()[-1] for message in bot.heard] == ["heard"]
    assert len(discord.gateway.identified) == 2
    history = bot.get_partial_messageable(int(room.id)).history(oldest_first=True)
    assert len([message async for message in history]) == (1 if how == "invalidated" else 2)


async def test_told_to_come_again_with_its_session_the_client_resumes_it(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    discord.gateway.invalid_next(resumable=True)
    discord.gateway.drop()
    kim.mentions(room, "are you there?")
    await discord.until(lambda: bot.heard)
    assert len(discord.gateway.resumed) == 2
    assert len(discord.gateway.identified) == 1


async def test_a_connection_over_which_nothing_comes_is_replaced_and_nothing_is_lost(discord: DiscordServer) -> None:
    discord.gateway.heartbeat = 0.1
    kim, room = discord.member("kim"), discord.room("ops")
    async with running(discord, Bot(heartbeat_timeout=0.5)) as bot:
        discord.gateway.connections[0].zombie = True
        kim.mentions(room, "are you there?")
        await discord.until(lambda: bot.heard)
        assert len(discord.gateway.connections) == 2
        assert len(discord.gateway.resumed) == 1


async def test_the_client_does_not_notice_that_only_its_heartbeats_go_unanswered(discord: DiscordServer) -> None:
    """Its latency then stands still: what channels/discord has to watch itself, if it wants to."""
    discord.gateway.heartbeat = 0.05
    kim, room = discord.member("kim"), discord.room("ops")
    async with running(discord, Bot()) as bot:
        connection = discord.gateway.connections[0]
        connection.unanswered = True
        beats = connection.heartbeats
        # An answer may have been under way.
        await discord.until(lambda: connection.heartbeats > beats)
        latency = bot.latency
        await discord.until(lambda: connection.heartbeats > beats + 3)
        assert bot.latency == latency
        kim.mentions(room, "still heard")
        await discord.until(lambda: bot.heard)
        assert connection.open()


async def test_a_heartbeat_names_the_last_event(discord: DiscordServer) -> None:
    discord.gateway.heartbeat = 0.05
    async with running(discord, Bot()):
        connection = discord.gateway.connections[0]
        await discord.until(lambda: connection.session is not None and connection.beat == connection.session.seq)


@pytest.mark.parametrize(("code", "left"), [(1000, 0), (1001, 0), (4000, 1)])
async def test_who_says_goodbye_has_no_session_left_and_who_closes_otherwise_has(
    discord: DiscordServer, code: int, left: int
) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{discord.gateway_url}{VERSION}") as socket:
        await socket.send_json(IDENTIFY)
        await discord.connected()
        await socket.close(code=code)
        await discord.until(lambda: not discord.gateway.open())
    assert len(discord.gateway.sessions) == left


async def test_the_client_means_to_say_goodbye_and_closes_with_4000_so_its_session_stays_for_a_while(
    discord: DiscordServer,
) -> None:
    async with running(discord, Bot()):
        pass
    await discord.until(lambda: not discord.gateway.open())
    assert discord.gateway.connections[0].socket.close_code == 4000
    assert len(discord.gateway.sessions) == 1


async def test_a_guild_in_an_outage_is_not_a_guild_that_was_left(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    discord.outage(discord.guild)
    kim.mentions(room, "unheard")
    discord.back(discord.guild)
    await discord.until(lambda: "guild_available" in bot.events[bot.events.index("ready") :])
    assert "guild_unavailable" in bot.events
    assert "guild_remove" not in bot.events
    assert bot.heard == []


async def test_a_bot_that_is_invited_hears_of_its_new_guild(discord: DiscordServer, bot: Bot) -> None:
    other = discord.new_guild("other", with_bot=False)
    kim, room = discord.member("kim", other), discord.room("there", guild=other)
    kim.says(room, "psst")
    discord.invite_bot(other)
    await discord.until(lambda: "guild_join" in bot.events)
    kim.mentions(room, "hello")
    await discord.until(lambda: bot.heard)
    assert len(bot.heard) == 1


async def _closed(discord: DiscordServer, *payloads: object, query: str = VERSION) -> int | None:
    async with aiohttp.ClientSession() as session, session.ws_connect(discord.gateway_url + query) as socket:
        for payload in payloads:
            if isinstance(payload, str):
                await socket.send_str(payload)
            else:
                await socket.send_json(payload)
        async for _ in socket:
            pass
        return socket.close_code


@pytest.mark.parametrize(
    ("code", "payloads"),
    [
        (4001, [IDENTIFY, {"op": 77, "d": None}]),
        (4002, ["no JSON"]),
        (4002, [{**IDENTIFY, "more": "x" * 4096}]),
        (4003, [{"op": 3, "d": None}]),
        (4004, [{"op": 2, "d": {"token": "wrong", "intents": 1}}]),
        (4005, [IDENTIFY, IDENTIFY]),
        (4008, [{"op": 1, "d": None}] * 121),
        (4013, [{"op": 2, "d": {"token": TOKEN, "intents": 1 << 30}}]),
    ],
)
async def test_what_a_client_gets_wrong_closes_its_connection_with_the_code_for_it(
    discord: DiscordServer, code: int, payloads: list[object]
) -> None:
    assert await _closed(discord, *payloads) == code


async def test_a_hundred_and_twenty_payloads_in_a_minute_are_not_too_many(discord: DiscordServer) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(discord.gateway_url + VERSION) as socket:
        for _ in range(120):
            await socket.send_json({"op": 1, "d": None})
        assert [(await socket.receive_json())["op"] for _ in range(121)] == [10, *[11] * 120]


async def test_another_version_of_the_gateway_is_not_spoken(discord: DiscordServer) -> None:
    assert await _closed(discord, query="?v=9&encoding=json") == 4012


async def test_resuming_from_an_event_that_never_was_closes_with_4007(discord: DiscordServer, bot: Bot) -> None:
    session = discord.gateway.sessions[0]
    resume = {"op": 6, "d": {"token": discord.token, "session_id": session.id, "seq": session.seq + 1}}
    assert await _closed(discord, resume) == 4007


async def test_events_nobody_asked_for_are_not_sent(discord: DiscordServer) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    async with running(discord, Bot(intents=library.Intents(guilds=True, dm_messages=True))) as bot:
        kim.mentions(room, "in a room")
        kim.says(None, "directly")
        await discord.until(lambda: bot.heard)
        assert bot.texts == ["directly"]


async def test_while_discord_is_down_the_client_keeps_knocking_and_then_resumes(
    discord: DiscordServer, bot: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    discord.down()
    await discord.until(lambda: discord.gateway.turned_away)
    with pytest.raises(library.DiscordServerError):
        await bot.get_partial_messageable(int(room.id)).send("x")
    kim.mentions(room, "are you there?")
    discord.up()
    await discord.until(lambda: bot.heard)
    assert len(discord.gateway.identified) == 1


async def test_a_token_that_is_reset_ends_the_client(discord: DiscordServer, bot: Bot) -> None:
    discord.revoke()
    assert bot.running is not None
    with pytest.raises(library.ConnectionClosed) as closed:
        await bot.running
    assert closed.value.code == 4004
