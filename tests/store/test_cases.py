"""Cases: two axes, guarded moves, and a trail that says so in the same transaction (R1, R2)."""

import json
from itertools import product
from typing import cast

import pytest

from casestore import bindings, cases, leases, trail
from casestore.cases import FIRST_NUMBER, Opening
from casestore.db import Store
from casestore.errors import BadRequest, ConstraintBroken, MoveRefused, NotFound
from casestore.models import Case
from casestore.scope import Own, System, Tenant
from casestore.states import CaseState, Origin, WaitingOn
from casestore.tx import Tx
from tests.conftest import HOUR, MINUTE, World
from tests.store.rows import copy_row, everything

ALL_STATES = tuple(CaseState)


async def open_case(world: World, **about: object) -> Case:
    opening = Opening(**{"tenant": "local", "title": "t", "origin": Origin.CLI, **about})  # pyright: ignore[reportArgumentType]
    return await world.store.write(cases.open_case, world.now, opening, actor="principal:kim")


async def move(world: World, case: Case, to: CaseState, *only_from: CaseState, now: int | None = None) -> Case:
    return await world.store.write(
        cases.move, world.now if now is None else now, case.id, to=to, actor="kim", kind=f"case.{to}",
        only_from=only_from or ALL_STATES,
    )  # fmt: skip


@pytest.mark.parametrize("origin", list(Origin))
async def test_a_case_is_opened_the_same_way_wherever_it_came_from_and_needs_no_thread(
    world: World, store: Store, origin: Origin
) -> None:
    """R1"""
    case = await open_case(world, origin=origin, requester=world.people.you.id)
    assert (case.state, case.waiting_on, case.origin) == (CaseState.NEW, WaitingOn.NOBODY, origin)
    assert (case.opened_at, case.last_activity_at, case.closed_at) == (world.now, world.now, None)
    assert await store.read(bindings.of_case, case.id) == []
    (entry,) = await store.read(trail.read, System(), case.id)
    assert (entry.kind, entry.actor, entry.at) == ("case.opened", "principal:kim", world.now)
    assert (await store.read(leases.of_case, case.id)).fence == 0


async def test_cases_are_numbered_one_after_the_other(world: World) -> None:
    made = [await open_case(world) for _ in range(3)]
    assert [case.number for case in made] == [FIRST_NUMBER, FIRST_NUMBER + 1, FIRST_NUMBER + 2]
    assert made[0].label == f"C-{FIRST_NUMBER}"


async def test_a_move_happens_from_where_it_may_and_from_nowhere_else(world: World, store: Store) -> None:
    """R2: from each state, to each state, allowed from each state."""
    for before, allowed, to in product(CaseState, CaseState, CaseState):
        case = await open_case(world)
        await store.write(Tx.run, "UPDATE cases SET state = :s WHERE id = :id", s=before, id=case.id)
        trail_before = await world.trail_kinds(case.id)
        if before is allowed:
            moved = await move(world, case, to, allowed)
            assert moved.state is to
            assert await world.trail_kinds(case.id) == [*trail_before, f"case.{to}"]
        else:
            with pytest.raises(MoveRefused, match=f"{case.label} is {before.replace('_', ' ')}[;, ]"):
                await move(world, case, to, allowed)
            assert (await store.read(cases.by_id, case.id)).state is before
            assert await world.trail_kinds(case.id) == trail_before


@pytest.mark.parametrize("allowed", [ALL_STATES[:n] for n in range(1, 6)], ids=len)
async def test_a_move_may_be_allowed_from_any_number_of_states(
    world: World, store: Store, allowed: tuple[CaseState, ...]
) -> None:
    """R2"""
    for before in CaseState:
        case = await open_case(world)
        await store.write(Tx.run, "UPDATE cases SET state = :s WHERE id = :id", s=before, id=case.id)
        if before in allowed:
            assert (await move(world, case, CaseState.CLOSED, *allowed)).state is CaseState.CLOSED
        else:
            with pytest.raises(MoveRefused):
                await move(world, case, CaseState.CLOSED, *allowed)


