"""The connection to Discord, and what health says of it."""

from __future__ import annotations

import asyncio

import pytest

from channels.discord.channel import DiscordChannel, DiscordLogin
from channels.errors import AuthFailed
from channels.port import SaysWhy
from tests.channel_contract.recorder import Recorder
from tests.discord.household import Household
from tests.loop.scripted import says
from tests.wire.discord.intents import Intent
from tests.wire.discord.server import DiscordServer


def login(discord: DiscordServer, **other: object) -> DiscordLogin:
    """Of the server's bot."""
    fields = {"token": discord.token, "guilds": [discord.guild.id], "settles_s": 0.05, **other}
    return DiscordLogin(**fields, api_url=discord.api_url, gateway_url=discord.gateway_url)  # pyright: ignore[reportArgumentType]


async def test_where_messages_may_not_be_read_it_says_what_to_switch_on() -> None:
    async with DiscordServer(privileged=Intent(0)) as discord:
        channel = DiscordChannel(login(discord))
        with pytest.raises(AuthFailed, match="Message Content Intent on the page Bot"):
            await channel.start(Recorder())
        assert not channel.connected


async def test_a_token_that_is_none_is_refused_without_being_shown() -> None:
    async with DiscordServer() as discord:
        channel = DiscordChannel(login(discord, token="not-a-token"))
        with pytest.raises(AuthFailed, match=r"discord\.token is not one") as caught:
            await channel.start(Recorder())
        assert "not-a-token" not in str(caught.value)


async def test_a_zombie_connection_is_left_for_a_new_one_and_health_is_red_meanwhile() -> None:
    async with DiscordServer(heartbeat=0.2) as discord:
        recorder = Recorder()
        channel = DiscordChannel(login(discord, patience_s=1.0))
        await channel.start(recorder)
        assert channel.connected
        (first,) = discord.gateway.open()
        first.zombie = True
        await discord.until(lambda: not channel.connected, what="health that is red")
        await discord.until(lambda: [one for one in discord.gateway.open() if one is not first], what="another")
        await discord.until(lambda: channel.connected, what="health that is well")
        await recorder.until_resumed(1)
        await channel.stop()


async def test_being_ready_again_and_again_starts_nothing_twice(home: Household) -> None:
    home.answers(says("Hello."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    for number in range(2, 7):
        home.discord.gateway.forget()
        home.discord.gateway.drop()
        await home.discord.until(lambda number=number: len(home.discord.gateway.identified) >= number, what="READY")
    home.answers(says("Once."))
    home.ann.says(thread, "again?")
    await home.shows(thread, "Once.")
    assert len(home.discord.posts(thread)) == 2


@pytest.mark.parametrize(
    ("code", "words"), [(4004, "discord.token is not one"), (4014, "Message Content Intent on the page Bot")]
)
async def test_what_is_taken_from_us_while_connected_makes_health_red_at_once_and_says_what_to_do(
    code: int, words: str
) -> None:
    async with DiscordServer() as discord:
        channel = DiscordChannel(login(discord))
        await channel.start(Recorder())
        discord.gateway.drop(code)
        async with asyncio.timeout(15):
            while words not in str(channel.trouble):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0)
        assert not channel.connected
        assert len(discord.gateway.identified) == 1  # and does not storm
        await channel.stop()


async def test_where_discord_cannot_be_reached_the_service_starts_and_says_so_until_it_can(home: Household) -> None:
    await home.close()
    home.discord.gateway.refuse = True
    await home.open()
    channel = home.service.channels["discord"]
    assert not channel.connected
    home.discord.gateway.refuse = False
    await home.until_so(lambda: _true(channel.connected))
    home.answers(says("Hello."))
    await home.shows(await home.asks(), "Hello.")


async def _true(found: bool) -> bool:
    return found


@pytest.mark.parametrize("call", ["get_current_user", "get_application", "overwrite_guild_commands"])
async def test_where_a_proxy_answers_with_its_page_the_service_starts_and_says_so_until_discord_does(
    home: Household, call: str
) -> None:
    await home.close()
    home.discord.fail_next(call, status=200, body="<html>Sign in to the network</html>", times=None)
    await home.open()
    channel = home.service.channels["discord"]
    assert isinstance(channel, SaysWhy)
    assert "perhaps a proxy" in (channel.trouble or "")
    home.discord.heal(call)
    await home.until_so(lambda: _true(channel.connected))


async def test_a_connection_that_discord_ended_is_tried_again_also_after_what_nobody_expected(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with DiscordServer() as discord:
        channel = DiscordChannel(login(discord, again_s=0.01))
        recorder = Recorder()
        await channel.start(recorder)
        discord.fail_next("get_current_user", status=200, body="[]", content_type="application/json")
        discord.gateway.drop(4004)
        await recorder.until_resumed(1)
        assert channel.connected
        await channel.stop()
    assert [record.message for record in caplog.records].count("discord.not_connected") == 1
