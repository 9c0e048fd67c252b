"""A person who takes a case over holds the same lease, without end, until it is handed back (R12)."""

import pytest

from casestore import leases, outbox, turns
from casestore.db import Store
from casestore.errors import MoveRefused
from casestore.models import CaseId, OutboxId
from casestore.states import LeaseKind, OutboxKind, OutboxState
from tests.conftest import BOOT, DAY, HOUR, LEASE_TTL, MINUTE, WORKER, World
from tests.store.rows import everything

ADDRESS = "memory:S/R/1"


async def test_a_person_takes_a_case_from_a_run_at_once(world: World, store: Store) -> None:
    begun = await world.begin()
    await store.write(leases.seize, world.now, begun.case, world.people.kim)
    row = await store.read(leases.of_case, begun.case.id)
    assert (row.kind, row.holder, row.principal, row.until) == (LeaseKind.HUMAN, "kim", world.people.kim.id, None)
    assert row.fence > begun.lease.fence
    assert not await store.write(leases.holds, world.now, begun.lease)
    assert "lease.taken_over" in await world.trail_kinds(begun.case.id)


async def test_the_assistant_does_not_get_the_case_however_long_it_takes(world: World, store: Store) -> None:
    case = await world.case()
    await world.say(case)
    await store.write(leases.seize, world.now, case, world.people.kim)
    for now in (world.now, world.now + LEASE_TTL, world.now + 365 * DAY):
        assert await store.read(leases.ready, now, 10) == []
        assert await store.write(turns.begin, now, case.id, WORKER) is None
    await store.write(leases.void_earlier_boots, "boot-2")
    assert (await store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN


async def test_two_people_do_not_have_one_case(world: World, store: Store) -> None:
    case = await world.case()
    await store.write(leases.seize, world.now, case, world.people.kim)
    before = await store.read(everything)
    with pytest.raises(MoveRefused, match="with kim"):
        await store.write(leases.seize, world.now, case, world.people.operator)
    with pytest.raises(MoveRefused, match="already yours"):
        await store.write(leases.seize, world.now, case, world.people.kim)
    assert await store.read(everything) == before


async def test_a_case_that_is_handed_back_is_worked_again_under_a_higher_fence(world: World, store: Store) -> None:
    case = await world.case()
    await world.say(case)
    await store.write(leases.seize, world.now, case, world.people.kim)
    taken = (await store.read(leases.of_case, case.id)).fence
    await store.write(leases.hand_back, world.now, case, by="principal:kim")
    assert await store.read(leases.ready, world.now, 10) == [case.id]
    begun = await store.write(turns.begin, world.now, case.id, WORKER)
    assert begun is not None
    assert begun.lease.fence > taken
    assert "lease.handed_back" in await world.trail_kinds(case.id)


@pytest.mark.parametrize("held", [False, True])
async def test_what_no_person_has_is_not_handed_back(world: World, store: Store, held: bool) -> None:
    case = (await world.begin()).case if held else await world.case()
    before = await store.read(everything)
    with pytest.raises(MoveRefused, match="not taken over"):
        await store.write(leases.hand_back, world.now, case, by="principal:kim")
    assert await store.read(everything) == before


async def test_whoever_holds_a_case_for_long_is_reminded_once_a_while(world: World, store: Store) -> None:
    case = await world.case()
    await world.begin()
    await store.write(leases.seize, world.now, case, world.people.kim)
    assert await store.read(leases.long_held, world.now - 1) == []
    assert [row.case_id for row in await store.read(leases.long_held, world.now)] == [case.id]
    await store.write(leases.mark_reminded, world.now + HOUR, case.id)
    assert await store.read(leases.long_held, world.now + HOUR - 1) == []
    assert len(await store.read(leases.long_held, world.now + HOUR)) == 1
    await store.write(leases.hand_back, world.now, case, by="principal:kim")
    assert await store.read(leases.long_held, world.now + DAY) == []


async def put(world: World, *, by_assistant: bool) -> tuple[OutboxId, CaseId]:
    begun = await world.begin()
    turn_id = begun.turn.id if by_assistant else None
    row = await world.store.write(
        outbox.put, world.now, begun.case.id, f"{ADDRESS}{begun.case.id}", OutboxKind.MESSAGE, body="b", turn_id=turn_id
    )  # fmt: skip
    await world.store.write(leases.seize, world.now, begun.case, world.people.kim)
    return row, begun.case.id


async def test_what_the_assistant_was_about_to_say_is_held_back_and_what_people_say_is_not(
    world: World, store: Store
) -> None:
    (held, case_id), (said, other_id) = await put(world, by_assistant=True), await put(world, by_assistant=False)
    assert await store.write(outbox.hold_back, case_id) == 1
    assert await store.write(outbox.hold_back, other_id) == 0
    taken = await store.write(outbox.take_due, world.now, ("memory",), boot=BOOT, most=10)
    assert [row.id for row in taken] == [said]
    assert (await store.read(outbox.by_id, held)).state is OutboxState.HELD


async def test_what_was_held_back_is_not_said_after_the_case_is_handed_back(world: World, store: Store) -> None:
    held, case_id = await put(world, by_assistant=True)
    await store.write(outbox.hold_back, case_id)
    assert await store.write(outbox.drop_held, world.now, case_id, "taken over") == 1
    assert (await store.read(outbox.by_id, held)).state is OutboxState.DEAD
    assert await store.write(outbox.take_due, world.now, ("memory",), boot=BOOT, most=10) == []


@pytest.mark.parametrize("by_assistant", [True, False])
async def test_a_reply_whose_sending_failed_after_the_takeover_is_held_back_too(
    world: World, store: Store, by_assistant: bool
) -> None:
    begun = await world.begin()
    turn_id = begun.turn.id if by_assistant else None
    await store.write(
        outbox.put, world.now, begun.case.id, ADDRESS, OutboxKind.MESSAGE, body="b", turn_id=turn_id
    )  # fmt: skip
    (sending,) = await store.write(outbox.take_due, world.now, ("memory",), boot=BOOT, most=10)
    await store.write(leases.seize, world.now, begun.case, world.people.kim)
    await store.write(outbox.hold_back, begun.case.id)
    await store.write(outbox.retry, sending, not_before=world.now, error="rate limited")
    assert (await store.read(outbox.by_id, sending.id)).state is (
        OutboxState.HELD if by_assistant else OutboxState.DUE
    )  # fmt: skip
    taken = await store.write(outbox.take_due, world.now + MINUTE, ("memory",), boot=BOOT, most=10)
    assert [row.id for row in taken] == ([] if by_assistant else [sending.id])
