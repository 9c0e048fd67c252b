"""Question: a gate is open, its turn parked, its cards on their way; and never without an end or somebody to answer."""

import json
from dataclasses import replace
from typing import cast

import pytest

from casestore import asking, bindings, cases, gates, outbox, steps, trail, turns
from casestore.asking import Policy
from casestore.canonical import call_digest
from casestore.db import Store
from casestore.errors import BadRequest, ConstraintBroken, LeaseLost, MoveRefused
from casestore.scope import System
from casestore.states import CaseState, GateKind, GateState, OnExpiry, OutboxKind, Role, TurnState, WaitingOn
from tests.conftest import DAY, LEASE_TTL, RESTART, Asked, World, question_for
from tests.store.rows import copy_row, everything


def policy(**changes: object) -> Policy:
    usual = Policy((Role.OPERATOR,), four_eyes=True, on_expiry=OnExpiry.TELL, expires_at=0)
    return replace(usual, **changes)  # pyright: ignore[reportArgumentType]


async def test_a_second_open_gate_is_refused_by_the_schema_whoever_inserts_it(world: World, store: Store) -> None:
    """R4"""
    asked = await world.ask()
    with pytest.raises(ConstraintBroken, match=r"gates\.case_id"):
        await store.write(copy_row, "gates", asked.gate.id)
    assert len(await store.read(gates.of_case, asked.case.id)) == 1


async def test_a_second_open_gate_is_refused_to_the_function_too(world: World) -> None:
    """R4"""
    working = await world.working(RESTART, replace(RESTART, position=1, call_id="call-2"))
    await world.ask(working)
    with pytest.raises(ConstraintBroken, match=r"gates\.case_id"):
        await world.ask(working)


async def test_an_open_gate_of_another_case_is_no_hindrance(world: World) -> None:
    """R4"""
    first, second = await world.ask(), await world.ask()
    assert first.case.id != second.case.id
    assert first.gate.state is second.gate.state is GateState.OPEN


async def test_a_gate_that_is_closed_makes_room_for_the_next(world: World, store: Store) -> None:
    """R4, R7"""
    asked = await world.ask()
    await store.write(gates.withdraw, world.now, asked.gate, by="test", reason="no more")
    again = await world.ask(asked)
    assert again.gate.id > asked.gate.id


@pytest.mark.parametrize("kind", [GateKind.APPROVAL, GateKind.CONSENT])
async def test_asking_parks_the_turn_and_says_whom_the_case_waits_for(
    world: World, store: Store, kind: GateKind
) -> None:
    """R2, R7"""
    asked = await world.ask(kind=kind)
    turn = await store.read(turns.by_id, asked.turn.id)
    case = await store.read(cases.by_id, asked.case.id)
    assert (turn.state, turn.attempts) == (TurnState.PARKED, 0)
    assert case.waiting_on is (WaitingOn.REQUESTER if kind is GateKind.CONSENT else WaitingOn.APPROVAL)
    assert (await store.read(steps.by_id, asked.step.id)).result is None


async def test_what_was_shown_is_what_the_digest_covers(world: World) -> None:
    """R5, R9"""
    gate = (await world.ask()).gate
    assert gate.digest_shown == call_digest(gate.step_id, gate.tool, gate.tool_version, gate.args)
    others = {
        call_digest(gate.step_id, gate.tool, gate.tool_version, '{"service":"sshd"}'),
        call_digest(gate.step_id, gate.tool, "v2", gate.args),
        call_digest(gate.step_id, "host.clear_cache", gate.tool_version, gate.args),
        call_digest(gate.step_id + 1, gate.tool, gate.tool_version, gate.args),
    }
    assert gate.digest_shown not in others
    assert len(others) == 4


async def test_the_policy_is_copied_into_the_gate(world: World, store: Store) -> None:
    gate = (
        await world.ask(
            roles=[Role.REQUESTER],
            four_eyes=False,
            on_expiry=OnExpiry.HANDOFF,
            reminders=[world.now + 9, world.now + 3],
        )
    ).gate
    assert (gate.four_eyes, gate.on_expiry, gate.expires_at) == (False, OnExpiry.HANDOFF, world.now + DAY)
    assert gate.reminders == [world.now + 3, world.now + 9]
    assert await store.read(gates.roles_of, gate.id) == [Role.REQUESTER]


async def test_where_an_operator_may_decide_an_admin_may(world: World, store: Store) -> None:
    gate = (await world.ask(roles=[Role.OPERATOR])).gate
    assert set(await store.read(gates.roles_of, gate.id)) == {Role.OPERATOR, Role.ADMIN}


