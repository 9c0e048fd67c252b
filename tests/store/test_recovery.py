"""What a kill leaves behind, and what the next run makes of it (R13, R14; the table of crash points)."""

from dataclasses import replace

import pytest

from casestore import gates, leases, model_steps, recovery, runs, spending, steps, turns
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.model_steps import ModelCall
from casestore.models import Step
from casestore.spending import NotSpent, Spent
from casestore.states import GateKind, Outcome, StepState, Tier, TurnState, Verb
from casestore.steps import Call
from casestore.turns import Begun
from casestore.tx import Tx
from tests.conftest import LEASE_TTL, MINUTE, RESTART, WORKER, Asked, Working, World
from tests.store.rows import copy_row

LATE = LEASE_TTL
"""When the lease of whoever was killed has run out."""


async def killed_during(world: World, tier: Tier, *, deadline: int = MINUTE) -> Working:
    """A call was started, and nobody lives who could say how it ended."""
    working = await world.working(replace(RESTART, tier=tier))
    await world.store.write(
        steps.start_tool, world.now, working.lease, working.run.id, working.step, deadline=world.now + deadline
    )  # fmt: skip
    return working


async def next_run(world: World, working: Working, *, at: int = LATE) -> Begun | None:
    return await world.store.write(turns.begin, world.now + at, working.case.id, WORKER)


async def step_of(world: World, working: Working) -> Step:
    return await world.store.read(steps.by_id, working.step.id)


async def unknown(world: World) -> Working:
    """A call whose outcome nobody knows, and the run that has found it."""
    working = await killed_during(world, Tier.CONSEQUENTIAL)
    begun = await next_run(world, working)
    assert begun is not None
    return replace(working, begun=begun)


async def answered(world: World, working: Working, verb: Verb, *, effect_key: str | None = None) -> Asked:
    """A person has said what became of it, and the next run has begun."""
    moved = World(world.store, world.people, world.now + LATE)
    known = replace(working, steps=(await step_of(world, working),))
    asked = await moved.ask(known, kind=GateKind.OUTCOME, effect_key=effect_key, effect_nth=1 if effect_key else 0)
    await moved.decide(asked.gate, world.people.kim, verb)
    return await moved.resumed(asked)


async def spend(world: World, asked: Asked) -> Spent | NotSpent:
    at = world.now + LATE
    return await world.store.write(
        spending.spend, at, asked.lease, asked.run.id, asked.gate, tool_version="v1", deadline=at + MINUTE
    )  # fmt: skip


async def test_of_two_calls_that_were_cut_off_the_later_deadline_is_waited_for(world: World, store: Store) -> None:
    first, second = replace(RESTART, tier=Tier.ROUTINE), replace(RESTART, tier=Tier.ROUTINE, position=1, call_id="c2")
    working = await world.working(first, second)
    for step, minutes in zip(working.steps, (30, 20), strict=True):
        await store.write(
            steps.start_tool, world.now, working.lease, working.run.id, step, deadline=world.now + minutes * MINUTE
        )
    assert await store.write(recovery.recover, world.now, working.turn.id) == world.now + 30 * MINUTE


async def test_a_model_call_that_has_answered_does_not_fail_afterwards(world: World, store: Store) -> None:
    """R10"""
    working = await world.working()
    await store.write(model_steps.fail, world.now, working.model_step, "interrupted")
    answered = await store.read(steps.by_id, working.model_step)
    assert (answered.state, answered.error) == (StepState.FINISHED, None)


async def test_that_an_outcome_is_unknown_is_written_once(world: World, store: Store) -> None:
    working = await killed_during(world, Tier.CONSEQUENTIAL)
    for _ in range(2):
        await store.write(recovery.mark_unknown, world.now + LATE, working.step)
    assert (await world.trail_kinds(working.case.id)).count("tool.outcome_unknown") == 1


