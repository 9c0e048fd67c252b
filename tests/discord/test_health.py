"""What `/readyz` says of Discord: it is ready only while what is said there reaches us."""

from __future__ import annotations

from tests.discord.household import Household
from tests.loop.scripted import says


async def test_while_discord_is_down_readyz_says_so_until_it_is_back(home: Household) -> None:
    assert await home.health() is None
    home.discord.down()
    await home.until_so(home.is_unwell)
    home.discord.up()
    await home.until_so(home.is_well)
    home.answers(says("Hello."))
    await home.shows(await home.asks(), "Hello.")


async def test_a_gateway_that_takes_us_and_begins_no_session_is_not_ready(home: Household) -> None:
    """In an outage Discord's gateway may say hello and answer heartbeats, and nothing else ever."""
    home.discord.gateway.mute = True
    home.discord.gateway.drop()
    await home.until(lambda: home.discord.gateway.unbegun or None, "a connection without a session")
    await home.until_so(home.is_unwell)
    home.discord.gateway.mute = False
    home.discord.gateway.drop()
    await home.until_so(home.is_well)
