"""Commands, and the menu of a message."""

from __future__ import annotations

import pytest

from bot.settings import Access
from casestore import cases, leases
from casestore.scope import System
from casestore.states import LeaseKind
from tests.discord.household import Household
from tests.discord.reading import read
from tests.loop.scripted import says


async def test_a_case_that_is_opened_by_a_command_begins_a_thread(home: Household) -> None:
    home.answers(says("On it."))
    await home.discord.answered(home.ann.runs("case open", where=home.kitchen, text="the oven is off"))
    await home.whispered(home.ann, "C-1001 is open")
    (thread,) = await home.discord.threads(home.kitchen)
    await home.shows(thread, "On it.")
    assert thread.name.startswith("C-1001 ")
    assert home.ann.id in thread.members


async def test_commands_are_answered_to_their_author_alone_by_who_they_are(home: Household) -> None:
    home.answers(says("Hello."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    home.ann.runs("case mine", where=home.kitchen)
    await home.whispered(home.ann, "the oven is off")
    home.mallory.runs("case list", where=home.kitchen)
    await home.whispered(home.mallory, "I do not know you")
    home.ann.runs("case take", where=thread, text="C-1001")
    await home.whispered(home.ann, "operator")
    home.kim.runs("gate list", where=home.kitchen)
    await home.whispered(home.kim, "Nothing waits for a decision.")
    assert [read(said) for said in home.discord.posts(thread)] == ["Hello."]


async def test_an_operator_takes_a_case_over_and_hands_it_back_in_its_thread(home: Household) -> None:
    home.answers(says("Hello."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    case = await home.only_case()
    await home.discord.answered(home.kim.runs("case take", where=thread, text="C-1001"))

    async def kind(of: LeaseKind) -> bool:
        return (await home.service.store.read(leases.of_case, case.id)).kind is of

    await home.until_so(lambda: kind(LeaseKind.HUMAN))
    await home.discord.answered(home.kim.runs("case release", where=thread, text="C-1001"))
    await home.whispered(home.kim, "the assistant's again")


async def test_the_menu_of_a_message_opens_one_case_on_it_however_often_it_is_used(home: Household) -> None:
    home.answers(says("I see."))
    said = home.mallory.says(home.kitchen, "the tap drips")
    await home.discord.answered(home.ann.uses("Open a case", said))
    await home.whispered(home.ann, "C-1001 is open on that message. Its thread begins there in a moment.")
    (thread,) = await home.discord.threads(home.kitchen)
    await home.shows(thread, "I see.")
    await home.discord.answered(home.ann.uses("Open a case", said))
    assert len(await home.service.store.read(cases.listing, System())) == 1
    assert len(home.discord.world.threads_of(home.kitchen)) == 1


async def test_an_operator_binds_a_case_to_a_second_thread_and_each_is_answered_in(home: Household) -> None:
    home.answers(says("Hello."), says("Other."), says("To the second."))
    first = await home.asks("the oven is off")
    await home.shows(first, "Hello.")
    second = await home.asks("the tap drips")
    await home.shows(second, "Other.")
    await home.discord.answered(home.kim.runs("case unbind", where=second))
    await home.whispered(home.kim, "C-1002")
    home.kim.runs("case bind", where=second, text="C-1001")
    await home.whispered(home.kim, "C-1001")
    home.ann.says(second, "well?")
    await home.shows(second, "To the second.")
    home.answers(says("To the first."))
    home.ann.says(first, "and here?")
    await home.shows(first, "To the first.")
    assert [read(said) for said in home.discord.posts(first)] == ["Hello.", "To the first."]


@pytest.mark.parametrize(
    ("calls_themselves", "shown"),
    [
        ("ann", "Ann"),
        ("kim\u202e approved by", "Kim_Approved_By"),
        ("\u200b", "discord-"),
        ("kim@discord", "Kim_Discord"),
    ],
)
async def test_who_is_let_in_is_shown_by_the_name_they_use_and_by_what_nobody_else_has(
    home: Household, calls_themselves: str, shown: str
) -> None:
    """A name on the platform is for people to read; two with the same one are two (R20)."""
    home.settings = home.settings.model_copy(update={"access": Access(unknown="requester")})
    await home.restart()
    home.answers(says("On it."), says("On it."))
    names: set[str] = set()
    for number in (1, 2):
        pat = home.discord.member(calls_themselves)
        await home.discord.answered(pat.runs("case open", where=home.kitchen, text=f"{number}. the oven is off"))
        thread = (await home.discord.threads(home.kitchen, number))[-1]
        opened = await home.shows(thread, "opened by ")
        names.add(read(opened).partition("opened by ")[2].rstrip(")"))
    assert len(names) == 2
    for name in names:
        assert name.startswith(shown if shown.endswith("-") else f"{shown}@discord-")
