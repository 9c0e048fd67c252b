"""From a mention to a decision, in a thread of Discord's."""

from __future__ import annotations

import pytest

from casestore import bindings, messages
from casestore.scope import System
from casestore.states import CaseState, Direction
from tests.discord.household import Household
from tests.discord.reading import buttons, read
from tests.loop.scripted import calls, says
from tests.wire.discord.places import Kind


async def test_a_mention_opens_a_case_in_a_private_thread_with_whoever_asked(home: Household) -> None:
    home.answers(says("The fuse is out."), says("It is back in."))
    thread = await home.asks("the oven is off")
    await home.shows(thread, "The fuse is out.")
    assert thread.kind is Kind.PRIVATE_THREAD
    assert thread.name == "C-1001 the oven is off"
    assert home.ann.id in thread.members
    case = await home.only_case()
    (bound,) = await home.service.store.read(bindings.of_case, case.id)
    assert bound.address == f"discord:{home.discord.guild.id}/{home.kitchen.id}/{thread.id}"
    home.ann.says(thread, "and now?")
    await home.shows(thread, "It is back in.")
    said = await home.service.store.read(messages.of_case, System(), case.id)
    assert [one.text for one in said if one.direction is Direction.IN] == ["the oven is off", "and now?"]
    assert (await home.only_case()).state is CaseState.IN_PROGRESS


@pytest.mark.parametrize("written", ["ann", "ann#0001", "12e3", "\u0663\u0664", str(1 << 64)])
async def test_an_account_that_is_no_number_keeps_nobody_out_of_the_thread(home: Household, written: str) -> None:
    """A database from before accounts were checked may hold one."""
    await home.speaks_too(written, home.ann, first=True)
    home.answers(says("The fuse is out."))
    thread = await home.asks("the oven is off")
    await home.shows(thread, "The fuse is out.")
    assert home.ann.id in thread.members
    assert len(home.discord.calls("add_thread_member")) == 1


async def test_what_is_consequential_waits_for_an_operator_and_then_runs(home: Household) -> None:
    home.answers(calls(("svc.restart", {"service": "oven"})), says("It is warm."))
    thread = await home.asks("the oven is off")
    card = await home.card(thread)
    assert home.effects.made == []
    await home.discord.answered(home.kim.presses(card, "Approve"))
    await home.shows(thread, "It is warm.")
    assert home.effects.made == ["restart oven"]
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")
    assert "Approved by kim via Discord" in read(card)
