"""Killed at each point of a turn: what is on disk, and what the next process does with it (R10, R13, R14)."""

import asyncio

import pytest

from bot.gates import gating
from bot.inbound import intake
from bot.outbound import threads
from bot.turns import advance
from casestore import cases, leases
from casestore.scope import System
from casestore.states import Outcome, StepState, TurnState
from tests.loop.cut_off import killed_in
from tests.loop.ended import how_they_ended
from tests.loop.rig import THREAD, Killed, Rig, checked
from tests.loop.scripted import Held, Waits, calls, returned, says, unpaired

LOOK = ("look", {"at": "/"})
NOTE = ("note", {"text": "x"})
RESTART = ("svc.restart", {"service": "a"})


async def test_killed_before_a_message_is_stored_the_platform_was_not_told_and_sends_it_again(rig: Rig) -> None:
    rig.die(before=intake.receive)
    with pytest.raises(Killed):
        await rig.channel.say("Hello", address=THREAD, account=rig.account("ann"))
    await rig.restart()
    assert await rig.store.read(cases.listing, System()) == []

    rig.model.then(says("Yes?"))
    (lost,) = [inbound async for inbound in rig.channel.catch_up(THREAD, None)]
    assert await rig.channel.deliver(lost)
    await rig.work()
    assert rig.posted() == ["Yes?"]


async def test_killed_after_it_is_stored_and_before_the_platform_is_told_it_comes_again_as_a_duplicate(
    rig: Rig,
) -> None:
    rig.die(after=intake.receive)
    with pytest.raises(Killed):
        await rig.channel.say("Hello", address=THREAD, account=rig.account("ann"))
    await rig.restart()

    rig.model.then(says("Yes?"))
    (lost,) = [inbound async for inbound in rig.channel.catch_up(THREAD, None)]
    assert await rig.channel.deliver(lost)
    await rig.work()
    assert rig.posted() == ["Yes?"]
    assert len(rig.model.sent) == 1


