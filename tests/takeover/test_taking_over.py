"""A person takes a case over: whatever the assistant has under way, it ends, and nothing more of it is seen (R12)."""

import pytest

from bot.settings import Settings
from bot.settings.sections import Access
from bot.tools.results import CallResult
from casestore import leases, messages
from casestore.errors import MoveRefused
from casestore.models import Case, LeaseRow
from casestore.states import CaseState, GateKind, GateState, LeaseKind, Outcome, StepState, TurnState, Verb, WaitingOn
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, Rig, checked
from tests.loop.scripted import Held, Waits, calls, returned, said, says, unpaired

RESTART = ("svc.restart", {"service": "nginx"})
WIPE = ("wipe", {"place": "/tmp"})
NOTE = ("note", {"text": "seen"})
LOOK = ("look", {"at": "/var"})


async def who_has(rig: Rig, case: Case) -> LeaseRow:
    """Who has a case."""
    return await rig.store.read(leases.of_case, case.id)


async def results(rig: Rig, case: Case) -> list[tuple[str | None, str | None]]:
    """Each tool call of a case with what it ended with."""
    return [(step.tool, CallResult.load(step.result).kind if step.result else None) for step in await rig.steps(case)]


async def parked(rig: Rig) -> Case:
    """A case with a gate open, one gated call behind it and one free one."""
    rig.model.then(calls(RESTART, WIPE, NOTE, text="Something hangs."))
    case = await rig.say("It hangs.")
    await rig.work()
    return case


async def test_a_reply_that_comes_after_the_takeover_is_neither_stored_nor_said_and_what_it_used_counts(
    rig: Rig,
) -> None:
    thinking = Held()
    rig.model.then(Waits(thinking, says("Too late.")))
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await thinking.reached.wait()

    await rig.take(case)
    thinking.release.set()
    await working

    assert rig.posted() == [f"kim has taken over {case.label}. I stay silent until it is handed back."]
    assert "Too late." not in await rig.texts(case)
    (run,) = await rig.runs(case)
    assert (run.outcome, run.stop_reason) == (Outcome.LEASE_LOST, "kim took the case over")
    assert (run.input_tokens, run.output_tokens, run.cost_usd) == (100, 10, 0.001)
    (asked,) = await rig.steps(case, tools_only=False)
    assert (asked.state, asked.error) == (StepState.FAILED, "the lease was lost")
    held = await who_has(rig, case)
    assert (held.kind, held.principal, held.until) == (LeaseKind.HUMAN, rig.people["kim"].id, None)
    assert (await rig.case(case)).waiting_on is WaitingOn.HUMAN
    assert (await rig.case(case)).assignee == rig.people["kim"].id
    await checked(rig.store, case)


@pytest.mark.parametrize("call", [LOOK, NOTE])
async def test_a_call_in_flight_is_recorded_as_what_happened_and_nothing_follows_it(
    rig: Rig, call: tuple[str, dict[str, object]]
) -> None:
    """R10: a fact is accepted after the lease is gone, an act is not."""
    under_way = rig.effects.hold(call[0])
    rig.model.then(calls(call, RESTART))
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await under_way.reached.wait()

    await rig.take(case)
    under_way.release.set()
    await working

    assert await results(rig, case) == [(call[0], "ok"), ("svc.restart", "not_asked")]
    assert len(rig.model.sent) == 1
    assert await rig.gates(case) == []
    assert [run.outcome for run in await rig.runs(case)] == [Outcome.LEASE_LOST]
    assert (await who_has(rig, case)).kind is LeaseKind.HUMAN


async def test_an_approved_call_in_flight_is_made_once_and_is_seen_by_the_assistant_after_the_hand_back(
    rig: Rig,
) -> None:
    case = await parked(rig)
    await rig.decide(case)
    under_way = rig.effects.hold("restart")
    working = rig.start(rig.work())
    await under_way.reached.wait()

    await rig.take(case)
    under_way.release.set()
    await working
    rig.model.then(says("It runs."))
    await rig.release(case)
    await rig.work()

    assert rig.effects.made == ["restart nginx"]
    assert await results(rig, case) == [("svc.restart", "ok"), ("wipe", "not_asked"), ("note", "not_asked")]
    assert returned(rig.model.sent[-1])[0] == "restart nginx: done"
    assert unpaired(rig.model.sent[-1]) == []
    assert rig.posted()[-1] == "It runs."


