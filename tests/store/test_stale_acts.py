"""Acts carry the fence and a stale one is refused; facts are accepted by their own id, whoever holds the case (R10)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from casestore import asking, leases, model_steps, recovery, runs, spending, steps
from casestore.asking import Policy
from casestore.db import Store
from casestore.errors import LeaseLost, MoveRefused
from casestore.model_steps import ModelCall
from casestore.states import OnExpiry, Outcome, Role, StepState, Tier
from casestore.tx import Tx
from tests.conftest import DAY, LEASE_TTL, MINUTE, USAGE, WORKER, Asked, World, question_for
from tests.store.rows import everything

Act = Callable[[Tx, int, Asked], object]
POLICY = Policy((Role.OPERATOR,), four_eyes=True, on_expiry=OnExpiry.TELL, expires_at=10**13)


def start_model(tx: Tx, now: int, held: Asked) -> object:
    return model_steps.start(tx, now, held.lease, held.run, ModelCall("{}", "d", now + MINUTE))


def start_tool(tx: Tx, now: int, held: Asked) -> object:
    return steps.start_tool(tx, now, held.lease, held.run.id, held.step, deadline=now + MINUTE)


def ask(tx: Tx, now: int, held: Asked) -> object:
    return asking.ask(tx, now, held.lease, held.turn.id, question_for(held.step, POLICY))


def spend(tx: Tx, now: int, held: Asked) -> object:
    return spending.spend(tx, now, held.lease, held.run.id, held.gate, tool_version="v1", deadline=now + MINUTE)


ACTS: list[Act] = [start_model, start_tool, ask, spend]
LOSSES = ["ran out", "taken by the next", "a person has it", "dropped", "the service started anew", "the case ended"]


async def lose(world: World, held: Asked, how: str) -> int:
    """The lease is gone; the time it is then."""
    store = world.store
    if how == "ran out":
        return world.now + LEASE_TTL
    if how == "taken by the next":
        later = world.now + LEASE_TTL
        await store.write(leases.take, later, held.case.id, holder="other", boot=WORKER.boot, ttl=LEASE_TTL)
        return later
    if how == "a person has it":
        await store.write(leases.seize, world.now, held.case, world.people.kim)
    elif how == "dropped":
        await store.write(leases.drop, held.lease)
    elif how == "the service started anew":
        await store.write(leases.void_earlier_boots, "boot-2")
    else:
        await store.write(leases.free, held.case.id)
    return world.now


@pytest.mark.parametrize("how", LOSSES)
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
async def test_an_act_under_a_lease_that_is_gone_is_refused_and_changes_nothing(
    world: World, store: Store, act: Act, how: str
) -> None:
    held = await world.approved()
    now = await lose(world, held, how)
    before = await store.read(everything)
    with pytest.raises(LeaseLost):
        await store.write(act, now, held)
    assert await store.read(everything) == before


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
async def test_an_act_under_the_lease_of_another_case_is_refused_and_changes_nothing(
    world: World, store: Store, act: Act
) -> None:
    held, other = await world.approved(), await world.working()
    before = await store.read(everything)
    with pytest.raises(LeaseLost):
        await store.write(act, world.now, replace(held, begun=replace(held.begun, lease=other.lease)))
    assert await store.read(everything) == before


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
async def test_the_same_act_is_done_under_a_lease_that_stands(world: World, store: Store, act: Act) -> None:
    held = await world.approved()
    await store.write(act, world.now, held)


async def test_what_a_tool_did_is_accepted_once_though_the_lease_is_gone(world: World, store: Store) -> None:
    working = await world.working()
    await store.write(
        steps.start_tool, world.now, working.lease, working.run.id, working.step, deadline=world.now + DAY
    )  # fmt: skip
    await store.write(leases.free, working.case.id)
    finish = steps.finish_tool
    assert await store.write(finish, world.now + 1, working.step.id, ok=True, result='{"n":1}')
    assert not await store.write(finish, world.now + 2, working.step.id, ok=False, result='{"n":2}')
    step = await store.read(steps.by_id, working.step.id)
    assert (step.state, step.result, step.finished_at) == (StepState.FINISHED, '{"n":1}', world.now + 1)
    assert (await world.trail_kinds(working.case.id))[-2:] == ["tool.finished", "tool.late_result"]


async def test_what_a_model_call_used_is_counted_once_though_the_lease_is_gone(world: World, store: Store) -> None:
    begun = await world.begin()
    step = await store.write(
        model_steps.start, world.now, begun.lease, begun.run, ModelCall("{}", "d", world.now + MINUTE)
    )  # fmt: skip
    await store.write(leases.free, begun.case.id)
    for _ in range(2):
        await store.write(model_steps.finish, world.now, step, begun.run.id, USAGE, None)
    run = await store.read(runs.by_id, begun.run.id)
    assert (run.model_calls, run.input_tokens, run.output_tokens, run.cached_tokens) == (1, 100, 20, 10)
    assert (run.cost_usd, run.model_reported) == (0.25, "playbook-1")


async def test_what_a_model_call_used_is_counted_though_the_next_holder_gave_it_up(world: World, store: Store) -> None:
    """R10: what happened is not forgotten because the lease is gone; a response that comes too late is not used."""
    begun = await world.begin()
    step = await store.write(
        model_steps.start, world.now, begun.lease, begun.run, ModelCall("{}", "d", world.now + MINUTE)
    )  # fmt: skip
    await store.write(recovery.recover, world.now + LEASE_TTL, begun.turn.id)
    for response_seq in (7, None):
        await store.write(model_steps.finish, world.now + DAY, step, begun.run.id, USAGE, response_seq)
    run = await store.read(runs.by_id, begun.run.id)
    assert (run.model_calls, run.input_tokens, run.cost_usd) == (1, 100, 0.25)
    given_up = await store.read(steps.by_id, step)
    assert (given_up.state, given_up.error, given_up.finished_at) == (
        StepState.FAILED, "interrupted", world.now + LEASE_TTL,
    )  # fmt: skip
    assert (given_up.provider_response_id, given_up.input_tokens) == ("response-1", 100)
    assert given_up.response_seq is None
    assert await store.read(model_steps.last_response, begun.turn.id) is None


async def test_how_a_run_ended_is_accepted_once(world: World, store: Store) -> None:
    """R16"""
    begun = await world.begin()
    await store.write(leases.free, begun.case.id)
    assert await store.write(runs.end, world.now, begun.run.id, Outcome.LEASE_LOST, stop_reason="taken over")
    assert not await store.write(runs.end, world.now + 1, begun.run.id, Outcome.ANSWERED, stop_reason="done")
    run = await store.read(runs.by_id, begun.run.id)
    assert (run.outcome, run.stop_reason, run.ended_at) == (Outcome.LEASE_LOST, "taken over", world.now)
    assert (await world.trail_kinds(begun.case.id)).count("run.ended") == 1


@pytest.mark.parametrize("tier", list(Tier))
async def test_what_was_never_started_has_no_result_to_report(world: World, store: Store, tier: Tier) -> None:
    """R14"""
    working = await world.working()
    await store.write(Tx.run, "UPDATE steps SET tier = :tier WHERE kind = 'tool'", tier=tier)
    assert not await store.write(steps.finish_tool, world.now, working.step.id, ok=True, result="{}")
    assert (await store.read(steps.by_id, working.step.id)).state is StepState.WAITING


async def test_a_step_is_not_started_twice(world: World, store: Store) -> None:
    """R14"""
    working = await world.working()
    start = (steps.start_tool, world.now, working.lease, working.run.id, working.step)
    await store.write(*start, deadline=world.now + MINUTE)
    with pytest.raises(MoveRefused, match="not started twice"):
        await store.write(*start, deadline=world.now + MINUTE)
    assert (await store.read(runs.by_id, working.run.id)).tool_calls == 1