async def test_killed_during_a_model_call_the_model_is_asked_again(world: World, store: Store) -> None:
    begun = await world.begin()
    call = ModelCall("{}", "d", world.now + MINUTE)
    step = await store.write(model_steps.start, world.now, begun.lease, begun.run, call)
    again = await store.write(turns.begin, world.now + LATE, begun.case.id, WORKER)
    assert again is not None
    failed = await store.read(steps.by_id, step)
    assert (failed.state, failed.error) == (StepState.FAILED, "interrupted")
    assert await store.read(model_steps.last_response, begun.turn.id) is None, "there is no response to work"


async def test_killed_after_the_response_its_calls_are_worked(world: World, store: Store) -> None:
    working = await world.working()
    assert await next_run(world, working) is not None
    response = await store.read(model_steps.last_response, working.turn.id)
    assert response is not None
    assert response.id == working.model_step
    assert [step.state for step in await store.read(steps.of_response, response.id)] == [StepState.WAITING]


async def test_killed_during_a_read_only_call_it_is_run_again(world: World) -> None:
    working = await killed_during(world, Tier.READ_ONLY, deadline=LEASE_TTL + MINUTE)
    assert await next_run(world, working, at=LEASE_TTL + MINUTE) is not None
    step = await step_of(world, working)
    assert (step.state, step.started_at, step.deadline) == (StepState.WAITING, None, None)


@pytest.mark.parametrize("tier", [Tier.ROUTINE, Tier.CONSEQUENTIAL])
async def test_killed_during_any_other_call_its_outcome_is_unknown(world: World, tier: Tier) -> None:
    working = await killed_during(world, tier)
    assert await next_run(world, working) is not None
    step = await step_of(world, working)
    assert (step.state, step.result) == (StepState.UNKNOWN, None)
    assert "tool.outcome_unknown" in await world.trail_kinds(working.case.id)


async def test_an_outcome_is_not_called_unknown_before_its_deadline_has_passed(world: World, store: Store) -> None:
    """The service may free the lease of its earlier boot at once; the call itself may still be under way."""
    deadline = 3 * MINUTE
    working = await killed_during(world, Tier.CONSEQUENTIAL, deadline=deadline)
    await store.write(leases.void_earlier_boots, "boot-2")
    assert await next_run(world, working, at=MINUTE) is None
    assert (await step_of(world, working)).state is StepState.STARTED
    turn = await store.read(turns.by_id, working.turn.id)
    assert turn.not_before == world.now + deadline
    assert (await store.read(leases.of_case, working.case.id)).kind is None, "the case is not held meanwhile"
    assert await store.read(leases.ready, world.now + deadline - 1, 10) == []
    assert await store.read(leases.ready, world.now + deadline, 10) == [working.case.id]
    assert await next_run(world, working, at=deadline) is not None
    assert (await step_of(world, working)).state is StepState.UNKNOWN


async def test_what_was_finished_is_never_touched_again(world: World, store: Store) -> None:
    working = await killed_during(world, Tier.CONSEQUENTIAL)
    await store.write(steps.finish_tool, world.now, working.step.id, ok=True, result='{"ok":true}')
    finished = await step_of(world, working)
    assert await next_run(world, working) is not None
    await store.write(recovery.mark_unknown, world.now, finished)
    assert await step_of(world, working) == finished


async def test_a_result_that_comes_while_the_outcome_is_unknown_is_a_fact(world: World, store: Store) -> None:
    """R10"""
    working = await unknown(world)
    assert await store.write(steps.finish_tool, world.now + LATE, working.step.id, ok=True, result='{"n":1}')
    assert (await step_of(world, working)).state is StepState.FINISHED


@pytest.mark.parametrize("happened", [True, False])
async def test_a_person_can_say_what_became_of_it_once(world: World, store: Store, happened: bool) -> None:
    working = await unknown(world)
    told = {"actor": "principal:kim"}
    step = await step_of(world, working)
    await store.write(recovery.settle_unknown, world.now, step, happened=happened, result='{"n":1}', **told)
    await store.write(recovery.settle_unknown, world.now + 1, step, happened=not happened, result='{"n":2}', **told)
    settled = await step_of(world, working)
    assert (settled.state, settled.result) == (StepState.FINISHED if happened else StepState.FAILED, '{"n":1}')
    assert not await store.write(steps.finish_tool, world.now, step.id, ok=True, result='{"n":3}')
    assert (await world.trail_kinds(working.case.id)).count("tool.outcome_told") == 1


