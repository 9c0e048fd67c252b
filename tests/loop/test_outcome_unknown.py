"""Nobody knows whether a call was made: a person says so, or says that it is to be made again (R14)."""

from dataclasses import replace

import pytest

from bot.settings import Settings
from bot.settings.sections import Limits
from casestore import gates, holds, principals
from casestore.states import GateKind, GateState, Outcome, StepState, Verb
from tests.loop.conftest import MakeRig
from tests.loop.cut_off import NOTE, unknown
from tests.loop.ended import kinds
from tests.loop.rig import HOUR, Rig, checked
from tests.loop.scripted import calls, returned, says, unpaired

AFTER = ("svc.restart", {"service": "b"})


@pytest.mark.parametrize(
    ("verb", "kind", "heard"),
    [
        (Verb.HAPPENED, "ok", "kim says that it happened (I saw it)"),
        (Verb.NOT_HAPPENED, "failed", "kim says that it did not happen (I saw it)"),
    ],
)
@pytest.mark.parametrize("killed", [True, False])
async def test_what_a_person_says_becomes_the_one_result_of_the_call(
    rig: Rig, verb: Verb, kind: str, heard: str, killed: bool
) -> None:
    case = await unknown(rig)
    rig.model.then(says("I see."))
    await rig.decide(case, verb, reason="I saw it")
    if killed:
        await rig.restart()
    await rig.work()

    assert await kinds(rig, case) == [kind]
    (step,) = await rig.steps(case)
    assert step.state is (StepState.FINISHED if verb is Verb.HAPPENED else StepState.FAILED)
    assert returned(rig.model.sent[1]) == [heard]
    assert rig.effects.made == ["note x"]
    assert rig.posted()[-1] == "I see."
    assert "tool.outcome_told" in await rig.trail(case)
    await checked(rig.store, case)


async def test_run_it_again_makes_exactly_one_further_attempt(rig: Rig) -> None:
    case = await unknown(rig)
    rig.model.then(says("Noted."))
    await rig.decide(case, Verb.RERUN)
    await rig.restart()
    await rig.work()

    assert rig.effects.made == ["note x", "note x"]
    first, again = await rig.steps(case)
    assert (first.state, first.result, again.state) == (StepState.UNKNOWN, None, StepState.FINISHED)
    assert (again.model_step, again.position) == (first.model_step, first.position)
    assert returned(rig.model.sent[1]) == ["note x: done"]
    assert unpaired(rig.model.sent[1]) == []


async def test_a_further_attempt_that_is_cut_off_too_is_asked_about_again(rig: Rig) -> None:
    case = await unknown(rig)
    held = rig.effects.hold("note")
    await rig.decide(case, Verb.RERUN)
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.restart()
    rig.clock.pass_by(40_000)
    await rig.work()

    first, second = await rig.gates(case)
    assert (first.state, second.state) == (GateState.APPROVED, GateState.OPEN)
    rig.model.then(says("Fine."))
    await rig.decide(case, Verb.HAPPENED)
    await rig.work()
    assert rig.effects.made == ["note x", "note x"]
    assert returned(rig.model.sent[1]) == ["kim says that it happened"]


async def test_when_nobody_says_it_stays_unknown_and_an_operator_gets_the_case(rig: Rig) -> None:
    case = await unknown(rig, NOTE, AFTER)
    rig.clock.pass_by(25 * HOUR)
    assert len(await rig.store.write(gates.expire_due, rig.clock.now())) == 1
    await rig.work()

    assert await kinds(rig, case) == ["unknown", "not_asked"]
    assert (await rig.steps(case))[0].state is StepState.UNKNOWN
    assert (await rig.runs(case))[-1].outcome is Outcome.HANDED_OFF
    assert (await rig.case(case)).waiting_on == "operator"

    rig.model.then(says("It is not known."))
    await rig.say("And?")
    await rig.work()
    assert returned(rig.model.sent[1])[0] == "it is not known whether this was done: nobody could say"
    assert unpaired(rig.model.sent[1]) == []
    assert rig.effects.made == ["note x"]


async def test_the_calls_behind_it_go_on_once_it_is_known(rig: Rig) -> None:
    case = await unknown(rig, NOTE, AFTER, ("note", {"text": "y"}))
    assert rig.effects.made == ["note x"]
    await rig.decide(case, Verb.HAPPENED)
    await rig.work()
    assert (await rig.gate(case)).kind is GateKind.APPROVAL
    rig.model.then(says("All done."))
    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == ["note x", "restart b", "note y"]


async def test_the_outcome_of_an_approved_call_is_asked_in_a_card_of_its_own(rig: Rig) -> None:
    case = await unknown(rig, AFTER, tool="restart")
    await rig.deliver()

    approved, outcome = rig.posted()
    assert approved.splitlines()[-1] == "Outcome unknown; asked in the next card"
    assert outcome.startswith('Did it happen?  Did this happen? Restart "b"')
    rig.model.then(says("Good."))
    await rig.decide(case, Verb.HAPPENED)
    await rig.work()

    approved, outcome, _ = rig.posted()
    assert approved.splitlines()[-1].endswith("kim says that it happened")
    assert outcome.splitlines()[-1].startswith("Recorded as happened by kim via the command line")