async def test_killed_during_a_model_call_the_next_process_asks_again_what_was_asked(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")), says("It is the disk."))

    case = await rig.say("What is wrong?")
    await killed_in(rig, case, held)
    await rig.open()
    await rig.work()

    assert rig.posted() == ["It is the disk."]
    first, second = await rig.steps(case, tools_only=False)
    assert (first.state, first.error, second.state) == (StepState.FAILED, "interrupted", StepState.FINISHED)
    assert first.request_digest == second.request_digest
    assert await how_they_ended(rig, case) == [Outcome.CRASHED, Outcome.ANSWERED]
    crashed, answered = await rig.runs(case)
    assert (answered.resumes, answered.attempt, answered.fence > crashed.fence) == (crashed.id, 2, True)
    await checked(rig.store, case)


async def test_a_new_boot_does_not_wait_for_the_lease_of_an_earlier_one(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")))
    case = await rig.say("What is wrong?")
    await killed_in(rig, case, held)
    await rig.open()

    assert await rig.store.read(leases.ready, rig.clock.now(), 10) == [case.id]


async def test_killed_right_after_the_response_is_stored_its_calls_are_worked_and_it_is_not_asked_for_again(
    rig: Rig,
) -> None:
    rig.model.then(calls(LOOK, NOTE), says("Found it."))

    case = await rig.say("Look")
    rig.die(after=advance.respond)
    with pytest.raises(Killed):
        await rig.conductor.work(case.id)
    assert rig.effects.made == []
    await rig.restart()
    rig.clock.pass_by(60_000)
    await rig.work()

    assert rig.effects.count("look") == 1
    assert len(rig.model.sent) == 1
    assert (await rig.gate(case)).kind == "outcome"  # the note may have been made, for all that is known


async def test_killed_during_a_read_only_call_it_is_made_again(rig: Rig) -> None:
    rig.model.then(calls(LOOK), says("Found it."))
    held = rig.effects.hold("look")

    case = await rig.say("Look")
    await killed_in(rig, case, held)
    await rig.open()
    await rig.work()

    assert rig.effects.made == ["look /", "look /"]
    assert [step.state for step in await rig.steps(case)] == [StepState.FINISHED]
    assert returned(rig.model.sent[1]) == ["look /: done"]
    assert rig.posted() == ["Found it."]


@pytest.mark.parametrize("after", [True, False], ids=["after its effect", "before its effect"])
async def test_killed_during_any_other_call_nothing_is_repeated_and_a_person_is_asked(rig: Rig, after: bool) -> None:
    rig.model.then(calls(NOTE, LOOK))
    held = rig.effects.hold("note", after=after)

    case = await rig.say("Note it")
    await killed_in(rig, case, held)
    await rig.open()
    await rig.work()
    noted, looked = await rig.steps(case)
    assert noted.deadline is not None
    assert (noted.state, await rig.open_gate(case)) == (StepState.STARTED, None)
    assert (await rig.turns(case))[0].not_before == noted.deadline

    rig.clock.ms = noted.deadline - 1
    await rig.work()
    assert await rig.open_gate(case) is None
    rig.clock.ms = noted.deadline
    await rig.work()

    gate = await rig.gate(case)
    assert (gate.kind, gate.step_id, gate.statement) == ("outcome", noted.id, 'Did this happen? Note "x"')
    assert [step.state for step in await rig.steps(case)] == [StepState.UNKNOWN, StepState.FINISHED]
    assert looked.state in (StepState.STARTED, StepState.FINISHED, StepState.WAITING)
    assert rig.effects.count("note") == int(after)
    assert len(rig.model.sent) == 1


async def test_killed_right_after_a_result_is_stored_the_call_is_not_made_again(rig: Rig) -> None:
    rig.model.then(calls(NOTE), says("Noted."))

    case = await rig.say("Note it")
    rig.die(after=advance.all_finished)
    with pytest.raises(Killed):
        await rig.conductor.work(case.id)
    await rig.restart()
    await rig.work()

    assert rig.effects.made == ["note x"]
    assert rig.posted() == ["Noted."]
    assert returned(rig.model.sent[1]) == ["note x: done"]


async def test_killed_between_two_results_of_one_response_only_the_missing_one_is_made_again(rig: Rig) -> None:
    rig.model.then(calls(("look", {"at": "/a"}), ("look", {"at": "/b"})), says("Found it."))
    held = rig.effects.hold("look")

    case = await rig.say("Look")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    while (await rig.steps(case))[1].state is not StepState.FINISHED:  # noqa: ASYNC110 - only the store knows
        await asyncio.sleep(0)
    await rig.kill()
    assert working.cancelled()
    await rig.open()
    await rig.work()

    assert sorted(rig.effects.made) == ["look /a", "look /a", "look /b"]
    assert unpaired(rig.model.sent[1]) == []


async def test_killed_right_after_parking_the_card_is_sent_all_the_same(rig: Rig) -> None:
    rig.model.then(calls(RESTART), says("Restarted."))

    case = await rig.say("It hangs")
    rig.die(after=advance.respond)
    with pytest.raises(Killed):
        await rig.conductor.work(case.id)
    await rig.restart()
    await rig.work()

    (card,) = rig.posted()
    assert card.startswith('Approve?  Restart "a"')
    assert await how_they_ended(rig, case) == [Outcome.PARKED]
    await rig.decide(case)
    await rig.work()
    assert rig.effects.made == ["restart a"]


async def test_killed_after_the_decision_and_before_its_effect_the_approval_is_spent_once(rig: Rig) -> None:
    rig.model.then(calls(RESTART), says("Restarted."))

    case = await rig.say("It hangs")
    await rig.work()
    rig.die(after=gating.decide)
    with pytest.raises(Killed):
        await rig.decide(case)
    await rig.restart()
    await rig.work()
    await rig.restart()
    await rig.work()

    assert rig.effects.made == ["restart a"]
    assert (await rig.gates(case))[0].state == "approved"


async def test_killed_while_an_approved_call_is_made_it_is_not_made_again(rig: Rig) -> None:
    rig.model.then(calls(RESTART))
    held = rig.effects.hold("restart")

    case = await rig.say("It hangs")
    await rig.work()
    await rig.decide(case)
    await killed_in(rig, case, held)
    await rig.open()
    rig.clock.pass_by(40_000)
    await rig.work()

    assert rig.effects.made == ["restart a"]
    assert [gate.kind for gate in await rig.gates(case)] == ["approval", "outcome"]


async def test_killed_after_a_message_was_sent_and_before_that_was_noted_it_is_not_sent_twice(rig: Rig) -> None:
    rig.model.then(says("It is the disk."))

    case = await rig.say("What is wrong?")
    await rig.work(deliver=False)
    rig.die(before=threads.posted)
    with pytest.raises(Killed):
        await rig.deliver()
    await rig.restart()
    await rig.delivery.reconcile()
    await rig.deliver()

    assert rig.posted() == ["It is the disk."]
    (row,) = await rig.outbox(case)
    assert (row.state, row.platform_id, row.possible_duplicate) == ("sent", rig.channel.sent[0].platform_id, False)


async def test_killed_after_the_last_words_the_turn_stays_settled(rig: Rig) -> None:
    rig.model.then(says("It is the disk."))

    case = await rig.say("What is wrong?")
    rig.die(after=advance.respond)
    with pytest.raises(Killed):
        await rig.conductor.work(case.id)
    await rig.restart()
    await rig.work()

    assert rig.posted() == ["It is the disk."]
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    assert await how_they_ended(rig, case) == [Outcome.ANSWERED]
