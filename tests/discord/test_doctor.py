"""`casebound doctor` on a server in which one thing or another is not set up: it says what to click."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot import doctor
from channels.discord import permissions
from channels.findings import Finding
from tests.discord.household import Household
from tests.wire.discord.intents import Intent
from tests.wire.discord.permissions import May
from tests.wire.discord.server import DiscordServer

PAGE = Path(__file__).parents[2] / "deploy" / "discord.md"


async def found(home: Household, room: str | None = None) -> dict[str, Finding]:
    """What the doctor finds, by what it looked at."""
    return {finding.what: finding async for finding in home.channel().examine(doctor.SAMPLE, room)}


def configure(home: Household, **changed: object) -> None:
    """Write something else into `[discord]`."""
    home.settings = home.settings.model_copy(update={"discord": home.settings.discord.model_copy(update=changed)})


async def test_where_all_is_well_it_says_so_and_leaves_nothing_behind(home: Household) -> None:
    configure(home, operators_room=home.kitchen.id)
    looked = await found(home, home.kitchen.id)
    assert [finding for finding in looked.values() if not finding.ok] == []
    assert list(looked) == ["token", "messages", "connection", f"server {home.discord.guild.id}", "card round trip"]
    assert home.discord.posts(home.kitchen) == []
    assert len(home.discord.gateway.open()) == 1, "the service's own connection, and none of the doctor's"


async def test_a_token_that_is_refused_is_told_with_where_to_get_another(home: Household) -> None:
    home.settings = home.settings.model_copy(
        update={"discord": home.settings.discord.model_copy(update={"token": None})}
    )
    looked = await found(home)
    assert list(looked) == ["token"]
    assert "Reset Token" in looked["token"].to_do


async def test_it_says_where_the_intent_is_switched_on(tmp_path: Path) -> None:
    async with DiscordServer(privileged=Intent(0)) as discord:
        looked = await found(Household(discord, tmp_path / "c.db"))
    assert "Message Content Intent" in looked["messages"].to_do


async def test_it_names_the_permissions_that_are_missing_and_invites_where_the_bot_is_not(home: Household) -> None:
    home.discord.guild.everyone.permissions &= ~(May.CREATE_PRIVATE_THREADS | May.EMBED_LINKS)
    elsewhere = home.discord.new_guild("elsewhere", with_bot=False)
    guilds = (home.discord.guild.id, elsewhere.id)
    discord = home.settings.discord.model_copy(update={"guilds": guilds})
    home.settings = home.settings.model_copy(update={"discord": discord})
    looked = await found(home)
    assert "Create Private Threads, Embed Links" in looked[f"server {guilds[0]}"].found
    assert f"permissions={permissions.number()}" in looked[f"server {guilds[1]}"].to_do


async def test_where_approvals_are_asked_only_in_private_threads_it_says_how_to_name_a_room(home: Household) -> None:
    looked = await found(home, home.kitchen.id)
    assert "no operators_room" in looked["operators' room"].found
    assert "Copy Channel ID" in looked["operators' room"].to_do


@pytest.mark.parametrize("how", ["a room for operators", "threads that everybody sees"])
async def test_where_an_operator_sees_what_is_asked_there_is_nothing_to_say_of_it(home: Household, how: str) -> None:
    if how == "a room for operators":
        configure(home, operators_room=home.kitchen.id)
    else:
        configure(home, private_threads=False)
    looked = await found(home)
    assert "operators' room" not in looked
    assert "connection" in looked


async def people(home: Household) -> dict[str, Finding]:
    """What the doctor finds about people, by what it looked at."""
    channels = {"discord": home.channel()}
    spaces = doctor.listened_to(home.settings)
    return {finding.what: finding async for finding in doctor.of_people(home.service.store, channels, spaces)}


async def test_where_every_operator_is_in_a_listed_server_there_is_nothing_to_do_about_their_accounts(
    home: Household,
) -> None:
    looked = await people(home)
    assert list(looked) == ["discord: operators"]
    assert looked["discord: operators"].ok
    assert [call.path.rpartition("/")[2] for call in home.discord.calls("get_guild_member")] == [
        home.kim.id, home.lee.id
    ], "a requester is not asked about"  # fmt: skip


@pytest.mark.parametrize(
    ("bound", "what"),
    [
        ("123456789012345678", "is no account on Discord"),
        ("kim#0001", "is no account on Discord"),
        ("of somebody elsewhere", "is in no server that discord.guilds lists"),
    ],
)
async def test_an_operator_bound_to_the_wrong_account_is_told_of_with_how_to_bind_the_right_one(
    home: Household, bound: str, what: str
) -> None:
    if bound == "of somebody elsewhere":
        zoe = home.discord.member("zoe")
        home.discord.guild.remove(zoe.person)
        bound = zoe.id
    await home.speaks_too(bound, home.kim)
    looked = await people(home)
    assert list(looked) == ["discord: operators", "discord: account of kim"]
    wrong = looked["discord: account of kim"]
    assert f"discord:{bound} " in wrong.found
    assert what in wrong.found
    assert f"casebound principal unbind discord:{bound}" in wrong.to_do
    assert "Copy User ID" in wrong.to_do


async def test_what_discord_does_not_say_about_an_account_is_held_against_nobody(home: Household) -> None:
    await home.speaks_too("123456789012345678", home.kim)
    home.discord.kick_bot(home.discord.guild)
    assert list(await people(home)) == ["discord: operators"]
    configure(home, token=None)
    assert list(await people(home)) == ["discord: operators"]


async def test_however_many_operators_there_are_discord_is_asked_about_twenty_at_the_most(home: Household) -> None:
    for nth in range(30):
        await home.speaks_too(str(123456789012345000 + nth), home.kim)
    await people(home)
    assert len(home.discord.calls("get_guild_member")) == 20


async def test_without_a_listed_server_it_says_how_to_list_one(home: Household) -> None:
    discord = home.settings.discord.model_copy(update={"guilds": ()})
    home.settings = home.settings.model_copy(update={"discord": discord})
    looked = await found(home)
    assert "Copy Server ID" in looked["servers"].to_do


def test_the_page_lists_every_permission_with_its_reason_and_their_number() -> None:
    page = PAGE.read_text()
    assert dict(re.findall(r"^\| ([A-Z][\w ]+) \| ([^|]+) \|$", page, re.MULTILINE)) == dict(
        permissions.NEEDED.values()
    )
    assert set(re.findall(r"(?<!\d)3\d{11}(?!\d)", page)) == {str(permissions.number())}
