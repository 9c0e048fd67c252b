"""A case is resolved, closed, cancelled or reopened from outside, whatever the assistant has under way (R2, R7, R9)."""

from collections.abc import Callable

import pytest

from bot.people import closing
from bot.tools.results import CallResult
from casestore import bindings, leases, principals
from casestore.errors import MoveRefused
from casestore.models import Case, CaseId, Principal
from casestore.states import CaseState, GateState, LeaseKind, Outcome, TurnState, Verb
from casestore.tx import Tx
from tests.loop.rig import THREAD, Rig, checked
from tests.loop.scripted import Held, Waits, calls, returned, said, says, unpaired

ENDS: dict[str, Callable[..., Case]] = {
    "resolved": closing.resolve, "closed": closing.close, "cancelled": closing.cancel
}  # fmt: skip
EVERY_END = pytest.mark.parametrize("how", list(ENDS))
RESTART = ("svc.restart", {"service": "nginx"})
NOTE = ("note", {"text": "seen"})


def _end(tx: Tx, now: int, case: Case, how: str, who: Principal) -> Case:
    return ENDS[how](tx, now, case, by=principals.actor(who), why="enough")


def _reopen(tx: Tx, now: int, case: Case, who: Principal) -> Case:
    return closing.reopen(tx, now, case, by=principals.actor(who), why="")


async def end(rig: Rig, case: Case, how: str) -> None:
    """An operator ends a case."""
    await rig.store.write(_end, rig.clock.now(), await rig.case(case), how, rig.people["kim"])


async def reopen(rig: Rig, case: Case) -> None:
    """An operator reopens it."""
    await rig.store.write(_reopen, rig.clock.now(), await rig.case(case), rig.people["kim"])


async def at(rig: Rig) -> CaseId:
    """The case that the thread is bound to."""
    case = await rig.store.read(bindings.case_at, str(THREAD))
    assert case is not None
    return case.id


@EVERY_END
async def test_during_a_run_it_ends_and_its_reply_is_not_said(rig: Rig, how: str) -> None:
    thinking = Held()
    rig.model.then(Waits(thinking, says("Too late.")))
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await thinking.reached.wait()

    await end(rig, case, how)
    thinking.release.set()
    await working

    assert (await rig.case(case)).state == how
    assert rig.posted() == [f"{case.label} was {how}: enough."]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.stop_reason, run.input_tokens) == (Outcome.LEASE_LOST, f"the case was {how}", 100)
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    assert (await rig.store.read(leases.of_case, case.id)).kind is None
    await checked(rig.store, case)


@EVERY_END
async def test_during_a_call_what_it_did_is_recorded_and_nothing_follows_it(rig: Rig, how: str) -> None:
    under_way = rig.effects.hold("note")
    rig.model.then(calls(NOTE, RESTART))
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await under_way.reached.wait()

    await end(rig, case, how)
    under_way.release.set()
    await working

    assert [CallResult.load(step.result or "").kind for step in await rig.steps(case)] == ["ok", "not_asked"]
    assert (len(rig.model.sent), await rig.gates(case)) == (1, [])
    assert (await rig.case(case)).state == how


@EVERY_END
async def test_while_it_is_parked_its_gate_is_withdrawn_and_every_call_has_its_result(rig: Rig, how: str) -> None:
    rig.model.then(calls(RESTART, NOTE))
    case = await rig.say("It hangs.")
    await rig.work()
    gate = await rig.gate(case)

    await end(rig, case, how)
    await rig.work()

    (withdrawn,) = await rig.gates(case)
    assert (withdrawn.state, withdrawn.reason) == (GateState.WITHDRAWN, f"the case was {how}")
    assert [CallResult.load(step.result or "").kind for step in await rig.steps(case)] == ["withdrawn", "not_asked"]
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    assert "Withdrawn" in next(text for text in rig.posted() if "Restart" in text)
    late = await rig.decide(case, gate=gate)
    assert (late.taken, rig.effects.made) == (False, [])
    assert "Withdrawn" in late.text
    assert (await rig.case(case)).state == how


@EVERY_END
async def test_an_approval_that_was_not_spent_is_void(rig: Rig, how: str) -> None:
    rig.model.then(calls(RESTART))
    case = await rig.say("It hangs.")
    await rig.work()
    await rig.decide(case, Verb.APPROVE)

    await end(rig, case, how)
    await rig.work()

    (gate,) = await rig.gates(case)
    assert (gate.state, gate.void_reason) == (GateState.VOID, f"the case was {how}")
    assert rig.effects.made == []


@EVERY_END
async def test_while_a_person_has_it_nobody_has_it_afterwards_and_what_was_held_is_not_sent(rig: Rig, how: str) -> None:
    rig.model.then(says("Do this."))
    case = await rig.say("What now?")
    await rig.work(deliver=False)
    await rig.take(case)

    await end(rig, case, how)
    await rig.work()

    assert (await rig.store.read(leases.of_case, case.id)).kind is None
    assert [row.state for row in await rig.outbox(case) if row.body == "Do this."] == ["dead"]
    assert not any("Do this." in text for text in rig.posted())
    assert rig.posted()[-1] == f"{case.label} was {how}: enough."
    with pytest.raises(MoveRefused):
        await rig.release(case)


