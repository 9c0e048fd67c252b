"""A thread that is lost is told of once, elsewhere; the case lives on, and comes back with its requester (R3)."""

from __future__ import annotations

import pytest

from casestore import bindings, cases, outbox, trail
from casestore.models import Case
from casestore.scope import System
from casestore.states import CaseState, GateState
from tests.discord.household import Household
from tests.discord.reading import buttons, read
from tests.loop.scripted import Held, Waits, calls, says
from tests.wire.discord.guilds import Guild
from tests.wire.discord.messages import Message
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Room, Thread

RESTART = calls(("svc.restart", {"service": "oven"}))
LOSSES = ["deleted", "locked", "room deleted"]


def lose(home: Household, thread: Thread, loss: str) -> None:
    """Take it away."""
    match loss:
        case "deleted":
            home.discord.delete_thread(thread)
        case "locked":
            home.discord.lock(thread)
        case _:
            home.discord.delete_room(home.kitchen)


async def begun(home: Household, text: str = "the oven is off") -> Thread:
    """A thread with a case in it, to which the assistant has spoken."""
    home.answers(says("Hello."))
    thread = await home.asks(text)
    await home.shows(thread, "Hello.")
    return thread


async def with_desk(home: Household, *, elsewhere: bool = False) -> Room:
    """An operators' room, which the settings name from now on; `elsewhere`: in another server of ours."""
    guild = home.discord.new_guild("office") if elsewhere else home.discord.guild
    if elsewhere:
        guild.add(home.kim.person)
    desk = home.discord.room("desk", guild=guild)
    guilds = [guild.id, home.discord.guild.id] if elsewhere else [guild.id]
    discord = home.settings.discord.model_copy(update={"operators_room": desk.id, "guilds": guilds})
    home.settings = home.settings.model_copy(update={"discord": discord})
    await home.restart()
    return desk


async def bound(home: Household) -> list[str]:
    """Where the first case is said to be."""
    return [one.address for one in await home.service.store.read(bindings.of_case, (await every_case(home))[0].id)]


async def every_case(home: Household) -> list[Case]:
    """All there are, the first one first."""
    return sorted(await home.service.store.read(cases.listing, System()), key=lambda case: case.id)


async def lost(home: Household) -> bool:
    """Whether the first case is bound nowhere, and everything that was to be said has been."""
    if await bound(home) != []:
        return False
    counts = await home.service.store.read(outbox.counts)
    return counts["due"] == counts["sending"] == 0


def notices(home: Household) -> list[Message]:
    """Everything that was said of a lost thread, wherever."""
    return [post for post in home.discord.posts() if "lost" in read(post)]


@pytest.mark.parametrize("loss", LOSSES)
async def test_who_asked_hears_of_a_lost_thread_once_and_alone(home: Household, loss: str) -> None:
    thread = await begun(home)
    lose(home, thread, loss)
    await home.until_so(lambda: lost(home))
    (notice,) = notices(home)
    assert notice.place is home.discord.direct(home.ann)
    assert read(notice).startswith("The thread of C-1001 is lost: ")
    assert (await home.only_case()).state is CaseState.IN_PROGRESS


async def test_a_kick_is_told_of_where_we_still_share_a_server_once_for_all_its_rooms(home: Household) -> None:
    desk = await with_desk(home, elsewhere=True)
    await begun(home)
    home.kitchen = home.discord.room("garden")
    await begun(home)
    home.discord.kick_bot(home.discord.guild)
    (notice,) = await home.discord.said(desk)
    await home.until_so(lambda: lost(home))
    assert read(notice).startswith("The threads of C-1001, C-1002 are lost: we were sent out of the server")
    assert notices(home) == [notice]


async def test_a_kick_is_not_told_of_in_a_room_of_that_server_but_to_who_asked_alone(home: Household) -> None:
    await with_desk(home)
    home.discord.new_guild("office").add(home.ann.person)
    await begun(home)
    home.discord.kick_bot(home.discord.guild)
    await home.until_so(lambda: lost(home))
    (notice,) = notices(home)
    assert notice.place is home.discord.direct(home.ann)


