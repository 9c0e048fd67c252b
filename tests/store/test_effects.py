"""Two calls with one effect key are one intent, in one case or two: the second needs a decision of its own."""

from dataclasses import replace

import pytest

from casestore import principals, recovery, steps
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.spending import ASK_ANEW, NotSpent, Spent, spend
from casestore.states import GateState, Role, StepState, Tier
from tests.conftest import MINUTE, RESTART, Asked, World
from tests.store.rows import copy_row

KEY = "refund:order-7"


async def start(world: World, asked: Asked) -> Spent | NotSpent:
    return await world.store.write(
        spend, world.now, asked.lease, asked.run.id, asked.gate, tool_version="v1", deadline=world.now + MINUTE
    )  # fmt: skip


async def started(world: World, *, nth: int = 0) -> Asked:
    """A call with the key that is under way."""
    asked = await world.approved(await world.ask(effect_key=KEY, effect_nth=nth))
    assert isinstance(await start(world, asked), Spent)
    return asked


@pytest.mark.parametrize("end", ["started", "finished", "failed", "unknown"])
async def test_an_effect_that_was_started_elsewhere_is_not_started_again_whatever_became_of_it(
    world: World, store: Store, end: str
) -> None:
    first = await started(world)
    if end in ("finished", "failed"):
        await store.write(steps.finish_tool, world.now, first.step.id, ok=end == "finished", result="{}")
    elif end == "unknown":
        await store.write(recovery.mark_unknown, world.now, await store.read(steps.by_id, first.step.id))
    second = await world.approved(await world.ask(effect_key=KEY))
    assert await start(world, second) is NotSpent.EFFECT_TAKEN
    assert (await world.gate(second.gate.id)).state is GateState.VOID
    assert (await store.read(steps.by_id, second.step.id)).state is StepState.WAITING
    assert NotSpent.EFFECT_TAKEN in ASK_ANEW


async def test_both_may_be_approved_and_one_is_done(world: World) -> None:
    first = await world.approved(await world.ask(effect_key=KEY))
    second = await world.approved(await world.ask(effect_key=KEY))
    assert isinstance(await start(world, second), Spent)
    assert await start(world, first) is NotSpent.EFFECT_TAKEN


async def test_a_decision_that_named_the_earlier_one_lets_the_second_through(world: World, store: Store) -> None:
    first = await started(world)
    earlier = await store.read(steps.earlier_effect, "local", KEY)
    assert earlier is not None
    assert earlier.id == first.step.id
    second = await started(world, nth=earlier.effect_nth + 1)
    newest = await store.read(steps.earlier_effect, "local", KEY)
    assert newest is not None
    assert newest.id == second.step.id


async def test_an_effect_that_only_waits_or_was_refused_does_not_count(world: World, store: Store) -> None:
    waiting = await world.ask(effect_key=KEY)
    await store.write(steps.refuse, world.now, None, waiting.step, "{}", why="denied")
    assert await store.read(steps.earlier_effect, "local", KEY) is None
    await started(world)


async def test_the_same_key_of_another_tenant_is_another_effect(world: World, store: Store) -> None:
    await started(world)
    assert await store.read(steps.earlier_effect, "elsewhere", KEY) is None
    theirs = {
        role: await store.write(principals.add, world.now, tenant="elsewhere", name=f"their-{role}", role=role)
        for role in (Role.OPERATOR, Role.REQUESTER)
    }
    case = await world.case(requester=theirs[Role.REQUESTER])
    asked = await world.ask(await world.working(case=case, by=theirs[Role.REQUESTER]), effect_key=KEY)
    await world.decide(asked.gate, theirs[Role.OPERATOR])
    assert isinstance(await start(world, await world.resumed(asked)), Spent)


async def test_the_schema_refuses_the_same_effect_twice(world: World, store: Store) -> None:
    first = await started(world)
    with pytest.raises(ConstraintBroken, match=r"steps\.effect_key"):
        await store.write(copy_row, "steps", first.step.id, seq=99, position=99, gate_id=None)


async def test_a_read_only_call_that_was_cut_off_does_not_stand_in_its_own_way(world: World, store: Store) -> None:
    """It waits again and is to be spent anew; that it carries the key already is no effect that was made (R14)."""
    working = await world.working(replace(RESTART, tier=Tier.READ_ONLY))
    asked = await world.approved(await world.ask(working, effect_key=KEY))
    assert isinstance(await start(world, asked), Spent)
    await store.write(recovery.recover, world.now, asked.turn.id)
    assert (await store.read(steps.by_id, asked.step.id)).effect_key == KEY
    assert isinstance(await start(world, asked), Spent)
