"""A person takes a case over, in the middle of whatever the assistant does, and hands it back (R12)."""

import pytest

from bot.results import CallResult
from bot.settings import Settings
from bot.settings.sections import Access
from casestore import leases
from casestore.errors import MoveRefused
from casestore.models import Case
from casestore.states import GateState, LeaseKind, Outcome, StepState, TurnState, Verb
from channels.errors import RetryLater
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig, checked
from tests.loop.scripted import Held, Waits, calls, returned, said, says, unpaired

A = ("svc.restart", {"service": "a"})
B = ("svc.restart", {"service": "b"})
NOTE = ("note", {"text": "x"})

TAKEN = "kim has taken over {}. I stay silent until it is handed back."
BACK = "kim has handed {} back to the assistant."


async def kinds(rig: Rig, case: Case) -> list[str]:
    return [CallResult.load(step.result).kind if step.result else step.state for step in await rig.steps(case)]


async def test_a_reply_that_is_being_written_when_a_person_takes_over_is_not_sent(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Try turning it off and on.")))

    case = await rig.say("It hangs")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.take(case)
    held.release.set()
    await working
    await rig.work()

    assert rig.posted() == [TAKEN.format(case.label)]
    assert await rig.texts(case) == rig.posted()
    (run,) = await rig.runs(case)
    assert (run.outcome, run.stop_reason) == (Outcome.LEASE_LOST, "kim took the case over")
    assert (run.model_calls, run.input_tokens, run.output_tokens) == (1, 100, 10)  # a fact, all the same
    taken = await rig.case(case)
    assert (taken.waiting_on, taken.assignee) == ("human", rig.people["kim"].id)


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


async def test_a_call_that_is_being_made_when_a_person_takes_over_is_recorded_as_a_fact(rig: Rig) -> None:
    rig.model.then(calls(NOTE, A), says("It was noted, and kim did the rest."))
    held = rig.effects.hold("note")

    case = await rig.say("It hangs")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.take(case)
    assert await kinds(rig, case) == ["started", "not_asked"]
    held.release.set()
    await working
    assert await kinds(rig, case) == ["ok", "not_asked"]
    await rig.work()
    assert len(rig.model.sent) == 1

    await rig.release(case)
    await rig.work()
    assert returned(rig.model.sent[1]) == ["note x: done", "not asked: kim took the case over"]
    assert rig.effects.made == ["note x"]
    await checked(rig.store, case)


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


async def test_taking_over_a_parked_turn_withdraws_its_gate_and_what_waits_behind_it_is_not_asked(rig: Rig) -> None:
    rig.model.then(calls(A, ("look", {"at": "/"}), B, NOTE))

    case = await rig.say("It hangs")
    await rig.work()
    await rig.take(case)
    await rig.work()

    (gate,) = await rig.gates(case)
    assert (gate.state, gate.reason) == (GateState.WITHDRAWN, "kim took the case over")
    assert await kinds(rig, case) == ["withdrawn", "ok", "not_asked", "not_asked"]
    assert rig.posted()[0].splitlines()[-1].startswith("Withdrawn ")
    assert rig.effects.made == ["look /"]
    assert not (await rig.decide(case, gate=gate)).taken


async def test_an_approval_that_is_not_spent_when_a_person_takes_over_is_void(rig: Rig) -> None:
    rig.model.then(calls(A, B), says("I see."))

    case = await rig.say("It hangs")
    await rig.work()
    await rig.decide(case, by="lee")
    await rig.take(case)
    await rig.restart()
    await rig.work()
    (gate,) = await rig.gates(case)
    assert (gate.state, gate.void_reason) == (GateState.VOID, "kim took the case over")
    assert await kinds(rig, case) == ["withdrawn", "not_asked"]

    await rig.release(case)
    await rig.work()
    assert rig.effects.made == []
    assert len(rig.model.sent) == 2
    assert unpaired(rig.model.sent[1]) == []


async def test_the_assistants_words_that_are_not_sent_yet_are_held_back_and_never_sent(rig: Rig) -> None:
    rig.model.then(says("Restart it yourself."), says("Of course."))

    case = await rig.say("It hangs")
    await rig.work(deliver=False)
    await rig.take(case)
    await rig.deliver()
    assert rig.posted() == [TAKEN.format(case.label)]
    assert [row.state for row in await rig.outbox(case)] == ["held", "sent"]

    await rig.release(case)
    await rig.deliver()
    assert [row.state for row in await rig.outbox(case)] == ["dead", "sent", "sent"]
    await rig.say("Are you there?")
    await rig.work()

    assert rig.posted() == [TAKEN.format(case.label), BACK.format(case.label), "Of course."]
    assert said(rig.model.sent[1])[1:] == [
        "system: your last reply was not delivered, because a person took the case over",
        "ann (requester): Are you there?",
    ]


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


async def test_handed_back_the_assistant_goes_on_with_what_people_said_meanwhile(rig: Rig) -> None:
    rig.model.then(calls(A), says("As kim said: it is fixed."))

    case = await rig.say("It hangs")
    await rig.work()
    await rig.take(case)
    await rig.speak(case, "I shall do it by hand.", by="kim")
    await rig.say("Thank you, kim.")
    await rig.speak(case, "Done.", by="kim")
    await rig.work()
    assert len(rig.model.sent) == 1
    assert rig.posted()[2:] == ["I shall do it by hand.", "Done."]

    await rig.release(case)
    await rig.work()
    assert returned(rig.model.sent[1]) == ["not run: kim took the case over"]
    assert said(rig.model.sent[1])[1:] == [
        "kim (operator): I shall do it by hand.",
        "ann (requester): Thank you, kim.",
        "kim (operator): Done.",
    ]
    assert rig.posted()[-1] == "As kim said: it is fixed."
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]


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