async def test_an_outcome_nobody_told_stays_unknown_and_the_model_hears_that(world: World, store: Store) -> None:
    working = await unknown(world)
    await store.write(recovery.leave_unknown, await step_of(world, working), '{"kind":"unknown"}')
    step = await step_of(world, working)
    assert (step.state, step.result) == (StepState.UNKNOWN, '{"kind":"unknown"}')
    assert not await store.write(steps.finish_tool, world.now, step.id, ok=True, result='{"n":3}')
    await store.write(recovery.settle_unknown, world.now, step, happened=True, result="{}", actor="principal:kim")
    assert await step_of(world, working) == step, "what the model has heard stays what was heard"


@pytest.mark.parametrize("started", [True, False])
async def test_of_a_call_that_is_not_in_doubt_nobody_says_what_became(
    world: World, store: Store, started: bool
) -> None:
    """Such a word would take the result from a call being made, and its turn from one that waits."""
    working = await (killed_during(world, Tier.CONSEQUENTIAL) if started else world.working())
    step = await step_of(world, working)
    await store.write(recovery.settle_unknown, world.now, step, happened=True, result='{"n":1}', actor="principal:kim")
    await store.write(recovery.leave_unknown, step, '{"kind":"unknown"}')
    assert await step_of(world, working) == step
    assert "tool.outcome_told" not in await world.trail_kinds(working.case.id)


@pytest.mark.parametrize("finished", [True, False])
async def test_a_call_that_is_being_made_or_was_made_is_not_refused_any_more(
    world: World, store: Store, finished: bool
) -> None:
    working = await killed_during(world, Tier.CONSEQUENTIAL)
    if finished:
        await store.write(steps.finish_tool, world.now, working.step.id, ok=True, result='{"n":1}')
    step = await step_of(world, working)
    await store.write(steps.refuse, world.now, None, step, '{"kind":"not_asked"}', why="the case was closed")
    assert await step_of(world, working) == step
    assert "tool.refused" not in await world.trail_kinds(working.case.id)


async def test_run_it_again_is_a_further_attempt_beside_the_first(world: World, store: Store) -> None:
    working = await unknown(world)
    asked = await answered(world, working, Verb.RERUN)
    spent = await spend(world, asked)
    assert isinstance(spent, Spent)
    assert (spent.step.id, spent.step.gate_id) != (working.step.id, None)
    assert (spent.step.state, spent.step.position, spent.step.args) == (StepState.STARTED, 0, RESTART.args)
    assert (await step_of(world, working)).state is StepState.UNKNOWN
    newest = await store.read(steps.of_response, working.model_step)
    assert [step.id for step in newest] == [spent.step.id], "the call is known by its newest attempt"


async def test_run_it_again_is_said_once_and_done_once(world: World, store: Store) -> None:
    """R9"""
    asked = await answered(world, await unknown(world), Verb.RERUN)
    assert isinstance(await spend(world, asked), Spent)
    assert await spend(world, asked) is NotSpent.VOID
    assert await store.read(Tx.integer, "SELECT count(*) FROM steps WHERE kind = 'tool'") == 2


async def test_a_late_result_of_the_first_attempt_does_not_answer_for_the_second(world: World, store: Store) -> None:
    working = await unknown(world)
    spent = await spend(world, await answered(world, working, Verb.RERUN))
    assert isinstance(spent, Spent)
    assert not await store.write(steps.finish_tool, world.now + LATE, working.step.id, ok=True, result='{"n":1}')
    assert await store.write(steps.finish_tool, world.now + LATE, spent.step.id, ok=True, result='{"n":2}')
    assert [step.result for step in await store.read(steps.of_response, working.model_step)] == ['{"n":2}']


