"""Spending: separate from deciding, once, and only what was approved, as it was approved (R9)."""

import pytest

from casestore import gates, holds, leases, principals, runs, spending, steps, trail
from casestore.db import Store
from casestore.errors import BadRequest, ConstraintBroken, LeaseLost, MoveRefused
from casestore.models import Gate
from casestore.scope import System
from casestore.spending import NotSpent, Spent
from casestore.states import GateKind, GateState, Role, StepState, Verb
from casestore.tx import Tx
from tests.conftest import HOUR, LEASE_TTL, MINUTE, Asked, World
from tests.store.rows import copy_row, everything


async def spend(
    world: World, asked: Asked, *, gate: Gate | None = None, tool_version: str = "v1", now: int | None = None
) -> Spent | NotSpent:
    at = world.now if now is None else now
    return await world.store.write(
        spending.spend, at, asked.lease, asked.run.id, asked.gate if gate is None else gate,
        tool_version=tool_version, deadline=at + MINUTE, idempotency_key=f"gate-{asked.gate.id}",
    )  # fmt: skip


async def assert_void(world: World, asked: Asked, why: NotSpent) -> None:
    """The approval is spent no more, the call still waits, and the trail says why."""
    gate = await world.gate(asked.gate.id)
    assert (gate.state, gate.void_reason) == (GateState.VOID, str(why))
    assert (await world.store.read(steps.by_id, asked.step.id)).state is StepState.WAITING
    assert (await world.trail_kinds(asked.case.id))[-1] == "gate.void"
    assert await spend(world, asked) is NotSpent.VOID


async def test_an_approval_starts_exactly_the_step_that_was_shown(world: World, store: Store) -> None:
    asked = await world.approved()
    spent = await spend(world, asked)
    step = await store.read(steps.by_id, asked.step.id)
    assert spent == Spent(step, {"service": "nginx"})
    assert (step.state, step.gate_id, step.run_id) == (StepState.STARTED, asked.gate.id, asked.run.id)
    assert (step.started_at, step.deadline) == (world.now, world.now + MINUTE)
    assert step.idempotency_key == f"gate-{asked.gate.id}"
    assert (await store.read(runs.by_id, asked.run.id)).tool_calls == 1
    entry = (await store.read(trail.read, System(), asked.case.id))[-1]
    assert (entry.kind, trail.content_of(entry)) == ("tool.started", {"args": {"service": "nginx"}})


async def test_an_approval_is_spent_once(world: World, store: Store) -> None:
    asked = await world.approved()
    assert isinstance(await spend(world, asked), Spent)
    before = await store.read(everything)
    assert await spend(world, asked) is NotSpent.VOID
    assert await store.read(everything) == before, "the first one stays as it is"
    await store.write(steps.finish_tool, world.now, asked.step.id, ok=True, result='{"ok":true}')
    assert await spend(world, asked) is NotSpent.VOID


async def test_a_second_step_for_one_gate_is_refused_by_the_schema(world: World, store: Store) -> None:
    asked = await world.approved()
    await spend(world, asked)
    with pytest.raises(ConstraintBroken, match=r"steps\.gate_id"):
        await store.write(copy_row, "steps", asked.step.id, seq=99, position=99)


async def test_what_is_still_open_is_not_spent(world: World, store: Store) -> None:
    asked = await world.ask()
    assert await spend(world, asked) is NotSpent.VOID
    assert (await world.gate(asked.gate.id)).state is GateState.OPEN
    assert (await store.read(steps.by_id, asked.step.id)).state is StepState.WAITING


@pytest.mark.parametrize("end", ["deny", "revise", "expire", "withdraw", "void"])
async def test_what_is_not_approved_is_not_spent(world: World, store: Store, end: str) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    if end in ("deny", "revise"):
        await world.decide(asked.gate, world.people.kim, Verb(end))
    elif end == "expire":
        await store.write(gates.expire_due, world.now + HOUR)
    elif end == "withdraw":
        await store.write(gates.withdraw, world.now, asked.gate, by="t", reason="r")
    else:
        await world.decide(asked.gate, world.people.kim)
        await store.write(gates.void, world.now, asked.gate, by="t", reason="r")
    again = await world.resumed(asked)
    believed = again.gate.model_copy(update={"state": GateState.APPROVED})
    assert await spend(world, again, gate=believed) is NotSpent.VOID
    assert await world.gate(asked.gate.id) == again.gate
    assert (await store.read(steps.by_id, asked.step.id)).state is StepState.WAITING


async def test_a_call_that_has_its_result_by_now_is_not_made(world: World, store: Store) -> None:
    """R7: exactly one result."""
    asked = await world.approved()
    await store.write(steps.refuse, world.now, None, asked.step, "{}", why="the case was closed")
    assert await spend(world, asked) is NotSpent.VOID
    assert (await store.read(steps.by_id, asked.step.id)).state is StepState.REFUSED


async def test_arguments_that_are_not_those_approved_are_not_run(world: World, store: Store) -> None:
    asked = await world.approved()
    forged = '{"service":"sshd"}'
    believed = asked.gate.model_copy(update={"args": forged})
    assert await spend(world, asked, gate=believed) is NotSpent.DIGEST
    await assert_void(world, asked, NotSpent.DIGEST)


async def test_arguments_changed_in_the_file_are_not_run(world: World, store: Store) -> None:
    asked = await world.approved()
    await store.write(Tx.run, "UPDATE gates SET args = :args", args='{"service":"sshd"}')
    assert await spend(world, asked, gate=await world.gate(asked.gate.id)) is NotSpent.DIGEST