async def test_an_open_gate_is_withdrawn_its_card_says_so_and_each_call_has_its_one_result(rig: Rig) -> None:
    """R7, R28."""
    case = await parked(rig)

    await rig.take(case)
    await rig.deliver()

    (gate,) = await rig.gates(case)
    assert (gate.state, gate.reason) == (GateState.WITHDRAWN, "kim took the case over")
    assert await results(rig, case) == [("svc.restart", "withdrawn"), ("wipe", "not_asked"), ("note", "not_asked")]
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.QUEUED]
    card = next(text for text in rig.posted() if "Restart" in text)
    assert "Withdrawn" in card
    assert "kim took the case over" in card
    assert rig.effects.made == []


async def test_an_answer_after_the_takeover_is_refused_with_why_and_when(rig: Rig) -> None:
    case = await parked(rig)
    gate = await rig.gate(case)
    await rig.take(case)

    reply = await rig.decide(case, by="lee", gate=gate)

    assert not reply.taken
    assert reply.text.startswith(f"Gate {gate.id} is already decided: Withdrawn ")
    assert reply.text.endswith(": kim took the case over.")
    assert (await rig.gates(case))[0].state is GateState.WITHDRAWN


async def test_an_approval_that_was_not_spent_is_void_and_never_runs(rig: Rig) -> None:
    """R9."""
    case = await parked(rig)
    await rig.decide(case)

    await rig.take(case)
    await rig.deliver()
    rig.model.then(says("Then not."))
    await rig.release(case)
    await rig.work()

    (gate,) = await rig.gates(case)
    assert (gate.state, gate.void_reason) == (GateState.VOID, "kim took the case over")
    assert rig.effects.made == []
    assert await results(rig, case) == [("svc.restart", "withdrawn"), ("wipe", "not_asked"), ("note", "not_asked")]
    assert "not run: kim took the case over" in next(text for text in rig.posted() if "Restart" in text)
    assert returned(rig.model.sent[-1])[0] == "not run: kim took the case over"


async def test_a_decision_on_the_first_of_two_gates_does_not_let_the_second_be_asked_after_the_takeover(
    rig: Rig,
) -> None:
    case = await parked(rig)
    await rig.decide(case, Verb.DENY)
    await rig.work()
    assert (await rig.gate(case)).tool == "wipe"

    await rig.take(case)
    rig.model.then(says("Very well."))
    await rig.release(case)
    await rig.work()

    assert [gate.state for gate in await rig.gates(case)] == [GateState.DENIED, GateState.WITHDRAWN]
    assert await results(rig, case) == [("svc.restart", "denied"), ("wipe", "withdrawn"), ("note", "not_asked")]


@pytest.mark.parametrize("answer", [None, Verb.RERUN])
async def test_a_question_whether_something_happened_is_withdrawn_and_it_is_never_run_again(
    rig: Rig, answer: Verb | None
) -> None:
    """R14, R9: also where somebody had said "run it again" and that was not done yet."""
    rig.effects.answer("note", TimeoutError())
    rig.model.then(calls(NOTE))
    case = await rig.say("Note it.")
    await rig.work()
    assert (await rig.gate(case)).kind is GateKind.OUTCOME
    if answer is not None:
        await rig.decide(case, answer)

    await rig.take(case)
    rig.model.then(says("I do not know."))
    await rig.release(case)
    await rig.work()

    (gate,) = await rig.gates(case)
    assert gate.state is (GateState.WITHDRAWN if answer is None else GateState.VOID)
    assert rig.effects.count("note") == 1
    assert await results(rig, case) == [("note", "unknown")]
    assert unpaired(rig.model.sent[-1]) == []
    assert rig.posted()[-1] == "I do not know."


