"""Bindings: at most one live case per thread, and a thread that goes takes no case with it (R3)."""

import asyncio

import pytest

from casestore import bindings, cases
from casestore.cases import Opening
from casestore.db import Store
from casestore.errors import BadRequest, ConstraintBroken, NotFound
from casestore.models import Case
from casestore.states import BindingState, Origin
from casestore.tx import Tx
from tests.conftest import MINUTE, World
from tests.store.rows import copy_row, everything

HERE, THERE = "memory:S/R/1", "memory:S/R/2"


async def states(store: Store) -> list[object]:
    return await store.read(Tx.column, "SELECT state FROM bindings ORDER BY id")


async def test_a_thread_is_bound_to_a_case_once_however_often_it_is_asked(world: World, store: Store) -> None:
    case = await world.case()
    first = await store.write(bindings.bind, world.now, case, HERE, actor="intake")
    again = await store.write(bindings.bind, world.now + MINUTE, case, HERE, actor="intake")
    assert first == again
    assert (first.case_id, first.state, first.private) == (case.id, BindingState.LIVE, False)
    assert (await world.trail_kinds(case.id)).count("binding.bound") == 1


async def test_a_thread_of_one_case_is_not_bound_to_another(world: World, store: Store) -> None:
    await world.case(address=HERE)
    other = await world.case()
    before = await store.read(everything)
    with pytest.raises(BadRequest, match="bound to another case"):
        await store.write(bindings.bind, world.now, other, HERE, actor="intake")
    assert await store.read(everything) == before


async def test_no_raw_second_binding_of_an_address_is_live(world: World, store: Store) -> None:
    case, other = await world.case(address=HERE), await world.case()
    (binding,) = await store.read(bindings.of_case, case.id)
    for case_id in (case.id, other.id):
        with pytest.raises(ConstraintBroken, match=r"bindings\.address"):
            await store.write(copy_row, "bindings", binding.id, case_id=case_id)
    assert await store.write(copy_row, "bindings", binding.id, state="ended") == 1


async def test_of_twenty_first_messages_at_once_one_opens_the_case(world: World, store: Store) -> None:
    def arrive(tx: Tx) -> Case:
        if (known := bindings.case_at(tx, HERE)) is not None:
            return known
        case = cases.open_case(tx, world.now, Opening("local", "t", Origin.MEMORY), actor="intake")
        bindings.bind(tx, world.now, case, HERE, actor="intake")
        return case

    found = await asyncio.gather(*(store.write(arrive) for _ in range(20)))
    assert len({case.id for case in found}) == 1
    assert await store.read(Tx.integer, "SELECT count(*) FROM cases") == 1


async def test_one_case_has_several_threads(world: World, store: Store) -> None:
    case = await world.case(address=HERE)
    await store.write(bindings.bind, world.now, case, THERE, actor="kim", private=True)
    bound = await store.read(bindings.of_case, case.id)
    assert [(binding.address, binding.private) for binding in bound] == [(HERE, False), (THERE, True)]


async def test_a_lost_thread_ends_the_binding_and_never_the_case(world: World, store: Store) -> None:
    case = await world.case(address=HERE)
    before = await store.read(cases.by_id, case.id)
    lost = await store.write(bindings.lose, world.now + MINUTE, HERE, reason="the channel was deleted")
    assert lost == before
    assert await store.read(cases.by_id, case.id) == before
    assert await store.read(bindings.of_case, case.id) == []
    assert await store.read(bindings.case_at, HERE) is None
    assert await states(store) == [BindingState.LOST]
    assert (await world.trail_kinds(case.id))[-1] == "binding.lost"
    assert await store.write(bindings.lose, world.now, HERE, reason="again") is None


async def test_a_lost_thread_that_comes_back_can_be_bound_again(world: World, store: Store) -> None:
    case = await world.case(address=HERE)
    await store.write(bindings.lose, world.now, HERE, reason="archived")
    await store.write(bindings.bind, world.now, case, HERE, actor="intake")
    assert await store.read(bindings.case_at, HERE) == case
    assert await states(store) == [BindingState.LOST, BindingState.LIVE]


async def test_a_thread_that_is_let_go_is_free_for_another_case(world: World, store: Store) -> None:
    case, other = await world.case(address=HERE), await world.case()
    assert await store.write(bindings.unbind, world.now, HERE, actor="kim") == case
    await store.write(bindings.bind, world.now, other, HERE, actor="kim")
    assert await store.read(bindings.case_at, HERE) == other
    assert (await world.trail_kinds(case.id))[-1] == "binding.ended"
    with pytest.raises(NotFound, match=THERE):
        await store.write(bindings.unbind, world.now, THERE, actor="kim")


async def test_addresses_are_compared_exactly(world: World, store: Store) -> None:
    """R21"""
    await world.case(address="slack:T1/C2/1710.003")
    for other in ("slack:t1/c2/1710.003", "slack:T1/C2/1710.00", "slack:T1/C2/1710.003 ", "slack:T1/C2/%"):
        assert await store.read(bindings.case_at, other) is None
