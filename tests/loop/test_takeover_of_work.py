"""A person takes a case over in the middle of a call (R10, R12); the rest is in tests/takeover."""

import pytest

from casestore import leases
from casestore.errors import MoveRefused
from casestore.states import GateState, Outcome, StepState
from channels.errors import RetryLater
from tests.loop.ended import kinds
from tests.loop.rig import Rig
from tests.loop.scripted import Held, Waits, calls, returned, said, says, unpaired

A = ("svc.restart", {"service": "a"})
B = ("svc.restart", {"service": "b"})
NOTE = ("note", {"text": "x"})

TAKEN = "kim has taken over {}. I stay silent until it is handed back."
BACK = "kim has handed {} back to the assistant."


async def test_what_the_assistant_used_is_counted_also_when_the_case_is_back_before_it_answers(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Too late.")), says("In time."))

    case = await rig.say("It hangs")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.take(case)
    await rig.release(case)
    await rig.work()
    held.release.set()
    await working
    await rig.work()

    lost, answered = await rig.runs(case)
    assert (lost.outcome, answered.outcome) == (Outcome.LEASE_LOST, Outcome.ANSWERED)
    assert [run.output_tokens for run in (lost, answered)] == [10, 10]
    assert [text for text in rig.posted() if "time" in text or "late" in text] == ["In time."]


async def test_handed_back_while_a_call_is_still_made_the_assistant_waits_for_it(rig: Rig) -> None:
    rig.model.then(calls(NOTE), says("Noted."))
    held = rig.effects.hold("note")

    case = await rig.say("It hangs")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.take(case)
    await rig.release(case)
    await rig.work()
    assert len(rig.model.sent) == 1
    held.release.set()
    await working
    await rig.work()

    assert rig.effects.made == ["note x"]
    assert returned(rig.model.sent[1]) == ["note x: done"]


async def test_words_that_the_platform_puts_off_are_held_back_too(rig: Rig) -> None:
    rig.model.then(says("Restart it yourself."))
    rig.channel.fail(RetryLater(5_000))

    case = await rig.say("It hangs")
    await rig.work(deliver=False)
    await rig.delivery.deliver_due()
    await rig.take(case)
    rig.clock.pass_by(10_000)
    await rig.deliver()

    assert rig.posted() == [TAKEN.format(case.label)]


async def test_a_case_that_was_quiet_is_handed_back_quietly(rig: Rig) -> None:
    rig.model.then(says("Hello."))
    case = await rig.say("Hello")
    await rig.work()
    await rig.take(case)
    await rig.speak(case, "I looked into it.", by="kim")
    await rig.release(case)
    await rig.work()
    assert len(rig.model.sent) == 1

    rig.model.then(says("Yes, kim did."))
    await rig.say("Did anybody look?")
    await rig.work()
    assert said(rig.model.sent[1])[1:] == ["kim (operator): I looked into it.", "ann (requester): Did anybody look?"]


async def test_a_call_of_unknown_outcome_is_not_asked_about_in_a_case_that_a_person_has(rig: Rig) -> None:
    rig.model.then(calls(NOTE), says("I do not know whether it was noted."))
    held = rig.effects.hold("note")
    case = await rig.say("Note it")
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.restart()
    rig.clock.pass_by(40_000)
    await rig.work()
    await rig.take(case)
    await rig.work()
    assert [gate.state for gate in await rig.gates(case)] == [GateState.WITHDRAWN]

    await rig.release(case)
    await rig.work()
    assert rig.posted()[-1] == "I do not know whether it was noted."
    assert await kinds(rig, case) == ["unknown"]


async def test_an_operator_who_writes_during_a_run_ends_it_unsent(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("I think that …")), says("As kim says."))
    case = await rig.say("It hangs")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.say("It is the cable.", by="kim", addressed=False)
    held.release.set()
    await working
    await rig.work()
    assert rig.posted() == [TAKEN.format(case.label)]

    await rig.release(case)
    await rig.work()
    assert said(rig.model.sent[1])[-1] == "kim (operator): It is the cable."
    assert rig.posted()[-1] == "As kim says."


async def test_an_operator_who_opened_the_case_takes_nothing_over_by_writing_in_it(rig: Rig) -> None:
    rig.model.then(says("Hello."), says("I see."))
    case = await rig.say("It hangs", by="kim")
    await rig.work()
    await rig.say("Still.", by="kim", addressed=False)
    await rig.work()

    assert (await rig.store.read(leases.of_case, case.id)).kind is None
    assert rig.posted() == ["Hello.", "I see."]


async def test_only_an_operator_takes_over_and_hands_back(rig: Rig) -> None:
    rig.model.then(says("Hello."))
    case = await rig.say("It hangs")
    await rig.work()

    with pytest.raises(MoveRefused, match="Only an operator"):
        await rig.take(case, by="ann")
    await rig.take(case)
    with pytest.raises(MoveRefused, match="Only an operator"):
        await rig.release(case, by="ann")
    with pytest.raises(MoveRefused, match="is with kim"):
        await rig.take(case, by="lee")
    await rig.release(case, by="lee")


async def test_a_case_taken_over_may_be_resolved_by_hand_and_is_free_again(rig: Rig) -> None:
    rig.model.then(says("Restart it yourself."), says("Good morning."))
    case = await rig.say("It hangs")
    await rig.work(deliver=False)
    await rig.take(case)
    await rig.resolve(case)
    await rig.say("It hangs again")
    await rig.work()

    assert (await rig.case(case)).state == "in_progress"
    assert rig.posted()[-1] == "Good morning."
    assert "Restart it yourself." not in rig.posted()
    assert "held" not in [row.state for row in await rig.outbox(case)]


async def test_a_read_only_call_that_is_cut_off_by_a_takeover_is_made_again_afterwards(rig: Rig) -> None:
    rig.model.then(calls(("look", {"at": "/"})), says("Found."))
    held = rig.effects.hold("look")
    case = await rig.say("Look")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.take(case)
    await rig.release(case)
    await rig.work()
    held.release.set()
    await working

    assert rig.posted()[-1] == "Found."
    assert [step.state for step in await rig.steps(case)] == [StepState.FINISHED]
    assert unpaired(rig.model.sent[1]) == []