async def test_what_a_person_said_of_an_outcome_stays_said_through_a_takeover(rig: Rig) -> None:
    rig.effects.answer("note", TimeoutError())
    rig.model.then(calls(NOTE))
    case = await rig.say("Note it.")
    await rig.work()
    await rig.decide(case, Verb.HAPPENED)

    await rig.take(case)
    rig.model.then(says("Noted."))
    await rig.release(case)
    await rig.work()

    assert await results(rig, case) == [("note", "ok")]
    assert returned(rig.model.sent[-1]) == ["kim says that it happened"]


async def test_a_reply_that_was_not_delivered_yet_is_held_and_never_sent(rig: Rig) -> None:
    rig.model.then(says("Do this."))
    case = await rig.say("What now?")
    await rig.work(deliver=False)

    await rig.take(case)
    await rig.deliver()
    assert [row.state for row in await rig.outbox(case) if row.body == "Do this."] == ["held"]
    await rig.release(case)
    await rig.deliver()

    assert [row.state for row in await rig.outbox(case) if row.body == "Do this."] == ["dead"]
    assert not any("Do this." in text for text in rig.posted())
    rig.model.then(says("As I was going to say."))
    await rig.say("And?")
    await rig.work()
    assert any("not delivered" in text for text in said(rig.model.sent[-1]))


async def test_while_a_person_has_a_case_messages_are_stored_and_the_assistant_leaves_it(rig: Rig) -> None:
    case = await rig.say("Help!")
    await rig.take(case)

    await rig.say("Are you there?")
    await rig.speak(case, "And from here?", by="ann")
    rig.clock.pass_by(100 * HOUR)
    await rig.work()
    rig.engine.wake(case.id)
    await rig.engine.idle()

    assert rig.model.sent == []
    assert await rig.runs(case) == []
    unread = [message.text for message in await rig.store.read(messages.unread, case.id)]
    assert unread == ["Help!", "Are you there?", "And from here?"]
    assert (await who_has(rig, case)).principal == rig.people["kim"].id


async def test_a_restart_does_not_take_the_case_from_the_person(rig: Rig) -> None:
    case = await rig.say("Help!")
    await rig.take(case)

    await rig.restart()
    await rig.work()

    assert rig.model.sent == []
    assert (await who_has(rig, case)).principal == rig.people["kim"].id


async def test_handed_back_the_assistant_goes_on_with_what_people_said_meanwhile_in_view(rig: Rig) -> None:
    case = await parked(rig)
    await rig.take(case)
    await rig.say("It is the blue one.", by="ann")
    await rig.say("I restarted it by hand.", by="kim", addressed=False)
    await rig.speak(case, "It should be fine now.", by="kim")
    await rig.deliver()
    assert rig.posted()[-1] == "It should be fine now."

    rig.model.then(says("Thank you."))
    await rig.release(case)
    await rig.work()

    assert len(rig.model.sent) == 2
    request = rig.model.sent[-1]
    assert unpaired(request) == []
    heard = said(request)
    assert heard[0] == "ann (requester): It hangs."
    assert "ann (requester): It is the blue one." in heard
    assert "kim (operator): I restarted it by hand." in heard
    assert "kim (operator): It should be fine now." in heard
    assert returned(request) == [
        "not run: kim took the case over", "not asked: kim took the case over", "not asked: kim took the case over"
    ]  # fmt: skip
    assert rig.posted()[-1] == "Thank you."
    assert (await who_has(rig, case)).kind is None
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    await checked(rig.store, case)


async def test_handed_back_with_nothing_owed_and_nothing_said_the_assistant_has_nothing_to_do(rig: Rig) -> None:
    rig.model.then(says("Done."))
    case = await rig.say("Help!")
    await rig.work()
    await rig.take(case)
    await rig.release(case)
    await rig.work()

    assert len(rig.model.sent) == 1
    assert (await rig.case(case)).waiting_on is WaitingOn.NOBODY
    assert rig.posted()[-1] == f"kim has handed {case.label} back to the assistant."