async def test_an_answer_to_an_outcome_is_not_lost_when_a_person_takes_over_before_it_is_used(rig: Rig) -> None:
    """R8, R9: it is no approval, but a fact that somebody has told us."""
    rig.model.then(calls(NOTE), says("It was noted."))
    held = rig.effects.hold("note")
    case = await rig.say("Note it")
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.restart()
    rig.clock.pass_by(40_000)
    await rig.work()
    await rig.decide(case, Verb.HAPPENED)
    await rig.take(case)
    await rig.release(case)
    await rig.work()

    assert returned(rig.model.sent[1]) == ["kim says that it happened"]
    assert [gate.state for gate in await rig.gates(case)] == [GateState.APPROVED]


@pytest.mark.parametrize("addressed", [True, False])
@pytest.mark.parametrize("setting", ["takes_over", "joins"])
async def test_an_operator_who_writes_in_the_thread_without_addressing_the_bot_takes_the_case_over(
    make_rig: MakeRig, setting: str, addressed: bool
) -> None:
    access = Access(operator_writes="takes_over" if setting == "takes_over" else "joins")
    rig = await make_rig(says("Hello."), settings=Settings(access=access))
    case = await rig.say("It hangs")
    await rig.work()
    takes_over = setting == "takes_over" and not addressed
    if not takes_over:
        rig.model.then(says("So I heard."))
    await rig.say("I know this one.", by="kim", addressed=addressed)
    await rig.work()

    lease = await rig.store.read(leases.of_case, case.id)
    assert lease.kind == (LeaseKind.HUMAN if takes_over else None)
    assert (TAKEN.format(case.label) in rig.posted()) is takes_over
    assert len(rig.model.sent) == (1 if takes_over else 2)


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


async def test_the_requester_who_writes_takes_nothing_over(rig: Rig) -> None:
    rig.model.then(says("Hello."), says("I see."))
    case = await rig.say("It hangs")
    await rig.work()
    await rig.say("Still.", addressed=False)
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


async def test_a_case_that_a_person_has_is_not_worked_whoever_restarts(rig: Rig) -> None:
    case = await rig.say("It hangs")
    await rig.take(case)
    await rig.restart()
    rig.clock.pass_by(30 * 24 * 60 * 60_000)
    await rig.work()

    assert rig.model.sent == []
    assert (await rig.store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN


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
