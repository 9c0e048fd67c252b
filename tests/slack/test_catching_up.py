"""What was said to us directly while nobody listened is read at the next start, each message once (R29)."""

from __future__ import annotations

import pytest

from bot.people import binding, closing
from casestore import cases, messages, positions, principals
from casestore.models import CaseId
from casestore.scope import System
from casestore.states import Direction
from casestore.tx import Tx
from tests.loop.scripted import says
from tests.slack.office import Office


async def heard(office: Office) -> dict[str, list[str]]:
    """What people said, by the title of the case."""
    found: dict[str, list[str]] = {}
    for case in sorted(await office.service.store.read(cases.listing, System()), key=lambda case: case.number):
        said = await office.service.store.read(messages.of_case, System(), case.id)
        found[case.title] = [message.text for message in said if message.direction is Direction.IN]
    return found


async def spoken_once(office: Office) -> None:
    """ann has written to us once, and was answered."""
    office.answers(says("Hello."))
    said = await office.ann.says(None, "first")
    await office.shows(said.message, "Hello.")


async def test_a_direct_message_of_the_time_between_begins_a_case_and_its_thread_is_read_too(office: Office) -> None:
    await spoken_once(office)
    await office.close()
    second = office.ann.writes(None, "second")
    office.ann.writes(None, "and more of it", thread=second)
    third = office.ann.writes(None, "third")
    office.answers(says("Two."), says("Three."))
    await office.open()
    await office.shows(third, "Three.")
    await office.shows(second, "Two.")
    said = {"first": ["first"], "second": ["second", "and more of it"], "third": ["third"]}
    assert await heard(office) == said
    await office.restart()
    assert await heard(office) == said


async def test_what_stands_there_from_before_we_were_spoken_to_is_left_alone(office: Office) -> None:
    office.ann.writes(None, "years ago")
    await spoken_once(office)
    await office.restart()
    assert await heard(office) == {"first": ["first"]}


async def test_the_place_moves_over_what_is_stored_and_not_with_what_arrives(office: Office) -> None:
    """R29: what was missed before a message that came would be passed by."""
    await spoken_once(office)
    room = f"slack:{office.slack.team}/{office.slack.direct(office.ann).id}"
    began = await office.service.store.read(positions.of, room)
    office.answers(says("Again."))
    later = await office.ann.says(None, "second")
    await office.shows(later.message, "Again.")
    assert await office.service.store.read(positions.of, room) == began
    await office.restart()
    assert await office.service.store.read(positions.of, room) == later.message.ts


async def test_a_conversation_that_cannot_be_read_now_is_read_at_the_next_start(office: Office) -> None:
    await spoken_once(office)
    await office.close()
    office.ann.writes(None, "second")
    office.slack.fail_next("conversations.history", error="internal_error", times=None)
    await office.open()
    assert await heard(office) == {"first": ["first"]}
    office.slack.heal("conversations.history")
    office.answers(says("Two."))
    await office.restart()
    assert await heard(office) == {"first": ["first"], "second": ["second"]}


async def test_rooms_are_not_read_for_what_nobody_said_to_us(office: Office) -> None:
    office.answers(says("Hello."))
    await office.shows(await office.asks(), "Hello.")
    await office.close()
    office.ann.writes(office.ops, f"<@{office.slack.bot.id}> and nobody listened")
    await office.open()
    assert office.slack.calls("conversations.history") == []

    def places(tx: Tx) -> list[str]:
        return [place for place in positions.on(tx, "slack") if place.count("/") == 1]

    assert await office.service.store.read(places) == []


async def test_a_command_that_was_typed_in_a_thread_is_no_message_of_it_later_either(office: Office) -> None:
    office.answers(says("Hello."))
    thread = await office.asks("hi")
    await office.shows(thread, "Hello.")
    await office.kim.mentions(office.ops, "/case resolve C-1001", thread=thread)
    await office.whispered(office.kim, "C-1001 is resolved")
    await office.restart()
    assert await heard(office) == {"hi": ["hi"]}
    assert (await office.only_case()).state == "resolved"


async def test_what_people_had_said_to_each_other_before_we_were_called_is_left_alone(office: Office) -> None:
    thread = office.ann.writes(office.ops, "lunch?")
    office.kim.writes(office.ops, "in a minute", thread=thread)
    office.answers(says("Hello."))
    called = await office.ann.mentions(office.ops, "and what is on the menu?", thread=thread)
    await office.shows(called.message, "Hello.")
    await office.restart()
    assert await heard(office) == {"and what is on the menu?": ["and what is on the menu?"]}