async def test_a_second_attempt_whose_outcome_is_unknown_too_asks_again(world: World, store: Store) -> None:
    working = await unknown(world)
    spent = await spend(world, await answered(world, working, Verb.RERUN))
    assert isinstance(spent, Spent)
    assert await next_run(world, working, at=LATE + LEASE_TTL + MINUTE) is not None
    (newest,) = await store.read(steps.of_response, working.model_step)
    assert (newest.id, newest.state) == (spent.step.id, StepState.UNKNOWN)
    assert await store.read(gates.of_step, newest.id, GateKind.OUTCOME) is None, "nobody has been asked about this one"


async def test_killed_after_the_decision_the_approval_is_spent_by_the_next_run(world: World, store: Store) -> None:
    approved = await world.approved()
    begun = await store.write(turns.begin, world.now + LATE, approved.case.id, WORKER)
    assert begun is not None
    assert isinstance(await spend(world, replace(approved, begun=begun)), Spent)


async def test_killed_after_the_effect_was_started_the_approval_is_not_spent_again(world: World, store: Store) -> None:
    approved = await world.approved()
    await store.write(
        spending.spend, world.now, approved.lease, approved.run.id, approved.gate, tool_version="v1",
        deadline=world.now + MINUTE,
    )  # fmt: skip
    begun = await store.write(turns.begin, world.now + LATE, approved.case.id, WORKER)
    assert begun is not None
    assert await spend(world, replace(approved, begun=begun)) is NotSpent.VOID
    assert (await step_of(world, approved)).state is StepState.UNKNOWN


async def test_killed_with_a_gate_open_the_turn_stays_parked(world: World, store: Store) -> None:
    """R8"""
    asked = await world.ask()
    assert await next_run(world, asked) is None
    assert (await store.read(turns.by_id, asked.turn.id)).state is TurnState.PARKED
    assert await world.gate(asked.gate.id) == asked.gate


async def test_no_raw_call_is_made_a_second_time_beside_one_that_is_known(world: World, store: Store) -> None:
    working = await world.working()
    with pytest.raises(ConstraintBroken, match=r"steps\.model_step"):
        await store.write(copy_row, "steps", working.step.id, seq=99)


@pytest.mark.parametrize(
    "change",
    [
        "state = 'finished'", "state = 'failed'", "state = 'refused'", "result = '{}'", "state = 'started'",
        "model_step = NULL", "tool = NULL", "kind = 'model'",
    ],
)  # fmt: skip
async def test_no_raw_call_is_over_without_a_result_or_has_one_before(world: World, store: Store, change: str) -> None:
    """R7: every tool call ends with exactly one result."""
    await world.working()
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.run, f"UPDATE steps SET {change} WHERE kind = 'tool'")


async def test_calls_are_known_by_their_place_and_not_by_the_providers_id_which_repeats(
    world: World, store: Store
) -> None:
    """R14"""
    same = [Call(n, "call-1", "host.restart_service", "v1", Tier.ROUTINE, f'{{"n":{n}}}') for n in range(3)]
    working = await world.working(*same)
    assert [step.args for step in working.steps] == ['{"n":0}', '{"n":1}', '{"n":2}']
    for step in reversed(working.steps):
        await store.write(steps.start_tool, world.now, working.lease, working.run.id, step, deadline=world.now + MINUTE)
        await store.write(steps.finish_tool, world.now, step.id, ok=True, result=step.args or "")
    ended = await store.read(steps.of_response, working.model_step)
    assert [step.result for step in ended] == [step.args for step in working.steps]


async def test_the_run_that_was_killed_is_recorded_as_crashed(world: World, store: Store) -> None:
    """R16"""
    working = await killed_during(world, Tier.CONSEQUENTIAL)
    begun = await next_run(world, working)
    assert begun is not None
    died = await store.read(runs.by_id, working.run.id)
    assert (died.outcome, died.stop_reason, died.tool_calls) == (
        Outcome.CRASHED,
        "it was cut off before it was done",
        1,
    )
