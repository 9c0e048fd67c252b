"""What the assistant hands to an operator is said where an operator hears of it."""

import pytest

from bot.alerts import intake
from casestore import outbox
from casestore.states import OutboxKind, WaitingOn
from tests.alerts.notifications import alert, group
from tests.playbook.runbooks import restarting
from tests.slack.office import Office
from tests.slack.reading import buttons, read
from tests.wire.slack.rooms import Message, Room


@pytest.fixture
async def desk(office: Office) -> Room:
    """The room of those who approve; there is no model, and a runbook instead."""
    room = office.slack.room("approvals", office.kim, office.lee)
    slack = office.settings.slack.model_copy(update={"approvals_room": room.id})
    office.settings = office.settings.model_copy(update={"slack": slack})
    office.works_by = restarting()
    await office.restart()
    await office.slack.connected()
    return room


async def sent_back(office: Office, card: Message) -> None:
    """Kim sends back for revision what is asked there."""
    await office.kim.presses(card, "gate_revise")
    await office.kim.submits(await office.modal(office.kim), reason="unplug it first")


async def test_what_a_runbook_cannot_revise_is_said_to_be_an_operators_in_the_thread(
    office: Office, desk: Room
) -> None:
    thread = await office.asks("the oven is off")
    await sent_back(office, await office.card(thread))
    said = await office.shows(thread, "I am handing C-1001 to an operator: the oven was not restarted")
    assert "unplug it first" in read(said)
    case = await office.only_case()
    assert case.waiting_on is WaitingOn.OPERATOR
    rows = await office.service.store.read(outbox.of_case, case.id)
    assert [row.body for row in rows if row.address.endswith(desk.id) and row.kind is OutboxKind.MESSAGE] == []


async def test_what_a_runbook_cannot_revise_is_said_in_the_approvals_room_where_the_case_has_no_thread(
    office: Office, desk: Room
) -> None:
    cold = group(alert("oven", labels={"alertname": "OvenCold"}))
    await office.service.store.write(intake.receive, office.clock.now(), cold, office.service.settings, None)
    office.service.engine.wake()
    card = await office.until(lambda: next(filter(buttons, office.slack.posts(desk)), None), "a card in the room")
    await sent_back(office, card)
    said = await office.until(
        lambda: next((one for one in office.slack.posts(desk) if "waits for an operator" in read(one)), None), "a word"
    )
    assert "unplug it first" in read(said)
    assert "/case take C-1001" in read(said)
    assert (await office.only_case()).waiting_on is WaitingOn.OPERATOR