async def test_an_approval_cannot_be_answered_like_an_outcome_nor_an_outcome_like_an_approval(rig: Rig) -> None:
    case = await unknown(rig)

    assert not (await rig.decide(case, Verb.APPROVE)).taken
    assert (await rig.gate(case)).state is GateState.OPEN
    assert rig.effects.made == ["note x"]


async def test_a_question_taken_back_leaves_it_unknown_and_the_assistant_goes_on(rig: Rig) -> None:
    case = await unknown(rig, NOTE, AFTER)
    kim = rig.people["kim"]
    await rig.store.write(
        gates.withdraw, rig.clock.now(), await rig.gate(case), by="kim", reason="never mind", who=kim
    )  # fmt: skip
    rig.model.then(says("Then I leave it."))
    await rig.work()

    assert await kinds(rig, case) == ["unknown", "not_asked"]
    assert rig.posted()[-1] == "Then I leave it."
    assert rig.effects.made == ["note x"]


async def test_a_case_resolved_while_the_outcome_is_asked_goes_on_with_the_next_message(rig: Rig) -> None:
    case = await unknown(rig)
    await rig.resolve(case)
    assert await kinds(rig, case) == ["unknown"]
    rig.model.then(says("Hello again."))
    await rig.say("Hello")
    await rig.work()

    assert returned(rig.model.sent[1]) == ["it is not known whether this was done: the case was resolved"]
    assert rig.posted()[-1] == "Hello again."


@pytest.mark.parametrize("why", ["the tool changed", "the decider was revoked"])
async def test_a_further_attempt_that_may_not_be_made_on_that_answer_needs_an_approval_of_its_own(
    rig: Rig, why: str
) -> None:
    """Also of a call that policy lets run freely: it is never run again by itself."""
    case = await unknown(rig)
    await rig.decide(case, Verb.RERUN)
    if why == "the tool changed":
        rig.tools["note"] = rig.tools["note"].with_settings(effect_key="note:{text}")
        await rig.restart()
    else:
        await rig.store.write(
            principals.revoke, rig.clock.now(), rig.people["kim"].id, revoked_by=rig.people["root"].id
        )
    await rig.work()

    assert rig.effects.made == ["note x"]
    void, anew = await rig.gates(case)
    assert (void.kind, void.state, anew.kind, anew.state) == ("outcome", "void", "approval", "open")
    assert anew.earlier_step == void.step_id
    rig.model.then(says("Noted."))
    await rig.decide(case, by="lee")
    await rig.work()
    assert rig.effects.made == ["note x", "note x"]
    assert returned(rig.model.sent[1]) == ["note x: done"]


async def test_a_further_attempt_that_is_frozen_says_that_nobody_knows_about_the_first(rig: Rig) -> None:
    case = await unknown(rig)
    await rig.store.write(holds.place, rig.clock.now(), tool="note", reason="audit", by=rig.people["root"].id)
    await rig.decide(case, Verb.RERUN)
    rig.model.then(says("It is frozen."))
    await rig.work()

    assert rig.effects.made == ["note x"]
    assert returned(rig.model.sent[1]) == [
        "it is not known whether this was done: it was not run again: it is frozen by an operator"
    ]  # fmt: skip


async def test_a_tool_that_does_not_come_back_in_time_is_cut_off_and_asked_about(rig: Rig) -> None:
    rig.tools["note"] = replace(rig.tools["note"], timeout_ms=20)
    await rig.restart()
    rig.model.then(calls(NOTE))
    rig.effects.hold("note")
    case = await rig.say("Note it")
    await rig.work()

    gate = await rig.gate(case)
    assert (gate.kind, rig.effects.made) == (GateKind.OUTCOME, ["note x"])
    rig.model.then(says("I see."))
    await rig.decide(case, Verb.HAPPENED)
    await rig.work()
    assert await kinds(rig, case) == ["ok"]


async def test_a_case_is_not_resolved_while_nobody_knows_whether_it_was_done(rig: Rig) -> None:
    rig.tools["note"] = replace(rig.tools["note"], timeout_ms=20)
    await rig.restart()
    rig.model.then(calls(("case.resolve", {"note": "done"}), NOTE))
    rig.effects.hold("note")
    case = await rig.say("Note it")
    await rig.work()

    assert (await rig.gate(case)).kind is GateKind.OUTCOME
    assert (await rig.case(case)).state == "in_progress"


async def test_a_call_in_doubt_is_asked_about_even_where_its_turn_has_been_tried_too_often(make_rig: MakeRig) -> None:
    """R14 before R13: handed over with a doubt that nobody names, somebody would do it a second time."""
    rig = await make_rig(settings=Settings(limits=Limits(attempts=1)))
    case = await unknown(rig)
    rig.model.then(says("Noted."))
    await rig.decide(case, Verb.HAPPENED)
    await rig.work()
    assert rig.effects.made == ["note x"]
    assert rig.posted()[-1] == "Noted."
