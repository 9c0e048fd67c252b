"""A room for those who approve: each gate is asked there too, and both cards come to show the same (R28)."""

import pytest

from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read
from tests.wire.slack.rooms import Room


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
    await office.until(lambda: buttons(card) == buttons(copy) == [] or None, "two cards without buttons")
    assert read(copy) == read(card)
    assert office.effects.made == ["restart shop"]
    assert len(office.slack.posts(desk)) == 1


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