@pytest.mark.parametrize("loss", LOSSES)
async def test_with_an_operators_room_it_is_told_there_and_nowhere_else(home: Household, loss: str) -> None:
    desk = await with_desk(home)
    lose(home, await begun(home), loss)
    (notice,) = await home.discord.said(desk)
    await home.until_so(lambda: lost(home))
    assert notices(home) == [notice]


async def test_who_takes_no_direct_message_is_written_to_once_and_the_case_lives_on(home: Household) -> None:
    home.ann.person.accepts_direct = False
    lose(home, await begun(home), "deleted")
    await home.until_so(lambda: lost(home))
    assert notices(home) == []
    tried = len(home.discord.calls("create_message"))
    await home.service.delivery.deliver_due()
    assert len(home.discord.calls("create_message")) == tried
    assert (await home.only_case()).state is CaseState.IN_PROGRESS


async def test_who_was_bound_by_what_is_no_number_is_not_written_to_and_the_case_lives_on(home: Household) -> None:
    await home.speaks_too("ann#0001", home.ann, first=True)
    lose(home, await begun(home), "deleted")
    await home.until_so(lambda: lost(home))
    assert home.discord.calls("create_dm") == []
    assert (await home.only_case()).state is CaseState.IN_PROGRESS


async def test_an_archived_thread_is_no_lost_one_and_opens_when_something_is_said(home: Household) -> None:
    thread = await begun(home)
    held = Held()
    home.answers(Waits(held, says("Still here.")))
    home.ann.says(thread, "are you there?")
    await held.reached.wait()
    home.discord.archive(thread)
    held.release.set()
    await home.shows(thread, "Still here.")
    assert not thread.archived
    assert notices(home) == []
    assert len(await bound(home)) == 1


async def test_a_lock_leaves_nobody_out_who_may_manage_threads(home: Household) -> None:
    home.discord.grant(
        home.discord.guild, home.discord.bot, home.discord.role("keepers", May.MANAGE_THREADS)
    )  # fmt: skip
    thread = await begun(home)
    home.discord.archive(thread, locked=True)
    home.answers(says("Still here."))
    home.kim.mentions(thread, "are you there?")
    await home.shows(thread, "Still here.")
    assert notices(home) == []
    assert len(await bound(home)) == 1


@pytest.mark.parametrize("loss", LOSSES)
async def test_what_its_requester_answers_to_the_notice_goes_on_with_the_case(home: Household, loss: str) -> None:
    lose(home, await begun(home), loss)
    await home.until_so(lambda: lost(home))
    home.answers(says("Here now."), says("And still."))
    home.ann.says(None, "it is still off")
    await home.shows(home.discord.direct(home.ann), "Here now.")
    home.ann.says(None, "and now?")
    await home.shows(home.discord.direct(home.ann), "And still.")
    direct = home.discord.direct(home.ann).id
    assert await bound(home) == [f"discord:@me/{direct}/{direct}"]
    assert len(await every_case(home)) == 1


@pytest.mark.parametrize("loss", ["deleted", "locked"])
async def test_what_its_requester_asks_next_in_the_same_room_goes_on_with_the_case(home: Household, loss: str) -> None:
    old = await begun(home)
    lose(home, old, loss)
    await home.until_so(lambda: lost(home))
    home.answers(says("Here now."))
    home.ann.mentions(home.kitchen, "it is still off")
    post = await home.until(
        lambda: next((post for post in home.discord.posts() if read(post) == "Here now."), None), "an answer"
    )
    assert post.place is not old
    assert isinstance(post.place, Thread)
    assert post.place.name.startswith("C-1001 ")
    assert len(await every_case(home)) == 1


async def test_what_is_asked_in_another_room_or_by_somebody_else_is_another_case(home: Household) -> None:
    garden = home.discord.room("garden")
    lose(home, await begun(home), "deleted")
    await home.until_so(lambda: lost(home))
    home.answers(says("In the garden."), says("To kim."))
    home.ann.mentions(garden, "the hose leaks")
    await home.shows((await home.discord.threads(garden))[0], "In the garden.")
    await home.asks("the tap drips", by=home.kim)
    await home.until_so(lambda: three(home))
    assert await bound(home) == []


