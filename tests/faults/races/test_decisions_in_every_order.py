"""An answer, a late answer, the sweep and the taking back of a gate, in every order: the first that may ends it."""

import asyncio
from collections.abc import Callable
from itertools import permutations

import pytest

from casestore import deciding, gates
from casestore.deciding import Because, Decided, Decision, NotDecided
from casestore.errors import MoveRefused
from casestore.models import Gate
from casestore.scope import System
from casestore.states import GateState, Verb
from casestore.tx import Tx
from tests.conftest import DAY, World
from tests.faults.races.soundness import faults

LATE = 2 * DAY
Act = Callable[[Tx, World, Gate], object]


def approve(tx: Tx, world: World, gate: Gate) -> object:
    decision = Decision(Verb.APPROVE, gate.digest_shown, "web")
    return deciding.decide(tx, world.now, System(), gate.id, world.people.kim, decision)


def deny(tx: Tx, world: World, gate: Gate) -> object:
    decision = Decision(Verb.DENY, gate.digest_shown, "cli")
    return deciding.decide(tx, world.now, System(), gate.id, world.people.operator, decision)


def approve_late(tx: Tx, world: World, gate: Gate) -> object:
    decision = Decision(Verb.APPROVE, gate.digest_shown, "web")
    return deciding.decide(tx, world.now + LATE, System(), gate.id, world.people.kim, decision)


def sweep(tx: Tx, world: World, gate: Gate) -> object:
    return gates.expire_due(tx, world.now + LATE)


def sweep_again(tx: Tx, world: World, gate: Gate) -> object:
    return gates.expire_due(tx, world.now + LATE)


def withdraw(tx: Tx, world: World, gate: Gate) -> object:
    return gates.withdraw(tx, world.now, gates.by_id(tx, gate.id), by="principal:2", reason="not now")


ENDS: dict[Act, GateState] = {
    approve: GateState.APPROVED, deny: GateState.DENIED, approve_late: GateState.EXPIRED, sweep: GateState.EXPIRED,
    sweep_again: GateState.EXPIRED, withdraw: GateState.WITHDRAWN,
}  # fmt: skip
"""How a gate ends that each of them finds open."""
ENTRIES = {f"gate.{state}" for state in ENDS.values()}


async def ended_as_by_the_first(world: World, gate: Gate, order: tuple[Act, ...], heard: list[object]) -> None:
    """One end, one entry in the trail, the turn queued once; everybody else hears how it stands."""
    ended = await world.gate(gate.id)
    assert ended.state is ENDS[order[0]]
    kinds = await world.trail_kinds(gate.case_id)
    assert [kind for kind in kinds if kind in ENTRIES] == [f"gate.{ended.state}"]
    for nth, (act, said) in enumerate(zip(order, heard, strict=True)):
        if act in (sweep, sweep_again):
            assert [swept.id for swept in said if swept.id == gate.id] == ([gate.id] if nth == 0 else [])  # type: ignore[attr-defined]
        elif act is withdraw:
            assert isinstance(said, Gate if nth == 0 else MoveRefused)
        elif nth == 0 and act is not approve_late:
            assert isinstance(said, Decided)
        else:
            assert isinstance(said, NotDecided)
            why = Because.EXPIRED if ended.state is GateState.EXPIRED else Because.ALREADY_DECIDED
            assert (said.because, said.gate) == (why, ended)


@pytest.mark.parametrize("together", [False, True], ids=["one after another", "in one commit"])
async def test_decision_expiry_and_sweep_in_every_order_end_a_gate_once(world: World, together: bool) -> None:
    orders = list(permutations([approve, deny, approve_late, sweep, sweep_again]))
    assert len(orders) == 120
    for order in orders:
        asked = await world.ask()
        await ended_as_by_the_first(world, asked.gate, order, await heard(world, asked.gate, order, together))
    assert await world.store.read(faults) == []


@pytest.mark.parametrize("together", [False, True], ids=["one after another", "in one commit"])
async def test_decision_sweep_and_withdrawal_in_every_order_end_a_gate_once(world: World, together: bool) -> None:
    orders = list(permutations([approve, deny, sweep, withdraw]))
    assert len(orders) == 24
    for order in orders:
        asked = await world.ask()
        await ended_as_by_the_first(world, asked.gate, order, await heard(world, asked.gate, order, together))
    assert await world.store.read(faults) == []


async def heard(world: World, gate: Gate, order: tuple[Act, ...], together: bool) -> list[object]:
    """What each of them heard, in this order."""
    store = world.store
    if together:
        return await asyncio.gather(*(store.write(act, world, gate) for act in order), return_exceptions=True)
    said: list[object] = []
    for act in order:
        said += await asyncio.gather(store.write(act, world, gate), return_exceptions=True)
    return said
