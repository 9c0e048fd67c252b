"""Threads, rooms and servers come and go; the case lives on (R3). Who is in no listed server does not exist (R20)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.settings import Access
from casestore import bindings, cases
from casestore.scope import System
from casestore.states import CaseState
from tests.discord.household import Household
from tests.loop.scripted import says
from tests.wire.discord.places import Thread


async def begun(home: Household) -> Thread:
    """A thread with a case in it."""
    home.answers(says("Hello."))
    thread = await home.asks("the oven is off")
    await home.shows(thread, "Hello.")
    return thread


async def bound(home: Household) -> list[str]:
    """Where the case is said to be."""
    case = await home.only_case()
    return [one.address for one in await home.service.store.read(bindings.of_case, case.id)]


@pytest.mark.parametrize("loss", ["thread deleted", "thread locked", "room deleted", "kicked"])
async def test_a_thread_that_is_lost_ends_the_binding_and_the_case_lives_on(home: Household, loss: str) -> None:
    thread = await begun(home)
    match loss:
        case "thread deleted":
            home.discord.delete_thread(thread)
        case "thread locked":
            home.discord.archive(thread, locked=True)
        case "room deleted":
            home.discord.delete_room(home.kitchen)
        case _:
            home.discord.kick_bot(home.discord.guild)

    async def lost() -> bool:
        return await bound(home) == []

    await home.until_so(lost)
    assert (await home.only_case()).state is CaseState.IN_PROGRESS


async def test_an_archived_thread_is_posted_through(home: Household) -> None:
    thread = await begun(home)
    home.discord.archive(thread)
    home.answers(says("Still here."))
    home.ann.says(thread, "are you there?")
    await home.shows(thread, "Still here.")
    assert len(await bound(home)) == 1


async def test_r20_nobody_in_a_server_that_is_not_listed_is_heard(home: Household) -> None:
    elsewhere = home.discord.new_guild("elsewhere")
    room = home.discord.room("lobby", guild=elsewhere)
    home.settings = home.settings.model_copy(update={"access": Access(unknown="requester")})
    await home.restart()
    pat = home.discord.member("pat", elsewhere)
    before = len(home.discord.calls())
    pat.mentions(room, "let me in")
    pat.says(None, "let me in")
    home.answers(says("Hello."))
    await home.shows(await home.asks(), "Hello.")
    assert [one.title for one in await home.service.store.read(cases.listing, System())] == ["the oven is off"]
    assert home.discord.posts(room) == []
    assert home.discord.posts(home.discord.direct(pat)) == []
    assert len(home.discord.calls()) > before


async def test_a_direct_message_is_a_case_and_what_follows_belongs_to_it(home: Household) -> None:
    home.answers(says("The fuse is out."), says("Now it is in."))
    home.ann.says(None, "the oven is off")
    place = home.discord.direct(home.ann)
    await home.shows(place, "The fuse is out.")
    home.ann.says(None, "still off")
    await home.shows(place, "Now it is in.")
    assert (await home.only_case()).title == "the oven is off"


async def test_an_edit_and_a_deletion_follow_what_we_hold(home: Household) -> None:
    thread = await begun(home)
    home.answers(says("I see."))
    said = home.ann.says(thread, "my password is hunter2")
    await home.shows(thread, "I see.")
    home.ann.edits(said, "my password is none of your business")

    async def held(text: str) -> bool:
        found = await home.service.store.read(lambda tx: tx.column("SELECT body FROM messages"))
        return any(text in str(body) for body in found)

    async def changed() -> bool:
        return await held("none of your business")

    async def taken_away() -> bool:
        return not await held("none of your business")

    await home.until_so(changed)
    home.ann.deletes(said)
    await home.until_so(taken_away)


async def test_another_bot_is_not_heard_and_talk_in_a_room_opens_nothing(home: Household) -> None:
    home.settings = home.settings.model_copy(update={"access": Access(unknown="requester")})
    await home.restart()
    other = home.discord.other_bot("otto")
    other.mentions(home.kitchen, "ping")
    home.ann.says(home.kitchen, "what a day")
    home.answers(says("Hello."))
    await home.shows(await home.asks(), "Hello.")
    assert [one.title for one in await home.service.store.read(cases.listing, System())] == ["the oven is off"]


@pytest.mark.parametrize("listed", [True, False])
async def test_where_rooms_are_listed_a_mention_counts_only_there(home: Household, listed: bool) -> None:
    other = home.discord.room("garden")
    rooms = (home.kitchen.id if listed else other.id,)
    discord = home.settings.discord.model_copy(update={"rooms": rooms})
    home.settings = home.settings.model_copy(update={"discord": discord})
    await home.restart()
    home.answers(says("Hello."))
    home.ann.mentions(home.kitchen, "the oven is off")
    home.ann.mentions(other, "the hose leaks")
    thread = (await home.discord.threads(home.kitchen if listed else other))[0]
    await home.shows(thread, "Hello.")
    titles = [one.title for one in await home.service.store.read(cases.listing, System())]
    assert titles == ["the oven is off" if listed else "the hose leaks"]


@pytest.mark.parametrize(
    "trouble", [{"status": 200, "body": "<html>Sign in</html>"}, {"status": 403, "body": "<html>No entry</html>"}]
)
async def test_who_writes_while_discord_cannot_say_who_that_is_is_heard_once_it_can_in_order(
    home: Household, trouble: dict[str, Any]
) -> None:
    """Discord tells of a message once: to pass it over because of a lookup would lose it (R29)."""
    home.answers(says("The fuse is out."), says("Now it is in."))
    home.discord.fail_next("get_guild_member", **trouble)
    home.ann.says(None, "the oven is off")
    home.ann.says(None, "still off")
    place = home.discord.direct(home.ann)
    await home.shows(place, "The fuse is out.")
    await home.shows(place, "Now it is in.")
    assert (await home.only_case()).title == "the oven is off"