@pytest.mark.parametrize("parked", [False, True])
async def test_a_message_to_a_resolved_case_reopens_it_with_its_story_in_view(rig: Rig, parked: bool) -> None:
    rig.model.then(calls(RESTART) if parked else says("Yes?"))
    case = await rig.say("It hangs.")
    await rig.work()
    await end(rig, case, "resolved")
    rig.model.then(says("Again?"))

    assert (await rig.say("It hangs again.")).id == case.id
    await rig.work()

    assert (await rig.case(case)).state is CaseState.IN_PROGRESS
    assert said(rig.model.sent[-1])[0] == "ann (requester): It hangs."
    assert said(rig.model.sent[-1])[-1] == "ann (requester): It hangs again."
    assert unpaired(rig.model.sent[-1]) == []
    if parked:
        assert returned(rig.model.sent[-1]) == ["not run: the case was resolved"]
    assert rig.posted()[-1] == "Again?"


@pytest.mark.parametrize("how", ["closed", "cancelled"])
async def test_a_message_to_a_case_that_is_over_opens_one_that_follows_it_and_has_the_thread(
    rig: Rig, how: str
) -> None:
    rig.model.then(calls(RESTART))
    case = await rig.say("It hangs.")
    await rig.work()
    await end(rig, case, how)
    rig.model.then(says("New here."))

    new = await rig.say("It hangs again.")
    await rig.work()

    assert new.id != case.id
    assert (new.follows, await at(rig)) == (case.id, new.id)
    assert said(rig.model.sent[-1]) == ["ann (requester): It hangs again."]
    assert unpaired(rig.model.sent[-1]) == []
    assert (await rig.case(case)).state == how
    assert await rig.texts(new) == ["New here."]


async def test_a_call_in_flight_when_its_case_was_resolved_does_not_leave_a_hole_when_it_is_reopened(rig: Rig) -> None:
    """R7: every call ends with exactly one result, also one that comes after its turn has ended."""
    under_way = rig.effects.hold("note")
    rig.model.then(calls(NOTE))
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await under_way.reached.wait()
    await end(rig, case, "resolved")
    await rig.say("And now?")

    assert await rig.store.read(leases.ready, rig.clock.now(), 9) == [case.id]
    await rig.conductor.work(case.id)  # it may still come back, so the next turn waits for it
    assert len(rig.model.sent) == 1
    rig.model.then(says("Now it is noted."))
    under_way.release.set()
    await working
    rig.clock.pass_by(rig.settings.leases.ttl)
    await rig.work()

    assert returned(rig.model.sent[-1]) == ["note seen: done"]
    assert unpaired(rig.model.sent[-1]) == []
    assert rig.posted()[-1] == "Now it is noted."


async def test_a_case_that_is_reopened_from_outside_waits_for_somebody_to_say_something(rig: Rig) -> None:
    rig.model.then(says("Yes?"))
    case = await rig.say("Help!")
    await rig.work()
    await end(rig, case, "resolved")

    await reopen(rig, case)
    await rig.work()

    assert (await rig.case(case)).state is CaseState.IN_PROGRESS
    assert len(rig.model.sent) == 1
    assert rig.posted()[-1] == f"{case.label} was reopened."
    with pytest.raises(MoveRefused):
        await reopen(rig, case)


@pytest.mark.parametrize(
    ("first", "then"),
    [("closed", "closed"), ("closed", "resolved"), ("closed", "cancelled"), ("cancelled", "closed"),
     ("cancelled", "resolved"), ("resolved", "resolved"), ("resolved", "cancelled")],
)  # fmt: skip
async def test_a_move_that_does_not_exist_is_refused_and_changes_nothing(rig: Rig, first: str, then: str) -> None:
    case = await rig.say("Help!")
    await end(rig, case, first)
    before = (await rig.trail(case), await rig.texts(case))

    with pytest.raises(MoveRefused):
        await end(rig, case, then)

    assert ((await rig.case(case)).state, (await rig.trail(case), await rig.texts(case))) == (first, before)


@pytest.mark.parametrize("first", ["closed", "cancelled"])
async def test_what_is_over_for_good_is_not_reopened(rig: Rig, first: str) -> None:
    case = await rig.say("Help!")
    await end(rig, case, first)

    with pytest.raises(MoveRefused):
        await reopen(rig, case)


async def test_a_message_that_came_during_the_run_is_answered_though_the_case_was_resolved_meanwhile(
    rig: Rig,
) -> None:
    """R11: it is unread, and unread is work."""
    thinking = Held()
    rig.model.then(Waits(thinking, says("Too late.")))
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await thinking.reached.wait()
    await rig.say("Wait, something else.")
    await end(rig, case, "resolved")
    rig.model.then(says("Go on."))

    thinking.release.set()
    await working

    assert rig.posted()[-1] == "Go on."
    assert (await rig.case(case)).state is CaseState.IN_PROGRESS
    assert (await rig.store.read(leases.of_case, case.id)).kind is not LeaseKind.HUMAN