async def test_two_people_do_not_have_one_case_and_what_nobody_has_is_not_handed_back(rig: Rig) -> None:
    case = await rig.say("Help!")
    with pytest.raises(MoveRefused, match="is not taken over by anybody"):
        await rig.release(case)

    await rig.take(case)
    before = await rig.trail(case)
    with pytest.raises(MoveRefused, match="is already yours"):
        await rig.take(case)
    with pytest.raises(MoveRefused, match="is with kim"):
        await rig.take(case, by="lee")
    with pytest.raises(MoveRefused, match="Only an operator"):
        await rig.release(case, by="ann")

    assert await rig.trail(case) == before
    assert (await who_has(rig, case)).principal == rig.people["kim"].id


async def test_only_an_operator_takes_a_case_over(rig: Rig) -> None:
    case = await rig.say("Help!")

    with pytest.raises(MoveRefused, match="Only an operator"):
        await rig.take(case, by="ann")

    assert (await who_has(rig, case)).kind is None


async def test_another_operator_may_hand_a_case_back(rig: Rig) -> None:
    """The one who has it may be asleep."""
    case = await rig.say("Help!")
    await rig.take(case)
    await rig.release(case, by="lee")

    assert (await who_has(rig, case)).kind is None


async def test_a_closed_case_is_not_taken_over_and_a_resolved_one_is_in_progress_again(rig: Rig) -> None:
    case = await rig.say("Help!")
    await rig.resolve(case)
    await rig.take(case)
    assert ((await rig.case(case)).state, (await rig.case(case)).waiting_on) == (CaseState.IN_PROGRESS, WaitingOn.HUMAN)

    await rig.close(case)
    with pytest.raises(MoveRefused, match="is closed; there is nothing to take over"):
        await rig.take(case)


async def test_an_operator_who_writes_in_the_thread_without_addressing_the_bot_takes_the_case_over(rig: Rig) -> None:
    thinking = Held()
    rig.model.then(Waits(thinking, says("Let me see.")))
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await thinking.reached.wait()

    await rig.say("I am on it.", by="kim", addressed=False)
    thinking.release.set()
    await working

    assert (await who_has(rig, case)).principal == rig.people["kim"].id
    assert not any("Let me see." in text for text in rig.posted())
    assert len(rig.model.sent) == 1

    await rig.say("Me too.", by="lee", addressed=False)
    assert (await who_has(rig, case)).principal == rig.people["kim"].id


async def test_where_the_setting_says_joins_an_operator_who_writes_is_one_more_voice(make_rig: MakeRig) -> None:
    rig = await make_rig(says("Yes?"), says("I see."), settings=Settings(access=Access(operator_writes="joins")))
    case = await rig.say("Help!")
    await rig.work()

    await rig.say("It is the disk.", by="kim", addressed=False)
    await rig.work()

    assert (await who_has(rig, case)).kind is None
    assert said(rig.model.sent[-1])[-1] == "kim (operator): It is the disk."
    assert rig.posted() == ["Yes?", "I see."]


@pytest.mark.parametrize(
    ("opener", "writer", "addressed"), [("ann", "kim", True), ("kim", "kim", False), ("ann", "ben", False)]
)
async def test_nobody_else_takes_a_case_over_by_writing(rig: Rig, opener: str, writer: str, addressed: bool) -> None:
    """An operator who speaks to the bot; the operator whose case it is; somebody who stands by."""
    rig.model.then(says("Yes?"), says("I see."))
    case = await rig.say("Help!", by=opener)
    await rig.work()

    await rig.say("One thing more.", by=writer, addressed=addressed)
    await rig.work()

    assert (await who_has(rig, case)).kind is None
    assert rig.posted()[-1] == "I see."


async def test_an_operator_who_writes_in_the_thread_of_a_parked_case_withdraws_its_gate(rig: Rig) -> None:
    case = await parked(rig)

    await rig.say("Leave it.", by="kim", addressed=False)

    assert (await rig.gates(case))[0].state is GateState.WITHDRAWN
    assert "Leave it." in [message.text for message in await rig.messages(case)]
    assert "waits for" not in (await rig.texts(case))[-1]
