"""A thread or a room that is lost ends a binding and no case; it is told of once elsewhere, and may come back (R3)."""

from __future__ import annotations

import pytest

from casestore import bindings, cases, trail
from casestore.models import Case
from casestore.scope import System
from casestore.states import CaseState, GateState
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read
from tests.slack.test_copies_of_a_card import nothing_due
from tests.wire.slack.rooms import Message, Room

RESTART = calls(("svc.restart", {"service": "shop"}))


async def desk_of(office: Office) -> Room:
    """A room for approvals, which the settings name from now on."""
    room = office.slack.room("approvals", office.kim, office.lee)
    slack = office.settings.slack.model_copy(update={"approvals_room": room.id})
    office.settings = office.settings.model_copy(update={"slack": slack})
    await office.restart()
    await office.slack.connected()
    return room


async def answered(office: Office) -> Message:
    """A thread with a case in it, to which the assistant has spoken."""
    office.answers(says("Hello."))
    thread = await office.asks("hi")
    await office.shows(thread, "Hello.")
    return thread


async def lost(office: Office) -> bool:
    """Whether the case is bound nowhere, and everything that was to be said has been."""
    case = await office.only_case()
    return await office.service.store.read(bindings.of_case, case.id) == [] and await nothing_due(office)


async def every_case(office: Office) -> list[Case]:
    return await office.service.store.read(cases.listing, System())


@pytest.mark.parametrize("loss", ["archive", "delete_room", "remove_bot"])
async def test_who_asked_hears_of_a_lost_room_once_and_alone(office: Office, loss: str) -> None:
    await answered(office)
    await getattr(office.slack, loss)(office.ops)
    await office.until_so(lambda: lost(office))
    (notice,) = await office.slack.said(office.slack.direct(office.ann))
    assert read(notice).startswith("The thread of C-1001 is lost: channel ")
    assert (await office.only_case()).state is CaseState.IN_PROGRESS
    assert [post for post in office.slack.posts() if "lost" in read(post)] == [notice]


@pytest.mark.parametrize("loss", ["archive", "remove_bot"])
async def test_with_a_room_for_approvals_it_is_told_there_for_all_its_cases_at_once(office: Office, loss: str) -> None:
    desk = await desk_of(office)
    await answered(office)
    await answered(office)
    await getattr(office.slack, loss)(office.ops)
    (notice,) = await office.slack.said(desk)
    assert read(notice).startswith("The threads of C-1001, C-1002 are lost: channel ")
    await office.until_so(lambda: nothing_due(office))
    assert office.slack.posts(desk) == [notice]
    assert office.slack.posts(office.slack.direct(office.ann)) == []


async def test_a_thread_whose_root_is_deleted_goes_on_while_something_stands_in_it(office: Office) -> None:
    thread = await answered(office)
    await office.ann.deletes(thread)
    office.answers(says("Still here."))
    await office.ann.says(office.ops, "and now?", thread=thread)
    await office.shows(thread, "Still here.")
    assert len(await every_case(office)) == 1


async def test_a_thread_of_which_nothing_stands_is_lost_at_the_next_word_and_the_gate_is_decided_elsewhere(
    office: Office,
) -> None:
    desk = await desk_of(office)
    office.answers(RESTART, says("It is back."))
    thread = await office.asks()
    card = await office.card(thread)
    copy = (await office.slack.said(desk))[0]
    for said in (thread, card):
        await office.kim.deletes(said)
    await office.kim.presses(copy, "gate_approve")
    await office.until(lambda: "Ran " in read(copy), "what came of it")
    await office.until_so(lambda: lost(office))
    notice = next(post for post in office.slack.posts(desk) if "lost" in read(post))
    assert "The thread of C-1001 is lost: thread not found" in read(notice)
    assert office.effects.made == ["restart shop"]
    posted = len(office.slack.calls("chat.postMessage"))
    await office.service.delivery.deliver_due()
    assert len(office.slack.calls("chat.postMessage")) == posted


@pytest.mark.parametrize("loss", ["archive", "remove_bot"])
async def test_once_the_room_is_back_the_requesters_next_word_is_in_the_same_case(office: Office, loss: str) -> None:
    office.answers(RESTART)
    thread = await office.asks()
    card = await office.card(thread)
    await getattr(office.slack, loss)(office.ops)
    await office.until_so(lambda: lost(office))
    office.ops.archived = False
    office.slack.add_bot(office.ops)
    await office.ann.says(office.ops, "we are back", thread=thread)
    await office.shows(thread, "Your message is stored in C-1001")
    case = await office.only_case()
    (bound,) = await office.service.store.read(bindings.of_case, case.id)
    assert bound.address.endswith(f"/{office.ops.id}/{thread.ts}")
    kinds = [entry.kind for entry in await office.service.store.read(trail.read, System(), case.id)]
    assert [kind for kind in kinds if kind.startswith("binding.")] == ["binding.bound", "binding.lost", "binding.bound"]
    again = await office.until(lambda: next((c for c in office.slack.posts(thread)[1:] if buttons(c)), None), "a card")
    office.answers(says("It is back."))
    await office.kim.presses(card, "gate_approve")  # the one from before stands too
    await office.shows(thread, "It is back.")
    await office.until(lambda: buttons(card) == buttons(again) == [] or None, "two cards without buttons")
    assert (await office.gate()).state is GateState.APPROVED


async def test_what_a_bystander_says_in_passing_in_a_thread_that_is_back_is_nobodys(office: Office) -> None:
    await office.let_strangers_in("requester")
    thread = await answered(office)
    await office.slack.archive(office.ops)
    await office.until_so(lambda: lost(office))
    office.ops.archived = False
    for delivery in (await office.mallory.says(office.ops, "nice weather", thread=thread)).deliveries:
        await office.slack.acked(delivery)
    assert await lost(office)
    office.answers(says("Here again."))
    await office.mallory.mentions(office.ops, "are you there?", thread=thread)
    await office.shows(thread, "Here again.")
    assert len(await every_case(office)) == 1


async def test_a_thread_that_an_operator_let_go_of_does_not_come_back_by_itself(office: Office) -> None:
    thread = await answered(office)
    (bound,) = await office.service.store.read(bindings.of_case, (await office.only_case()).id)
    await office.service.store.write(bindings.unbind, 1, bound.address, actor="test")
    await office.slack.acked(*(await office.ann.says(office.ops, "hello?", thread=thread)).deliveries)
    assert await lost(office)
    office.answers(says("A new one."))
    await office.ann.mentions(office.ops, "hello?", thread=thread)
    await office.shows(thread, "A new one.")
    assert len(await every_case(office)) == 2


async def test_a_case_that_is_over_is_not_told_of_and_does_not_come_back(office: Office) -> None:
    thread = await answered(office)
    await office.kim.runs("/case", "resolve C-1001", room=office.ops)
    await office.until_so(lambda: resolved(office))
    await office.slack.archive(office.ops)
    await office.until_so(lambda: lost(office))
    assert office.slack.posts(office.slack.direct(office.ann)) == []
    assert thread.root == thread.ts


async def resolved(office: Office) -> bool:
    return (await office.only_case()).state is CaseState.RESOLVED
