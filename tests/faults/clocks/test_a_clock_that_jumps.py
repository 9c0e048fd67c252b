"""The clock is a week off, in either direction: nobody works a case twice, nothing is done twice (R10, R14, R29)."""

import pytest

from bot.inbound import intake
from bot.settings import Settings
from casestore import leases, outbox, recovery, steps
from casestore.db import Store
from casestore.errors import LeaseLost
from casestore.states import OutboxKind, StepState
from channels.messages import Account, Address, Inbound
from tests.conftest import DAY, LEASE_TTL, MINUTE, World

WEEK = 7 * DAY
JUMPS = [-WEEK, -DAY, -1, DAY, WEEK]


@pytest.mark.parametrize("jump", JUMPS)
async def test_two_holders_never_have_a_case_wherever_the_clock_stands(world: World, store: Store, jump: int) -> None:
    begun = await world.begin()
    other = await store.write(leases.take, world.now + jump, begun.case.id, holder="o", boot="b", ttl=LEASE_TTL)
    stands = await store.write(leases.holds, world.now + jump, begun.lease)
    assert stands == (other is None) == (jump < LEASE_TTL)
    if other is not None:
        assert other.fence > begun.lease.fence
        for now in (world.now, world.now - WEEK, world.now + jump):
            with pytest.raises(LeaseLost):
                await store.write(leases.guard, now, begun.lease, of=begun.case.id)


async def test_a_clock_set_back_does_not_cut_a_lease_shorter(world: World, store: Store) -> None:
    begun = await world.begin()
    await store.write(leases.guard, world.now - DAY, begun.lease, of=begun.case.id)
    assert await store.write(leases.holds, world.now + LEASE_TTL - 1, begun.lease)


@pytest.mark.parametrize("jump", [-WEEK, -DAY, WEEK])
async def test_a_call_that_was_started_is_never_made_again_by_itself_wherever_the_clock_stands(
    world: World, store: Store, jump: int
) -> None:
    working = await world.working()
    await store.write(
        steps.start_tool, world.now, working.lease, working.run.id, working.step, deadline=world.now + MINUTE
    )  # fmt: skip
    wait_until = await store.write(recovery.recover, world.now + jump, working.turn.id)
    step = await store.read(steps.by_id, working.step.id)
    assert (step.state, wait_until) == (
        (StepState.UNKNOWN, 0) if jump > 0 else (StepState.STARTED, world.now + MINUTE)
    )  # fmt: skip
    assert await store.write(recovery.recover, world.now + WEEK, working.turn.id) == 0
    assert (await store.read(steps.by_id, working.step.id)).state is StepState.UNKNOWN


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_message_that_comes_again_is_a_duplicate_wherever_the_clock_stands(
    world: World, store: Store, jump: int
) -> None:
    settings = Settings.model_validate({"access": {"unknown": "requester"}})
    inbound = Inbound(
        address=Address(channel="memory", space="S", room="R", thread="T"), platform_id="m1", text="help",
        account=Account(channel="memory", space="S", account_id="U1", display_name="u"), addressed=True, at=world.now,
    )  # fmt: skip
    first = await store.write(intake.receive, world.now, inbound, settings, None)
    again = await store.write(intake.receive, world.now + jump, inbound, settings, None)
    assert isinstance(first, intake.Received)
    assert again == intake.Received(first.case_id, first.message, duplicate=True)


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_clock_that_jumps_changes_neither_the_order_of_what_is_said_nor_says_it_twice(
    world: World, store: Store, jump: int
) -> None:
    case, here = await world.case(), "memory:S/R/T"
    first = await store.write(outbox.put, world.now, case.id, here, OutboxKind.MESSAGE, body="first")
    second = await store.write(outbox.put, world.now + jump, case.id, here, OutboxKind.MESSAGE, body="second")
    said: list[int] = []
    for now in (world.now + jump, world.now, world.now + WEEK):
        for row in await store.write(outbox.take_due, now, ("memory",), boot="b", most=9):
            said.append(row.id)
            await store.write(outbox.mark_sent, now, row, f"p{row.id}")
    assert said == [first, second]