async def test_in_a_thread_that_a_case_was_bound_to_by_a_command_what_stood_there_before_is_left_alone(
    office: Office,
) -> None:
    office.answers(says("Hello."))
    await office.shows(await office.asks("hi"), "Hello.")
    thread = office.ann.writes(office.ops, "lunch?")
    office.ann.writes(office.ops, "anybody?", thread=thread)
    await office.kim.mentions(office.ops, "/case bind C-1001", thread=thread)
    await office.whispered(office.kim, "C-1001 is bound to this thread too.")
    await office.close()
    office.ann.writes(office.ops, "and now?", thread=thread)
    office.answers(says("I have read it."))
    await office.open()
    await office.shows(thread, "I have read it.")
    assert await heard(office) == {"hi": ["hi", "and now?"]}


async def test_in_a_thread_that_a_command_opened_a_case_in_what_stood_there_before_is_left_alone(
    office: Office,
) -> None:
    thread = office.ann.writes(office.ops, "lunch?")
    office.kim.writes(office.ops, "in a minute", thread=thread)
    office.answers(says("Hello."))
    await office.kim.mentions(office.ops, "/case open the shop is down", thread=thread)
    await office.shows(thread, "Hello.")
    await office.close()
    office.ann.writes(office.ops, "and now?", thread=thread)
    office.answers(says("I have read it."))
    await office.open()
    await office.shows(thread, "I have read it.")
    assert await heard(office) == {"the shop is down": ["the shop is down", "and now?"]}


async def test_in_a_thread_that_a_case_was_bound_to_from_outside_what_stood_there_before_is_left_alone(
    office: Office,
) -> None:
    """`casebound case bind`, which has no channel; and a thread that another case was once read in."""
    office.answers(says("Hello."))
    first = await office.asks("hi")
    await office.shows(first, "Hello.")
    at = f"slack:{office.slack.team}/{office.ops.id}/{first.ts}"
    await office.kim.mentions(office.ops, "/case unbind C-1001", thread=first)
    await office.whispered(office.kim, "C-1001 is not bound to this thread any more.")
    office.ann.writes(office.ops, "lunch?", thread=first)
    await office.slack.advance(10)
    office.clock.ms = int(office.slack.clock.now() * 1_000)
    await office.service.store.write(_bind, office.clock.now(), at, office.kim.id)
    await office.close()
    await office.slack.advance(10)
    office.ann.writes(office.ops, "and now?", thread=first)
    office.answers(says("I have read it."))
    await office.open()
    await office.shows(first, "I have read it.")
    assert await heard(office) == {"hi": ["hi", "and now?"]}


def _bind(tx: Tx, now: int, address: str, account_id: str) -> None:
    (case,) = cases.listing(tx, System())
    by = principals.by_account(tx, "slack", address.removeprefix("slack:").partition("/")[0], account_id)
    assert by is not None
    binding.bind(tx, now, case, address, by)


async def test_the_thread_of_a_case_that_ended_long_ago_is_not_read_any_more(office: Office) -> None:
    office.answers(says("Hello."), says("Again."))
    old = await office.asks("old")
    await office.shows(old, "Hello.")
    case = await office.only_case()
    new = await office.asks("new")
    await office.shows(new, "Again.")
    await office.service.store.write(_close, office.clock.now(), case.id)
    office.clock.ms += 31 * 24 * 3_600_000
    await office.close()
    before = len(office.slack.calls("conversations.replies"))
    await office.open()
    assert [call.args["ts"] for call in office.slack.calls("conversations.replies")[before:]] == [new.ts]


def _close(tx: Tx, now: int, case_id: CaseId) -> None:
    closing.close(tx, now, cases.by_id(tx, case_id), by="test", why="done")


async def test_a_conversation_that_cannot_be_read_keeps_no_thread_from_being_read(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.inbound.catching_up._FIRST_WAIT_S", 0.01)
    monkeypatch.setattr("bot.inbound.catching_up._LONGEST_WAIT_S", 0.02)
    await spoken_once(office)
    office.answers(says("Hello."))
    asked = await office.asks("in a room")
    await office.shows(asked, "Hello.")
    await office.close()
    office.ann.writes(None, "second")
    office.ann.writes(office.ops, "and more", thread=asked)
    office.slack.fail_next("conversations.history", status=500, times=None)
    office.answers(says("I have read it."))
    await office.open()
    await office.shows(asked, "I have read it.")
    assert (await heard(office))["in a room"] == ["in a room", "and more"]
