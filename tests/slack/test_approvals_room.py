"""A room for those who approve: each gate is asked there too, and both cards come to show the same (R28)."""

import pytest

from bot import schedule
from casestore import gates, outbox
from casestore.scope import System
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read
from tests.wire.slack.rooms import Room

HOUR = 3_600_000


@pytest.fixture
async def desk(office: Office) -> Room:
    """The room, which the settings name from now on."""
    room = office.slack.room("approvals", office.kim, office.lee)
    slack = office.settings.slack.model_copy(update={"approvals_room": room.id})
    office.settings = office.settings.model_copy(update={"slack": slack})
    await office.restart()
    await office.slack.connected()
    return room


async def test_what_is_approved_in_the_room_closes_the_card_in_the_thread_too(office: Office, desk: Room) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), says("It is back."))
    thread = await office.asks()
    card = await office.card(thread)
    copy = await office.until(lambda: next(iter(office.slack.posts(desk)), None), "a card in the room")
    assert copy.thread_ts is None
    assert read(copy) == read(card)

    await office.kim.presses(copy, "gate_approve")
    await office.shows(thread, "It is back.")
    await office.until(lambda: "Ran " in read(card) and "Ran " in read(copy), "what came of it, on both")
    assert buttons(card) == buttons(copy) == []
    assert read(copy) == read(card)
    assert office.effects.made == ["restart shop"]
    assert len(office.slack.posts(desk)) == 1


async def test_a_reminder_comes_to_the_room_too_once_each_and_not_for_what_is_not_asked_there(
    office: Office, desk: Room
) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), calls(("diary", {"of": "ann"})))
    thread = await office.asks()
    await office.card(thread)
    await office.until(lambda: office.slack.posts(desk) or None, "a card in the room")
    private = await office.asks("read my diary")
    await office.card(private)
    office.clock.ms += 13 * HOUR  # past half of a day
    store, settings = office.service.store, office.service.settings
    for _ in range(2):
        await store.write(schedule.remind, office.clock.now(), settings, None)
    office.service.delivery.wake()
    await office.shows(thread, "Still waiting in C-1001")
    await office.shows(private, "Still waiting in C-1002")
    reminder = await office.until(lambda: office.slack.posts(desk)[1:] or None, "a reminder in the room")
    assert [read(one).startswith("Still waiting in C-1001 for an operator") for one in reminder] == [True]
    case = (await store.read(gates.listing, System(), only_open=True))[0].case_id
    said = [row.address for row in await store.read(outbox.of_case, case) if (row.body or "").startswith("Still")]
    assert sorted(said) == sorted({*said}), "once in each place"
    assert len(said) == 2


async def test_what_only_the_requester_may_allow_is_not_asked_in_the_room(office: Office, desk: Room) -> None:
    office.answers(calls(("diary", {"of": "ann"})), says("I have read it."))
    thread = await office.asks()
    await office.ann.presses(await office.card(thread), "gate_approve")
    await office.shows(thread, "I have read it.")
    assert office.slack.posts(desk) == []


async def test_a_room_that_is_gone_keeps_no_gate_from_being_decided(office: Office, desk: Room) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), says("It is back."))
    await office.slack.archive(desk)
    thread = await office.asks()
    await office.kim.presses(await office.card(thread), "gate_approve")
    await office.shows(thread, "It is back.")
    assert office.effects.made == ["restart shop"]