async def three(home: Household) -> bool:
    """Whether there are three cases."""
    return len(await every_case(home)) == 3


async def test_of_two_lost_cases_nobody_guesses_which_one_is_meant(home: Household) -> None:
    first, second = await begun(home), await begun(home, "the tap drips")
    for thread in (first, second):
        lose(home, thread, "deleted")
    await home.until_so(lambda: lost(home))
    home.answers(says("What is it?"))
    home.ann.says(None, "hello")
    await home.shows(home.discord.direct(home.ann), "What is it?")
    assert await three(home)


async def test_a_thread_that_is_unlocked_has_its_case_again_with_the_next_word(home: Household) -> None:
    home.answers(RESTART)
    thread = await home.asks()
    card = await home.card(thread)
    lose(home, thread, "locked")
    await home.until_so(lambda: lost(home))
    home.discord.lock(thread, locked=False)
    home.ann.says(thread, "we are back")
    await home.shows(thread, "Your message is stored in C-1001")
    assert len(await bound(home)) == 1
    kinds = [one.kind for one in await home.service.store.read(trail.read, System(), (await home.only_case()).id)]
    assert kinds.count("binding.lost") == 1
    again = await home.until(
        lambda: next((one for one in home.discord.posts(thread) if one is not card and buttons(one)), None), "a card"
    )
    home.answers(says("It is back."))
    await home.discord.answered(home.kim.presses(card, "Approve"))  # the one from before stands too
    await home.shows(thread, "It is back.")
    await home.until(lambda: buttons(card) == buttons(again) == [] or None, "two cards without buttons")
    assert (await home.gate()).state is GateState.APPROVED


async def invited_back(home: Household, guild: Guild, thread: Thread) -> None:
    """The bot is in the server again, and in the thread."""
    home.discord.invite_bot(guild)
    home.discord.put_in(thread, home.discord.bot, by=home.kim.person)


async def test_a_kick_while_the_model_answers_loses_the_answer_to_nobody(home: Household) -> None:
    thread = await begun(home)
    held = Held()
    home.answers(Waits(held, says("The fuse is out.")))
    home.ann.says(thread, "what is it?")
    await held.reached.wait()
    home.discord.kick_bot(home.discord.guild)
    await home.until_so(lambda: lost(home))
    held.release.set()
    await invited_back(home, home.discord.guild, thread)
    home.answers(says("As I said: the fuse."))
    home.ann.says(thread, "well?")
    await home.shows(thread, "As I said: the fuse.")
    assert "The fuse is out." in str(home.model.sent[-1])
    assert len(await every_case(home)) == 1


async def test_a_kick_while_a_gate_is_open_decides_nothing_and_it_is_asked_again_once_we_are_back(
    home: Household,
) -> None:
    home.answers(RESTART)
    thread = await home.asks()
    card = await home.card(thread)
    home.discord.kick_bot(home.discord.guild)
    await home.until_so(lambda: lost(home))
    assert (await home.gate()).state is GateState.OPEN
    await invited_back(home, home.discord.guild, thread)
    home.ann.says(thread, "we are back")
    again = await home.until(
        lambda: next((one for one in home.discord.posts(thread) if one is not card and buttons(one)), None), "a card"
    )
    home.answers(says("It is back."))
    await home.discord.answered(home.kim.presses(again, "Approve"))
    await home.shows(thread, "It is back.")
    assert home.effects.made == ["restart oven"]


async def test_whoever_invites_us_back_has_our_commands_again(home: Household) -> None:
    guild = home.discord.guild
    home.discord.kick_bot(guild)
    home.discord.world.commands.pop(guild.id)  # which Discord takes away with the application
    home.discord.invite_bot(guild)
    await home.until(lambda: home.discord.world.commands.get(guild.id), "commands")
    await home.discord.answered(home.kim.runs("gate list", where=home.kitchen))
    await home.whispered(home.kim, "Nothing waits for a decision.")
