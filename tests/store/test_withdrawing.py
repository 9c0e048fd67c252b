"""Taking a question back, and an approval that was not spent in time (R7, R9)."""

import pytest

from casestore import cases, gates, recovery, steps, turns
from casestore.db import Store
from casestore.deciding import Because, NotDecided
from casestore.errors import ConstraintBroken, MoveRefused
from casestore.spending import NotSpent, Spent, spend
from casestore.states import GateKind, GateState, Role, StepState, TurnState, Verb, WaitingOn
from casestore.tx import Tx
from tests.conftest import HOUR, MINUTE, Asked, World
from tests.store.rows import everything


async def end(world: World, asked: Asked) -> None:
    await world.store.write(gates.end_for_case, world.now, asked.case.id, by="principal:kim", reason="kim took it over")


async def test_a_withdrawn_gate_lets_the_turn_go_on_with_a_denial(world: World, store: Store) -> None:
    asked = await world.ask()
    gate = await store.write(
        gates.withdraw, world.now + MINUTE, asked.gate, by="alert", reason="it resolved", who=world.people.kim
    )  # fmt: skip
    assert (gate.state, gate.decided_at, gate.reason) == (GateState.WITHDRAWN, world.now + MINUTE, "it resolved")
    assert gate.decided_by == world.people.kim.id
    turn, case = await store.read(turns.by_id, asked.turn.id), await store.read(cases.by_id, asked.case.id)
    assert (turn.state, case.waiting_on) == (TurnState.QUEUED, WaitingOn.NOBODY)
    assert (await world.trail_kinds(asked.case.id))[-1] == "gate.withdrawn"


async def test_a_withdrawn_gate_is_decided_by_nobody_any_more(world: World, store: Store) -> None:
    asked = await world.ask()
    await store.write(gates.withdraw, world.now, asked.gate, by="alert", reason="it resolved")
    answer = await world.decide(asked.gate, world.people.kim)
    assert isinstance(answer, NotDecided)
    assert (answer.because, answer.gate.state) == (Because.ALREADY_DECIDED, GateState.WITHDRAWN)


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DENY])
async def test_what_is_decided_is_not_withdrawn(world: World, store: Store, verb: Verb) -> None:
    asked = await world.ask()
    await world.decide(asked.gate, world.people.kim, verb)
    before = await store.read(everything)
    with pytest.raises(MoveRefused, match="nothing to withdraw"):
        await store.write(gates.withdraw, world.now, asked.gate, by="alert", reason="it resolved")
    assert await store.read(everything) == before


async def test_when_a_case_is_taken_over_its_open_gate_is_withdrawn(world: World, store: Store) -> None:
    """R9, R12"""
    asked = await world.ask()
    await end(world, asked)
    assert (await world.gate(asked.gate.id)).state is GateState.WITHDRAWN


async def test_when_a_case_is_taken_over_its_unspent_approval_is_void_and_is_spent_no_more(
    world: World, store: Store
) -> None:
    """R9"""
    asked = await world.approved()
    await end(world, asked)
    gate = await world.gate(asked.gate.id)
    assert (gate.state, gate.void_reason) == (GateState.VOID, "kim took it over")
    assert (gate.decided_by, gate.verb) == (world.people.kim.id, Verb.APPROVE), "what was decided stays on record"
    assert "gate.void" in await world.trail_kinds(asked.case.id)
    spent = await store.write(
        spend, world.now, asked.lease, asked.run.id, asked.gate, tool_version="v1", deadline=world.now + MINUTE
    )  # fmt: skip
    assert spent is NotSpent.VOID
    assert (await store.read(steps.by_id, asked.step.id)).state is StepState.WAITING


async def test_a_spent_approval_stays_what_it_was(world: World, store: Store) -> None:
    """R9: void is only what has not been spent."""
    asked = await world.approved()
    spent = await store.write(
        spend, world.now, asked.lease, asked.run.id, asked.gate, tool_version="v1", deadline=world.now + MINUTE
    )  # fmt: skip
    assert isinstance(spent, Spent)
    await end(world, asked)
    await store.write(gates.void, world.now, asked.gate, by="test", reason="too late")
    assert (await world.gate(asked.gate.id)).state is GateState.APPROVED


@pytest.mark.parametrize("verb", [Verb.DENY, Verb.REVISE])
async def test_the_end_of_a_case_changes_no_denial(world: World, verb: Verb) -> None:
    asked = await world.ask()
    await world.decide(asked.gate, world.people.kim, verb)
    decided = await world.gate(asked.gate.id)
    await end(world, asked)
    assert await world.gate(asked.gate.id) == decided


async def test_the_end_of_one_case_leaves_the_gates_of_others_alone(world: World) -> None:
    mine, other, approved = await world.ask(), await world.ask(), await world.approved()
    await end(world, mine)
    assert (await world.gate(other.gate.id)).state is GateState.OPEN
    assert (await world.gate(approved.gate.id)).state is GateState.APPROVED


@pytest.mark.parametrize("verb", [Verb.HAPPENED, Verb.NOT_HAPPENED, Verb.RERUN])
async def test_what_a_person_said_about_an_outcome_stays_and_only_run_it_again_is_void(
    world: World, store: Store, verb: Verb
) -> None:
    """R9, R14"""
    working = await world.working()
    await store.write(
        steps.start_tool, world.now, working.lease, working.run.id, working.step, deadline=world.now + MINUTE
    )  # fmt: skip
    await store.write(recovery.mark_unknown, world.now, working.step)
    asked = await world.ask(working, kind=GateKind.OUTCOME)
    await world.decide(asked.gate, world.people.kim, verb)
    await end(world, asked)
    assert (await world.gate(asked.gate.id)).state is (
        GateState.VOID if verb is Verb.RERUN else GateState.APPROVED
    )  # fmt: skip


async def test_a_consent_that_has_been_made_use_of_stays(world: World, store: Store) -> None:
    """The call it was given for is over; there is nothing left to take back."""
    asked = await world.ask(kind=GateKind.CONSENT, roles=[Role.REQUESTER])
    await world.decide(asked.gate, world.people.you)
    await store.write(steps.refuse, world.now, None, asked.step, "{}", why="denied by an operator afterwards")
    await end(world, asked)
    assert (await world.gate(asked.gate.id)).state is GateState.APPROVED


@pytest.mark.parametrize("missing", ["decided_by", "verb", "digest_run"])
async def test_no_raw_approval_is_without_a_person_a_verb_and_a_digest(
    world: World, store: Store, missing: str
) -> None:
    asked = await world.approved()
    with pytest.raises(ConstraintBroken):
        await store.write(
            lambda tx: tx.run(f"UPDATE gates SET {missing} = NULL WHERE id = :id", id=asked.gate.id)
        )  # fmt: skip


async def test_no_raw_gate_is_both_open_and_decided(world: World, store: Store) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    for change in ("decided_at = 1", "state = 'denied'"):
        with pytest.raises(ConstraintBroken):
            await store.write(Tx.run, f"UPDATE gates SET {change}")
    assert await world.gate(asked.gate.id) == asked.gate
