"""What the assistant hands to an operator is said where an operator hears of it."""

from __future__ import annotations

import pytest

from bot.alerts import intake
from casestore import outbox
from casestore.states import OutboxKind, WaitingOn
from tests.alerts.notifications import alert, group
from tests.discord.household import Household
from tests.discord.reading import read
from tests.playbook.runbooks import restarting
from tests.wire.discord.places import Place, Room


@pytest.fixture
async def desk(home: Household) -> Room:
    """The operators' room; there is no model, and a runbook instead."""
    room = home.discord.room("operators")
    discord = home.settings.discord.model_copy(update={"operators_room": room.id})
    home.settings = home.settings.model_copy(update={"discord": discord})
    home.works_by = restarting()
    await home.restart()
    return room


async def sent_back(home: Household, place: Place) -> None:
    """Kim sends back for revision what is asked there."""
    await home.discord.answered(home.kim.presses(await home.card(place), "Revise…"))
    modal = await home.until(lambda: home.kim.modal, "a modal")
    await home.discord.answered(home.kim.submits(modal, reason="unplug it first"))


async def test_what_a_runbook_cannot_revise_is_said_to_be_an_operators_in_the_thread(
    home: Household, desk: Room
) -> None:
    thread = await home.asks("the oven is off")
    await sent_back(home, thread)
    said = await home.shows(thread, "I am handing C-1001 to an operator: the oven was not restarted")
    assert "unplug it first" in read(said)
    case = await home.only_case()
    assert case.waiting_on is WaitingOn.OPERATOR
    rows = await home.service.store.read(outbox.of_case, case.id)
    assert [row.body for row in rows if row.address.endswith(desk.id) and row.kind is OutboxKind.MESSAGE] == []


async def test_what_a_runbook_cannot_revise_is_said_in_the_operators_room_where_the_case_has_no_thread(
    home: Household, desk: Room
) -> None:
    cold = group(alert("oven", labels={"alertname": "OvenCold"}))
    await home.service.store.write(intake.receive, home.clock.now(), cold, home.service.settings, None)
    home.service.engine.wake()
    await sent_back(home, desk)
    said = await home.shows(desk, "C-1001 waits for an operator")
    assert "unplug it first" in read(said)
    assert "/case take C-1001" in read(said)
    assert (await home.only_case()).waiting_on is WaitingOn.OPERATOR
