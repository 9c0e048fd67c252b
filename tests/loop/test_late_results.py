"""A result that comes when nobody waits for it any more, or not at all (R10, R14)."""

from dataclasses import replace

from bot.tools import results
from bot.turns import advance
from casestore import gates, leases
from casestore.models import StepId
from casestore.states import GateKind, GateState, Verb
from tests.loop.cut_off import NOTE, unknown
from tests.loop.ended import kinds
from tests.loop.rig import Rig
from tests.loop.scripted import calls, returned, says, unpaired

AFTER = ("svc.restart", {"service": "b"})


async def come_back(rig: Rig, step_id: StepId, content: str) -> None:
    """The process that was believed dead comes back with a result after all."""
    await rig.store.write(advance.finished, rig.clock.now(), step_id, results.ok(content))


async def test_a_result_that_comes_while_a_person_is_asked_is_taken_and_the_turn_goes_on(rig: Rig) -> None:
    """R10: what happened is not forgotten because the lease is gone."""
    case = await unknown(rig, NOTE, AFTER)
    (noted, _) = await rig.steps(case)
    await come_back(rig, noted.id, "noted at last")
    await rig.work()

    outcome, approval = await rig.gates(case)
    assert (outcome.state, outcome.reason) == (GateState.WITHDRAWN, "its result has come after all")
    assert (approval.state, approval.kind) == (GateState.OPEN, GateKind.APPROVAL)
    rig.model.then(says("Good."))
    await rig.decide(case)
    await rig.work()
    assert returned(rig.model.sent[1]) == ["noted at last", "restart b: done"]
    assert rig.effects.made == ["note x", "restart b"]


async def test_a_result_that_comes_before_it_is_run_again_keeps_it_from_being_run_again(rig: Rig) -> None:
    case = await unknown(rig)
    (noted,) = await rig.steps(case)
    await rig.decide(case, Verb.RERUN)
    await come_back(rig, noted.id, "noted at last")
    rig.model.then(says("Good."))
    await rig.work()

    assert rig.effects.made == ["note x"]
    assert returned(rig.model.sent[1]) == ["noted at last"]
    assert [gate.state for gate in await rig.gates(case)] == [GateState.VOID]


async def test_a_result_that_comes_after_a_person_has_said_is_noted_and_changes_nothing(rig: Rig) -> None:
    case = await unknown(rig)
    (noted,) = await rig.steps(case)
    rig.model.then(says("I see."))
    await rig.decide(case, Verb.NOT_HAPPENED)
    await rig.work()
    await come_back(rig, noted.id, "noted at last")

    assert await kinds(rig, case) == ["failed"]
    assert (await rig.trail(case))[-1] == "tool.late_result"


async def test_what_a_person_says_after_a_result_has_come_does_not_replace_it(rig: Rig) -> None:
    case = await unknown(rig)
    gate = await rig.gate(case)
    (noted,) = await rig.steps(case)
    await rig.decide(case, Verb.NOT_HAPPENED, gate=gate)
    await come_back(rig, noted.id, "noted at last")
    rig.model.then(says("Good."))
    await rig.work()

    assert returned(rig.model.sent[1]) == ["noted at last"]
    assert "tool.outcome_told" not in await rig.trail(case)
    answered = await rig.store.read(gates.by_id, gate.id)
    assert (answered.state, answered.verb) == (GateState.APPROVED, Verb.NOT_HAPPENED), "what was said was said"


async def test_a_case_resolved_while_a_call_is_made_waits_for_it_before_it_goes_on(rig: Rig) -> None:
    rig.model.then(calls(NOTE), says("It was noted."))
    held = rig.effects.hold("note")
    case = await rig.say("Note it")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.resolve(case)
    await rig.say("One more thing")
    await rig.work()
    assert len(rig.model.sent) == 1

    held.release.set()
    await working
    await rig.work()
    assert returned(rig.model.sent[1]) == ["note x: done"]
    assert rig.posted()[-1] == "It was noted."


async def test_a_case_resolved_while_a_call_was_made_that_never_came_back_goes_on_knowing_that(rig: Rig) -> None:
    rig.model.then(calls(NOTE, ("look", {"at": "/"})))
    held = rig.effects.hold("note")
    case = await rig.say("Note it")
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.resolve(case)
    await rig.restart()
    rig.clock.pass_by(40_000)
    rig.model.then(says("Hello."))
    await rig.say("One more thing")
    await rig.work()

    assert rig.posted()[-1] == "Hello."
    assert unpaired(rig.model.sent[1]) == []
    assert returned(rig.model.sent[1])[0] == (
        "it is not known whether this was done: the case was taken on before it came back"
    )  # fmt: skip
    assert rig.effects.count("note") == 1


async def test_a_lease_covers_what_a_call_may_take(rig: Rig) -> None:
    """R10: no other worker takes the case while a call of ours may still come back."""
    rig.tools["note"] = replace(rig.tools["note"], timeout_ms=30 * 60_000)
    await rig.restart()
    rig.model.then(calls(NOTE), says("Noted."))
    held = rig.effects.hold("note")
    case = await rig.say("Note it")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    rig.clock.pass_by(29 * 60_000)
    assert await rig.store.read(leases.ready, rig.clock.now(), 10) == []
    held.release.set()
    await working
    assert await kinds(rig, case) == ["ok"]
