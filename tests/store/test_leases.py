"""The lease: one holder, for a time, with a fence that only ever rises (R10)."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casestore import leases
from casestore.db import Store
from casestore.errors import ConstraintBroken, LeaseLost
from casestore.leases import Lease
from casestore.models import CaseId
from casestore.states import LeaseKind
from casestore.tx import Tx
from tests.conftest import BOOT, LEASE_TTL, MINUTE, World
from tests.store.rows import everything


async def take(world: World, case_id: CaseId, *, now: int | None = None, boot: str = BOOT) -> Lease | None:
    at = world.now if now is None else now
    return await world.store.write(leases.take, at, case_id, holder="task", boot=boot, ttl=LEASE_TTL)


async def held(world: World, case_id: CaseId, *, now: int | None = None, boot: str = BOOT) -> Lease:
    lease = await take(world, case_id, now=now, boot=boot)
    assert lease is not None
    return lease


async def holds(world: World, lease: Lease, now: int, until: int = 0) -> bool:
    return await world.store.write(leases.holds, now, lease, until=until)


async def test_of_many_who_want_a_case_at_once_one_gets_it(world: World) -> None:
    case = await world.case()
    got = await asyncio.gather(*(take(world, case.id) for _ in range(20)))
    assert [lease for lease in got if lease is not None] == [Lease(case.id, 1, LEASE_TTL)]


async def test_a_lease_that_is_held_is_not_taken_until_it_runs_out(world: World) -> None:
    case = await world.case()
    await held(world, case.id)
    assert await take(world, case.id, now=world.now + LEASE_TTL - 1) is None
    assert await take(world, case.id, now=world.now + LEASE_TTL) == Lease(case.id, 2, LEASE_TTL)


async def test_the_next_holder_has_a_higher_fence_and_the_earlier_one_is_told(world: World, store: Store) -> None:
    case = await world.case()
    first = await held(world, case.id)
    second = await held(world, case.id, now=world.now + LEASE_TTL)
    assert second.fence > first.fence
    with pytest.raises(LeaseLost):
        await store.write(leases.guard, world.now + LEASE_TTL, first, of=case.id)
    await store.write(leases.guard, world.now + LEASE_TTL, second, of=case.id)


async def test_a_lease_that_has_run_out_is_gone_though_nobody_took_it(world: World, store: Store) -> None:
    lease = await held(world, (await world.case()).id)
    assert await holds(world, lease, world.now + LEASE_TTL - 1)
    assert not await holds(world, lease, world.now + 3 * LEASE_TTL)
    with pytest.raises(LeaseLost):
        await store.write(leases.guard, world.now + 3 * LEASE_TTL, lease, of=lease.case_id)


async def test_every_act_renews_the_lease(world: World) -> None:
    lease = await held(world, (await world.case()).id)
    for n in range(1, 5):
        assert await holds(world, lease, world.now + n * (LEASE_TTL - 1))
    assert await take(world, lease.case_id, now=world.now + 4 * (LEASE_TTL - 1) + LEASE_TTL - 1) is None


async def test_a_renewal_never_ends_a_lease_before_the_deadline_it_was_stretched_to(world: World) -> None:
    """R14: the deadline of a started step lies inside the lease."""
    lease = await held(world, (await world.case()).id)
    deadline = world.now + 3 * LEASE_TTL
    assert await holds(world, lease, world.now, until=deadline)
    assert await holds(world, lease, world.now + MINUTE)
    assert await take(world, lease.case_id, now=deadline - 1) is None
    assert await take(world, lease.case_id, now=deadline) is not None


async def test_a_lease_that_is_dropped_is_free_and_what_its_holder_does_afterwards_is_refused(
    world: World, store: Store
) -> None:
    lease = await held(world, (await world.case()).id)
    await store.write(leases.drop, lease)
    assert not await holds(world, lease, world.now)
    assert (await held(world, lease.case_id)).fence == 2


async def test_dropping_a_lease_that_is_no_longer_ours_takes_it_from_nobody(world: World, store: Store) -> None:
    first = await held(world, (await world.case()).id)
    second = await held(world, first.case_id, now=world.now + LEASE_TTL)
    before = await store.read(everything)
    await store.write(leases.drop, first)
    assert await store.read(everything) == before
    assert await holds(world, second, world.now + LEASE_TTL)


async def test_a_fence_of_another_case_opens_nothing(world: World) -> None:
    mine, other = await held(world, (await world.case()).id), await world.case()
    assert not await holds(world, Lease(other.id, mine.fence, LEASE_TTL), world.now)


async def test_the_service_frees_what_its_earlier_boots_held_and_nothing_else(world: World, store: Store) -> None:
    left = [await held(world, (await world.case()).id, boot="boot-0") for _ in range(2)]
    ours = await held(world, (await world.case()).id)
    taken = await world.case()
    await store.write(leases.seize, world.now, taken, world.people.kim)
    assert await store.write(leases.void_earlier_boots, BOOT) == 2
    for lease in left:
        assert not await holds(world, lease, world.now)
        assert (await held(world, lease.case_id)).fence > lease.fence
    assert await holds(world, ours, world.now)
    assert (await store.read(leases.of_case, taken.id)).kind is LeaseKind.HUMAN


async def test_when_a_case_ends_whoever_holds_it_does_so_no_more(world: World, store: Store) -> None:
    lease = await held(world, (await world.case()).id)
    await store.write(leases.free, lease.case_id)
    assert not await holds(world, lease, world.now)
    assert (await held(world, lease.case_id)).fence == lease.fence + 2


@pytest.mark.parametrize(
    "change",
    [
        "kind = 'run'",
        "kind = 'human', holder = 'kim'",
        "kind = 'run', holder = 't'",
        "fence = NULL",
        "kind = 'x'",
        "kind = 'run', until = 1",
        "holder = 't'",
    ],
)
async def test_no_raw_lease_is_without_a_holder_or_an_end(world: World, store: Store, change: str) -> None:
    await world.case()
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.run, f"UPDATE leases SET {change}")


ACTS = ("take", "take elsewhere", "renew", "stretch", "drop", "seize", "hand back", "free", "void boots", "wait")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, LEASE_TTL)), max_size=25))
async def test_whatever_happens_the_fence_never_falls_and_at_most_the_newest_lease_stands(
    world: World, store: Store, acts: list[tuple[str, int]]
) -> None:
    case = await world.case()

    def play(tx: Tx) -> None:
        given_out: list[Lease] = []
        now, fence = world.now, 0
        for act, number in acts:
            newest = given_out[-1] if given_out else Lease(case.id, 0, LEASE_TTL)
            row = leases.of_case(tx, case.id)
            match act:
                case "take" | "take elsewhere":
                    boot = BOOT if act == "take" else "boot-0"
                    lease = leases.take(tx, now, case.id, holder="task", boot=boot, ttl=LEASE_TTL)
                    given_out += [lease] if lease is not None else []
                case "renew":
                    leases.holds(tx, now, newest)
                case "stretch":
                    leases.holds(tx, now, newest, until=now + LEASE_TTL + number)
                case "drop":
                    leases.drop(tx, given_out[number % len(given_out)] if given_out else newest)
                case "seize" if row.kind is not LeaseKind.HUMAN:
                    leases.seize(tx, now, case, world.people.kim)
                case "hand back" if row.kind is LeaseKind.HUMAN:
                    leases.hand_back(tx, now, case, by="kim")
                case "free":
                    leases.free(tx, case.id)
                case "void boots":
                    leases.void_earlier_boots(tx, BOOT)
                case _:
                    now += number
            assert leases.of_case(tx, case.id).fence >= fence
            fence = leases.of_case(tx, case.id).fence
            standing = [lease for lease in given_out if leases.holds(tx, now, lease)]
            assert standing in ([], given_out[-1:])

    await store.write(play)
