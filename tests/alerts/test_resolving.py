"""What becomes of a case when its alert resolves: its members, its gate, its end, and who is told (R2, R7, R12)."""

from dataclasses import replace

import pytest

from bot.people import closing, takeover
from casestore import leases, messages, runs, steps, turns
from casestore.models import Case
from casestore.states import CaseState, GateState, Outcome, StepState, WaitingOn
from casestore.turns import Begun
from tests.alerts.conftest import Intake
from tests.alerts.notifications import LATER, alert, group
from tests.conftest import RESTART, WORKER, Asked, World, finish_response

RESOLVED = group(alert("a", resolved=True))


async def begun(world: World, case: Case) -> Begun:
    """The engine has taken the case's messages and works it."""
    found = await world.store.write(turns.begin, world.now, case.id, WORKER)
    assert found is not None
    return found


async def asked(world: World, case: Case) -> Asked:
    """The case is parked at a gate, on its way to answering what was said in it."""
    working = await world.store.write(
        finish_response, world.now, await begun(world, case), (RESTART, replace(RESTART, position=1))
    )
    found = await world.ask(working)
    await world.store.write(runs.end, world.now, found.run.id, Outcome.PARKED, stop_reason="asked")
    await world.store.write(leases.drop, found.lease)
    return found


async def has_work(world: World, case: Case) -> bool:
    """Whether the engine would go on with the case."""
    return case.id in await world.store.read(leases.ready, world.now, 10)