async def test_where_the_approver_changed_the_arguments_the_changed_ones_run(world: World, store: Store) -> None:
    asked = await world.ask()
    await world.decide(asked.gate, world.people.kim, changed_args='{"service":"caddy"}')
    spent = await spend(world, await world.resumed(asked))
    assert isinstance(spent, Spent)
    assert spent.args == {"service": "caddy"}
    assert spent.step.args == '{"service":"caddy"}', "the step says what really ran"
    assert (await world.gate(asked.gate.id)).args == asked.gate.args, "and the gate what was asked"


async def test_changed_arguments_do_not_run_in_place_of_those_approved(world: World) -> None:
    asked = await world.approved()
    believed = asked.gate.model_copy(update={"changed_args": '{"service":"sshd"}'})
    assert await spend(world, asked, gate=believed) is NotSpent.DIGEST


async def test_a_tool_that_was_defined_anew_is_asked_about_anew(world: World) -> None:
    asked = await world.approved()
    assert await spend(world, asked, tool_version="v2") is NotSpent.TOOL_CHANGED
    await assert_void(world, asked, NotSpent.TOOL_CHANGED)
    assert NotSpent.TOOL_CHANGED in spending.ASK_ANEW


async def test_an_approval_of_one_who_was_revoked_since_is_not_spent(world: World, store: Store) -> None:
    asked = await world.approved()
    await store.write(principals.revoke, world.now, world.people.kim.id, revoked_by=world.people.operator.id)
    assert await spend(world, asked) is NotSpent.DECIDER_REVOKED
    await assert_void(world, asked, NotSpent.DECIDER_REVOKED)


@pytest.mark.parametrize("tool", [None, "host.restart_service"])
async def test_while_a_hold_stands_nothing_is_spent(world: World, store: Store, tool: str | None) -> None:
    asked = await world.approved()
    await store.write(holds.place, world.now, tool=tool, reason="audit", by=world.people.operator.id)
    assert await spend(world, asked) is NotSpent.FROZEN
    await assert_void(world, asked, NotSpent.FROZEN)
    assert NotSpent.FROZEN not in spending.ASK_ANEW


async def test_a_hold_on_another_tool_or_one_that_was_lifted_is_no_hindrance(world: World, store: Store) -> None:
    by = world.people.operator.id
    asked = await world.approved()
    await store.write(holds.place, world.now, tool="host.clear_cache", reason="audit", by=by)
    await store.write(holds.place, world.now, tool="host.restart_service", reason="audit", by=by)
    await store.write(holds.place, world.now, tool="host.restart_service", reason="again", by=by)
    assert await store.write(holds.lift, world.now, tool="host.restart_service", by=by) == 2
    assert [hold.tool for hold in await store.read(holds.listing)] == ["host.clear_cache"]
    with pytest.raises(MoveRefused, match=r"host\.restart_service"):
        await store.write(holds.lift, world.now, tool="host.restart_service", by=by)
    with pytest.raises(MoveRefused, match="as a whole"):
        await store.write(holds.lift, world.now, tool=None, by=by)
    assert isinstance(await spend(world, asked), Spent)


async def test_nothing_is_spent_under_a_lease_that_is_gone(world: World, store: Store) -> None:
    """R10"""
    asked = await world.approved()
    before = await store.read(everything)
    with pytest.raises(LeaseLost):
        await spend(world, asked, now=world.now + LEASE_TTL)
    assert await store.read(everything) == before, "and the approval still stands"


async def test_the_lease_is_stretched_over_what_was_started(world: World, store: Store) -> None:
    """R14"""
    asked = await world.approved()
    deadline = world.now + LEASE_TTL + MINUTE
    await store.write(
        spending.spend, world.now, asked.lease, asked.run.id, asked.gate, tool_version="v1", deadline=deadline
    )  # fmt: skip
    assert (await store.read(leases.of_case, asked.case.id)).until == deadline


async def test_consent_is_spent_like_an_approval(world: World, store: Store) -> None:
    asked = await world.ask(kind=GateKind.CONSENT, roles=[Role.REQUESTER])
    await world.decide(asked.gate, world.people.you)
    assert isinstance(await spend(world, await world.resumed(asked)), Spent)


async def test_an_answer_about_an_outcome_is_no_approval(world: World, store: Store) -> None:
    for verb in (Verb.HAPPENED, Verb.NOT_HAPPENED):
        asked = await world.ask(kind=GateKind.OUTCOME)
        await world.decide(asked.gate, world.people.kim, verb)
        with pytest.raises(BadRequest, match="run it again"):
            await spend(world, await world.resumed(asked))


async def test_the_consent_to_a_call_does_not_let_a_denied_approval_of_it_be_spent(world: World, store: Store) -> None:
    """Both gates are about the very same call, so they carry the same digest; only the one that is spent counts."""
    consent = await world.ask(kind=GateKind.CONSENT, roles=[Role.REQUESTER])
    await world.decide(consent.gate, world.people.you)
    asked = await world.ask(await world.resumed(consent))
    await world.decide(asked.gate, world.people.kim, Verb.DENY)
    again = await world.resumed(asked)
    assert again.gate.digest_shown == consent.gate.digest_shown
    assert await spend(world, again) is NotSpent.VOID
    assert (await store.read(steps.by_id, asked.step.id)).state is StepState.WAITING