@pytest.mark.parametrize("expires_at", [None, "tomorrow", "1790000100000", 1_790_000_000_001.0, True, -1, 0])
async def test_a_missing_or_malformed_expiry_is_refused(world: World, store: Store, expires_at: object) -> None:
    """R6: never "no expiry"."""
    working = await world.working()
    before = await store.read(everything)
    question = question_for(working.step, policy(expires_at=expires_at))
    with pytest.raises(BadRequest, match="expiry"):
        await store.write(asking.ask, world.now, working.lease, working.turn.id, question)
    assert await store.read(everything) == before


@pytest.mark.parametrize("late", [0, 1, DAY])
async def test_an_expiry_that_is_not_in_the_future_is_refused(world: World, late: int) -> None:
    """R6"""
    with pytest.raises(BadRequest, match="expiry"):
        await world.ask(expires_at=world.now - late)


async def test_no_raw_gate_is_without_an_expiry_either(world: World, store: Store) -> None:
    """R6"""
    asked = await world.ask()
    await store.write(gates.withdraw, world.now, asked.gate, by="test", reason="no more")
    for expires_at in (None, world.now):
        with pytest.raises(ConstraintBroken):
            await store.write(copy_row, "gates", asked.gate.id, expires_at=expires_at)


async def test_a_gate_nobody_may_decide_is_not_asked(world: World) -> None:
    """R24: an empty list of roles refuses."""
    with pytest.raises(BadRequest, match="role"):
        await world.ask(roles=())


@pytest.mark.parametrize("state", [CaseState.RESOLVED, CaseState.CLOSED, CaseState.CANCELLED])
async def test_nothing_is_asked_in_a_case_that_is_not_in_progress(world: World, store: Store, state: CaseState) -> None:
    working = await world.working()
    await store.write(
        cases.move, world.now, working.case.id, to=state, actor="t", kind="t", only_from=(CaseState.IN_PROGRESS,)
    )
    with pytest.raises(MoveRefused, match=str(state)):
        await world.ask(working)


async def test_nothing_is_asked_under_a_lease_that_is_gone(world: World, store: Store) -> None:
    """R10"""
    working = await world.working()
    before = await store.read(everything)
    question = question_for(working.step, policy(expires_at=world.now + DAY))
    with pytest.raises(LeaseLost):
        await store.write(asking.ask, world.now + LEASE_TTL, working.lease, working.turn.id, question)
    assert await store.read(everything) == before


async def test_a_card_is_put_for_each_thread_that_is_bound_and_none_for_those_lost(world: World, store: Store) -> None:
    """R3, R27"""
    case = await world.case(address="memory:S/R/1")
    for address in ("memory:S/R/2", "memory:S/R/3"):
        await store.write(bindings.bind, world.now, case, address, actor="t")
    await store.write(bindings.lose, world.now, "memory:S/R/2", reason="deleted")
    asked = await world.ask(await world.working(case=case))
    cards = [row for row in await store.read(outbox.of_case, case.id) if row.kind is OutboxKind.CARD]
    assert [(card.address, card.gate_id) for card in cards] == [
        ("memory:S/R/1", asked.gate.id),
        ("memory:S/R/3", asked.gate.id),
    ]


async def test_a_case_without_a_thread_is_asked_about_all_the_same(world: World, store: Store) -> None:
    """R1"""
    asked = await world.ask()
    assert asked.gate.state is GateState.OPEN
    assert await store.read(outbox.of_case, asked.case.id) == []


async def test_the_trail_says_what_was_asked_and_until_when(world: World, store: Store) -> None:
    """R2, R18"""
    asked = await world.ask()
    entry = (await store.read(trail.read, System(), asked.case.id))[-1]
    meta = cast("dict[str, object]", json.loads(entry.meta))
    assert (entry.kind, meta["gate"], meta["expires_at"]) == ("gate.asked", asked.gate.id, asked.gate.expires_at)
    assert trail.content_of(entry) == {"statement": asked.gate.statement}


async def test_a_gate_remembers_for_whom_it_was_asked(world: World) -> None:
    """R11: the turn acts for kim when all of it is kim's."""
    by_kim: Asked = await world.ask(await world.working(by=world.people.kim))
    by_you: Asked = await world.ask()
    assert by_kim.gate.asked_for == world.people.kim.id
    assert by_you.gate.asked_for == world.people.you.id
    case = await world.case()
    await world.say(case, by=world.people.kim)
    by_both = await world.ask(await world.working(case=case, by=world.people.you))
    assert by_both.gate.asked_for == world.people.you.id, "whoever spoke first"