async def test_the_gate_is_withdrawn_and_the_case_resolved(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    gate = (await asked(world, case)).gate
    taken = await alerts.take(RESOLVED)
    assert taken.what == "group_resolved"
    assert taken.case is not None
    assert taken.case == await alerts.case(case.id)
    assert (taken.case.state, taken.case.waiting_on) == (CaseState.RESOLVED, WaitingOn.NOBODY)
    gate = await world.gate(gate.id)
    assert (gate.state, gate.reason, gate.decided_by) == (GateState.WITHDRAWN, "the alert resolved", None)
    calls = [step for step in await world.store.read(steps.of_turn, gate.turn_id) if step.tool]
    assert [step.state for step in calls] == [StepState.REFUSED] * 2
    assert all(step.result for step in calls)
    assert [kind for kind, _ in await alerts.trail(case.id)][-6:] == [
        "alert.member_resolved", "alert.group_resolved", "gate.withdrawn", "tool.refused", "tool.refused",
        "case.resolved",
    ]  # fmt: skip
    assert not await has_work(world, case)
    assert (await alerts.messages(case.id))[-1].text == f"{case.label} was resolved: the alert resolved."


async def test_as_long_as_a_member_fires_nothing_ends(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a"), alert("b")))
    gate = (await asked(world, case)).gate
    assert (await alerts.take(group(alert("a", resolved=True), alert("b")))).what == "members_resolved"
    # b is not named: nobody has said that it is over
    assert (await alerts.take(group(alert("a", resolved=True)))).what == "known"
    assert (await world.gate(gate.id)).state is GateState.OPEN
    assert (await alerts.case(case.id)).state is CaseState.IN_PROGRESS


async def test_an_alert_over_before_anybody_looked_leaves_nothing_to_do(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    await alerts.take(group(alert("a"), alert("b")))
    taken = await alerts.take(group(alert("a", resolved=True), alert("b", resolved=True)))
    assert taken.case is not None
    assert taken.case.state is CaseState.RESOLVED
    # unread, its own messages would open the case again (R2)
    assert await world.store.read(messages.unread, case.id) == []
    assert not await has_work(world, case)
    assert await world.store.write(turns.begin, world.now, case.id, WORKER) is None


async def test_a_member_that_joined_while_a_gate_was_open_does_not_open_the_case_again(
    alerts: Intake, world: World
) -> None:
    case = await alerts.open(group(alert("a")))
    await asked(world, case)
    await alerts.take(group(alert("a"), alert("b")))
    await alerts.take(group(alert("a", resolved=True), alert("b", resolved=True)))
    assert (await alerts.case(case.id)).state is CaseState.RESOLVED
    assert not await has_work(world, case)


async def test_a_person_who_has_the_case_keeps_it_and_is_told(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    await asked(world, case)
    await world.store.write(takeover.take, world.now, await alerts.case(case.id), world.people.kim)
    assert (await alerts.take(RESOLVED)).what == "group_resolved"
    after = await alerts.case(case.id)
    assert (after.state, after.waiting_on) == (CaseState.IN_PROGRESS, WaitingOn.HUMAN)
    told = [message.text for message in await alerts.messages(case.id) if "resolved" in message.text]
    assert len(told) == 2  # once for people, once for the assistant
    assert told[0].startswith("The alert resolved (Mon 30 Nov 12:30 UTC): none of its members fires any more.")
    assert not await has_work(world, case)


async def test_a_run_at_work_is_not_cut_off_and_sees_the_note(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    at_work = await begun(world, case)
    assert (await alerts.take(RESOLVED)).what == "group_resolved"
    assert (await alerts.case(case.id)).state is CaseState.IN_PROGRESS
    run = await world.store.read(runs.open_run, case.id)
    assert run is not None
    assert run.id == at_work.run.id
    notes = await world.store.read(messages.not_in_view, case.id)
    assert "The alert resolved" in notes[-1].text
    assert await world.store.read(messages.unread, case.id) == []  # a note is nothing to answer


async def test_somebody_who_waits_for_an_answer_still_gets_it(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    await world.say(case, "is this the customer database?", by=world.people.kim)
    assert (await alerts.take(RESOLVED)).what == "group_resolved"
    assert (await alerts.case(case.id)).state is CaseState.NEW
    assert await has_work(world, case)


async def test_a_gate_of_somebodys_own_turn_is_withdrawn_and_the_turn_goes_on(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    await world.say(case, "clear the cache", by=world.people.kim)
    gate = (await asked(world, case)).gate
    await alerts.take(RESOLVED)
    assert (await world.gate(gate.id)).state is GateState.WITHDRAWN
    assert (await alerts.case(case.id)).state is CaseState.IN_PROGRESS
    assert await has_work(world, case)


async def test_an_approval_not_yet_spent_is_void_when_the_alert_resolves(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    gate = (await asked(world, case)).gate
    await world.decide(gate, world.people.kim)
    await alerts.take(RESOLVED)
    assert (await world.gate(gate.id)).state is GateState.VOID
    assert (await alerts.case(case.id)).state is CaseState.RESOLVED


async def test_the_end_is_told_once_however_often_it_is_reported(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a")))
    await begun(world, case)
    await alerts.take(RESOLVED)
    before = await alerts.messages(case.id), await alerts.trail(case.id)
    assert (await alerts.take(RESOLVED)).what == "known"
    assert (await alerts.messages(case.id), await alerts.trail(case.id)) == before


async def test_a_late_firing_of_what_has_resolved_is_the_older_news(alerts: Intake) -> None:
    case = await alerts.open(group(alert("a")))
    await alerts.take(RESOLVED)
    assert (await alerts.take(group(alert("a")))).what == "known"
    assert await alerts.members(case.id) == {"a": "resolved"}


async def test_the_end_of_an_alert_is_on_record_also_in_a_case_that_has_ended(alerts: Intake, world: World) -> None:
    case = await alerts.open(group(alert("a"), alert("b")))
    await world.store.write(closing.close, world.now, case, by="principal:kim#2", why="not ours")
    said = await alerts.messages(case.id)
    taken = await alerts.take(group(alert("a", resolved=True), alert("b", resolved=True), alert("c", resolved=True)))
    assert taken.what == "group_resolved"
    assert await alerts.members(case.id) == {"a": "resolved", "b": "resolved"}  # c was never a member
    assert [kind for kind, _ in await alerts.trail(case.id)][-2:] == ["alert.member_resolved", "alert.group_resolved"]
    assert (await alerts.case(case.id)).state is CaseState.CLOSED
    assert await alerts.messages(case.id) == said


async def test_a_new_episode_is_not_ended_by_the_news_that_the_old_one_is_over(alerts: Intake) -> None:
    case = await alerts.open(group(alert("a")))
    taken = await alerts.take(group(alert("a", resolved=True), alert("a", starts=LATER)))
    assert taken.what == "joined"
    assert [one.state for one in await alerts.episodes(case.id)] == ["resolved", "firing"]
    assert (await alerts.case(case.id)).is_live


@pytest.mark.parametrize("truncated", [1, 19_980])
async def test_what_the_sender_left_out_may_still_fire(alerts: Intake, truncated: int) -> None:
    case = await alerts.open(group(alert("a"), truncatedAlerts=truncated))
    taken = await alerts.take(group(alert("a", resolved=True), truncatedAlerts=truncated))
    assert taken.what == "members_resolved"
    assert (await alerts.case(case.id)).is_live