async def test_the_state_and_its_trail_entry_are_written_together_or_not_at_all(world: World, store: Store) -> None:
    """R2"""
    case = await open_case(world)
    before = await store.read(everything)

    def move_then_fail(tx: Tx) -> None:
        cases.move(tx, world.now, case.id, to=CaseState.CLOSED, actor="kim", kind="k", only_from=(CaseState.NEW,))
        raise LookupError

    with pytest.raises(LookupError):
        await store.write(move_then_fail)
    assert await store.read(everything) == before
    await move(world, case, CaseState.CLOSED)
    entry = (await store.read(trail.read, System(), case.id))[-1]
    assert cast("dict[str, object]", json.loads(entry.meta)) == {"state": "closed"}


async def test_when_it_was_resolved_and_closed_is_kept_until_it_is_reopened(world: World) -> None:
    case = await open_case(world)
    case = await move(world, case, CaseState.RESOLVED, now=world.now + MINUTE)
    assert (case.resolved_at, case.closed_at) == (world.now + MINUTE, None)
    case = await move(world, case, CaseState.CLOSED, now=world.now + HOUR)
    assert (case.resolved_at, case.closed_at) == (world.now + MINUTE, world.now + HOUR)
    assert not case.is_live
    case = await move(world, case, CaseState.IN_PROGRESS, now=world.now + 2 * HOUR)
    assert (case.resolved_at, case.closed_at, case.is_live) == (None, None, True)
    assert (await move(world, case, CaseState.CANCELLED, now=world.now + 3 * HOUR)).closed_at == world.now + 3 * HOUR


@pytest.mark.parametrize("waiting_on", list(WaitingOn))
async def test_only_a_case_in_progress_waits_for_somebody(world: World, store: Store, waiting_on: WaitingOn) -> None:
    """R2"""
    case = await open_case(world)
    await store.write(cases.wait, world.now, case.id, waiting_on)
    assert await store.read(cases.by_id, case.id) == case
    await move(world, case, CaseState.IN_PROGRESS)
    await store.write(cases.wait, world.now, case.id, waiting_on)
    assert (await store.read(cases.by_id, case.id)).waiting_on is waiting_on
    assert (await move(world, case, CaseState.RESOLVED)).waiting_on is WaitingOn.NOBODY


@pytest.mark.parametrize("state", [state for state in CaseState if state is not CaseState.IN_PROGRESS])
async def test_no_raw_case_waits_for_somebody_in_any_other_state(world: World, store: Store, state: CaseState) -> None:
    """R2"""
    await open_case(world)
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.run, "UPDATE cases SET state = :s, waiting_on = 'approval'", s=state)


async def test_a_case_is_found_by_its_number_within_its_scope(world: World, store: Store) -> None:
    """R21"""
    case = await open_case(world, requester=world.people.you.id)
    for scope in (System(), Tenant("local"), Own("local", world.people.you.id)):
        assert await store.read(cases.get, scope, case.number) == case
    with pytest.raises(NotFound, match="No case C-99"):
        await store.read(cases.get, System(), 99)


async def test_cases_are_listed_by_state_the_most_recently_active_first(world: World, store: Store) -> None:
    made = [await open_case(world) for _ in range(4)]
    await move(world, made[0], CaseState.RESOLVED, now=world.now + 1)
    await move(world, made[1], CaseState.CLOSED, now=world.now + 2)
    listed = await store.read(cases.listing, System())
    assert [case.id for case in listed] == [made[1].id, made[0].id, made[3].id, made[2].id]
    assert [case.id for case in await store.read(cases.listing, System(), most=1)] == [made[1].id]
    for states, expected in (
        ((CaseState.NEW,), [3, 2]), ((CaseState.RESOLVED, CaseState.CLOSED), [1, 0]), ((), []),
    ):  # fmt: skip
        found = await store.read(cases.listing, System(), states=states)
        assert [case.id for case in found] == [made[n].id for n in expected]


async def test_counts_are_computed(world: World, store: Store) -> None:
    """R2"""
    made = [await open_case(world) for _ in range(3)]
    await move(world, made[0], CaseState.CLOSED)
    counts = await store.read(cases.counts)
    assert counts == {"new": 2, "in_progress": 0, "resolved": 0, "closed": 1, "cancelled": 0}


async def test_an_alert_that_fires_again_finds_its_case_and_opens_no_second_live_one(
    world: World, store: Store
) -> None:
    case = await open_case(world, dedup_key="disk")
    with pytest.raises(ConstraintBroken, match="dedup_key"):
        await open_case(world, dedup_key="disk")
    with pytest.raises(ConstraintBroken, match="dedup_key"):
        await store.write(copy_row, "cases", case.id, number=99)
    assert await store.read(cases.of_group, "local", "disk") == case
    assert await store.read(cases.of_group, "elsewhere", "disk") is None
    await open_case(world, tenant="elsewhere", dedup_key="disk")
    await move(world, case, CaseState.CLOSED)
    following = await open_case(world, dedup_key="disk", follows=case.id)
    assert await store.read(cases.of_group, "local", "disk") == following
    assert following.follows == case.id


async def test_an_alerts_case_that_is_reopened_leaves_the_alert_to_the_one_opened_since(
    world: World, store: Store
) -> None:
    earlier = await open_case(world, dedup_key="disk")
    await move(world, earlier, CaseState.CLOSED)
    assert (await move(world, earlier, CaseState.IN_PROGRESS)).dedup_key == "disk", "no other has it"
    await move(world, earlier, CaseState.CLOSED)
    newer = await open_case(world, dedup_key="disk")
    assert (await move(world, earlier, CaseState.IN_PROGRESS)).dedup_key is None
    assert await store.read(cases.of_group, "local", "disk") == newer


async def test_cases_resolved_long_ago_are_found_for_closing(world: World, store: Store) -> None:
    made = [await open_case(world) for _ in range(3)]
    for n, case in enumerate(made):
        await move(world, case, CaseState.RESOLVED, now=world.now + n * HOUR)
    await move(world, made[0], CaseState.IN_PROGRESS)
    found = await store.read(cases.resolved_before, world.now + HOUR)
    assert [case.id for case in found] == [made[1].id]
    await world.say(made[1], "it is back")
    assert await store.read(cases.resolved_before, world.now + HOUR) == [], "a message is about to reopen it"


async def test_who_the_customer_was_verified_to_be_and_how_is_one_fact(world: World, store: Store) -> None:
    """R22"""
    case = await open_case(world)
    await store.write(
        cases.verify_subject, world.now, case.id, verified_as="customer 7", how="code by letter", actor="kim"
    )  # fmt: skip
    case = await store.read(cases.by_id, case.id)
    assert (case.verified_as, case.verified_how, case.verified_at) == ("customer 7", "code by letter", world.now)
    assert (await world.trail_kinds(case.id))[-1] == "case.verified"
    for column in ("verified_as", "verified_how", "verified_at"):
        with pytest.raises(ConstraintBroken):
            await store.write(Tx.run, f"UPDATE cases SET {column} = NULL")


async def test_what_is_changed_about_a_case_is_in_its_trail(world: World, store: Store) -> None:
    case = await open_case(world)
    await store.write(cases.retitle, world.now, case.id, "x" * 300, actor="kim")
    await store.write(cases.assign, world.now, case.id, world.people.kim.id, actor="kim")
    await store.write(cases.set_task_state, world.now, case.id, {"step": 2}, actor="assistant")
    await store.write(cases.write_paraphrase, case.id, "It is being looked at.")
    changed = await store.read(cases.by_id, case.id)
    assert (changed.title, changed.assignee, changed.task_state) == ("x" * 200, world.people.kim.id, {"step": 2})
    assert changed.paraphrase == "It is being looked at."
    assert await world.trail_kinds(case.id) == ["case.opened", "case.retitled", "case.assigned", "case.task_state"]


async def test_a_case_that_is_closed_is_followed_by_one_that_takes_over_its_thread(world: World, store: Store) -> None:
    """R2"""
    case = await world.case(address="memory:S/R/1")
    await move(world, case, CaseState.CLOSED)
    following = await open_case(world, follows=case.id)
    with pytest.raises(BadRequest, match="another case"):
        await store.write(bindings.bind, world.now, following, "memory:S/R/1", actor="intake")
    await store.write(bindings.take_over, world.now, "memory:S/R/1", following, actor="intake")
    assert await store.read(bindings.case_at, "memory:S/R/1") == following
    assert await store.read(bindings.of_case, case.id) == []
