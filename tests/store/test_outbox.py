"""What must be said: in order per address, once where that can be known, and nothing in the way of the rest (R27)."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casestore import messages, outbox, trail
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.messages import Said, text_body
from casestore.models import Case, OutboxId, OutboxRow
from casestore.scope import System
from casestore.states import OutboxKind, OutboxState, Provenance
from casestore.tx import Tx
from tests.conftest import BOOT, HOUR, MINUTE, World
from tests.store.inside import effort

HERE, THERE, SLACK = "memory:S/R/1", "memory:S/R/2", "slack:T1/C2/1710.003"
ALL = ("memory", "slack")


async def put(world: World, case: Case, address: str, body: str = "b") -> OutboxId:
    return await world.store.write(outbox.put, world.now, case.id, address, OutboxKind.MESSAGE, body=body)


async def take(
    world: World, *, now: int | None = None, channels: tuple[str, ...] = ALL, most: int = 100, boot: str = BOOT
) -> list[OutboxRow]:
    at = world.now if now is None else now
    return await world.store.write(outbox.take_due, at, channels, boot=boot, most=most)


async def state(world: World, row: OutboxId) -> OutboxState:
    return (await world.store.read(outbox.by_id, row)).state


async def test_one_row_of_each_address_is_sent_at_a_time_in_the_order_they_were_put(world: World, store: Store) -> None:
    case = await world.case()
    first, other, second = [await put(world, case, address) for address in (HERE, THERE, HERE)]
    sending = await take(world)
    assert [(row.id, row.state, row.attempts, row.boot) for row in sending] == [
        (first, OutboxState.SENDING, 1, BOOT),
        (other, OutboxState.SENDING, 1, BOOT),
    ]
    assert await take(world) == [], "the second waits until the first is done"
    await store.write(outbox.mark_sent, world.now, sending[0], "m1")
    assert [row.id for row in await take(world)] == [second]


async def test_the_order_holds_across_cases_that_share_an_address(world: World) -> None:
    one, two = await world.case(), await world.case()
    first = await put(world, one, HERE)
    await put(world, two, HERE)
    assert [row.id for row in await take(world)] == [first]


async def test_what_has_to_wait_holds_back_those_behind_it_at_its_address_and_no_others(
    world: World, store: Store
) -> None:
    case = await world.case()
    first, second, other = [await put(world, case, address) for address in (HERE, HERE, THERE)]
    sending = await take(world)
    await store.write(outbox.retry, sending[0], not_before=world.now + HOUR, error="rate limited")
    await store.write(outbox.mark_sent, world.now, sending[1], "m1")
    assert await take(world, now=world.now + HOUR - 1) == []
    again = await take(world, now=world.now + HOUR)
    assert [(row.id, row.attempts, row.error) for row in again] == [(first, 2, "rate limited")]
    assert await state(world, other) is OutboxState.SENT
    assert await state(world, second) is OutboxState.DUE


async def test_a_dead_row_is_noted_on_the_case_and_does_not_block_those_behind_it(world: World, store: Store) -> None:
    case = await world.case()
    first, second = await put(world, case, HERE), await put(world, case, HERE)
    (sending,) = await take(world)
    for _ in range(2):
        await store.write(outbox.give_up, world.now, sending, "50083: thread is archived")
    assert await state(world, first) is OutboxState.DEAD
    assert [row.id for row in await take(world)] == [second]
    noted = [entry for entry in await store.read(trail.read, System(), case.id) if entry.kind == "outbox.dead"]
    assert [f'"outbox":{first}' in entry.meta and "50083" in entry.meta for entry in noted] == [True]


async def test_a_held_row_does_not_block_those_behind_it(world: World, store: Store) -> None:
    """R12"""
    begun = await world.begin()
    await store.write(
        outbox.put, world.now, begun.case.id, HERE, OutboxKind.MESSAGE, body="b", turn_id=begun.turn.id
    )  # fmt: skip
    await store.write(outbox.hold_back, begun.case.id)
    second = await put(world, begun.case, HERE)
    assert [row.id for row in await take(world)] == [second]


async def test_what_was_sent_is_neither_retried_nor_given_up(world: World, store: Store) -> None:
    case = await world.case()
    row = await put(world, case, HERE)
    (sending,) = await take(world)
    await store.write(outbox.mark_sent, world.now + MINUTE, sending, "m1")
    await store.write(outbox.retry, sending, not_before=world.now, error="late")
    await store.write(outbox.give_up, world.now, sending, "late")
    sent = await store.read(outbox.by_id, row)
    assert (sent.state, sent.platform_id, sent.sent_at, sent.error) == (
        OutboxState.SENT, "m1", world.now + MINUTE, None,
    )  # fmt: skip


async def test_what_was_given_up_while_it_was_sent_stays_given_up_though_it_arrived(world: World, store: Store) -> None:
    case = await world.case()
    put = await store.write(outbox.put, world.now, case.id, HERE, OutboxKind.MESSAGE, body="hello")
    (sending,) = await store.write(outbox.take_due, world.now, ALL, boot=BOOT, most=10)
    await store.write(outbox.drop_for, world.now, HERE, "the thread is gone")
    await store.write(outbox.mark_sent, world.now, sending, "m1")
    row = await store.read(outbox.by_id, put)
    assert (row.state, row.error, row.sent_at) == (OutboxState.DEAD, "the thread is gone", None)
    assert "outbox.dead" in await world.trail_kinds(case.id)


async def test_only_the_channels_that_are_connected_are_served(world: World, store: Store) -> None:
    case = await world.case()
    slack = await put(world, case, SLACK)
    here = await put(world, case, HERE)
    assert [row.id for row in await take(world, channels=("memory",))] == [here]
    assert await take(world, channels=()) == []
    assert [(row.id, row.channel) for row in await take(world)] == [(slack, "slack")]


async def test_one_address_can_be_served_by_itself(world: World, store: Store) -> None:
    case = await world.case()
    first, other = await put(world, case, HERE), await put(world, case, THERE)
    taken = await store.write(outbox.take_due, world.now, ALL, boot="boot-0", most=9, at=THERE)
    assert [row.id for row in taken] == [other]
    assert await store.read(outbox.left_sending, BOOT, ALL, HERE) == []
    assert [row.id for row in await store.read(outbox.left_sending, BOOT, ALL, THERE)] == [other]
    assert [row.id for row in await take(world)] == [first]


async def test_what_was_ever_said_is_not_read_to_find_what_is_to_be_said(world: World, store: Store) -> None:
    def say_much(tx: Tx) -> None:
        for n in range(500):
            outbox.put(tx, world.now, case.id, f"memory:S/R/{n % 7}", OutboxKind.MESSAGE, body="b")
        tx.run("UPDATE outbox SET state = 'sent'")

    case = await world.case()
    costs: list[list[int]] = []
    for _ in range(2):
        costs.append(
            [
                await effort(store, outbox.take_due, world.now, ALL, boot=BOOT, most=10),
                await effort(store, outbox.left_sending, BOOT, ALL),
            ]
        )
        await store.write(say_much)
    assert all(much < little + 50 for little, much in zip(*costs, strict=True)), costs


async def test_as_many_are_taken_as_were_asked_for_the_oldest_first(world: World) -> None:
    case = await world.case()
    made = [await put(world, case, f"memory:S/R/{n}") for n in range(5)]
    assert [row.id for row in await take(world, most=2)] == made[:2]
    assert [row.id for row in await take(world, most=9)] == made[2:]


async def test_what_an_earlier_boot_was_sending_is_found_and_may_be_a_duplicate(world: World, store: Store) -> None:
    case = await world.case()
    row = await put(world, case, HERE)
    await take(world, boot="boot-0")
    await put(world, case, THERE)
    await take(world, boot=BOOT)
    (left,) = await store.read(outbox.left_sending, BOOT, ALL)
    assert left.id == row
    assert await store.read(outbox.left_sending, BOOT, ("slack",)) == []
    await store.write(outbox.retry, left, not_before=0, error="it may have been sent", possible_duplicate=True)
    (again,) = await take(world)
    assert (again.id, again.possible_duplicate) == (row, True)
    await store.write(outbox.retry, again, not_before=0, error="rate limited")
    assert (await store.read(outbox.by_id, row)).possible_duplicate, "once in doubt, always in doubt"
    assert await store.read(outbox.left_sending, BOOT, ALL) == []


async def test_when_a_thread_is_gone_nothing_more_is_said_there(world: World, store: Store) -> None:
    """R3"""
    case = await world.case()
    gone = [await put(world, case, HERE) for _ in range(3)]
    other = await put(world, case, THERE)
    await take(world, most=1)
    assert await store.write(outbox.drop_for, world.now, HERE, "deleted") == 3
    assert [await state(world, row) for row in gone] == [OutboxState.DEAD] * 3
    assert [row.id for row in await take(world)] == [other]
    assert await store.read(outbox.counts) == {"due": 0, "held": 0, "sending": 1, "dead": 3}


async def test_what_was_said_is_known_by_the_platforms_identity_afterwards(world: World, store: Store) -> None:
    """R29: our own message, when the platform sends it back, is recognised."""
    case = await world.case()
    message = await store.write(messages.post, world.now, case.id, Said(Provenance.ASSISTANT, text_body("done")))
    for address in (HERE, THERE):
        await store.write(
            outbox.put, world.now, case.id, address, OutboxKind.MESSAGE, body="done", message_id=message.id
        )  # fmt: skip
    for row in await take(world):
        await store.write(outbox.mark_sent, world.now, row, f"m{row.id}")
    seen = await store.read(messages.seen, HERE, "m1")
    assert seen is not None
    assert seen.id == message.id


@pytest.mark.parametrize(
    "change", ["body = NULL", "kind = 'card'", "kind = 'edit'", "state = 'lost'", "possible_duplicate = 2"]
)
async def test_no_raw_row_says_nothing(world: World, store: Store, change: str) -> None:
    await put(world, await world.case(), HERE)
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.run, f"UPDATE outbox SET {change}")


PLAYS = st.lists(
    st.tuples(
        st.sampled_from(["put here", "put there", "take", "send", "retry", "give up", "wait"]), st.integers(0, HOUR)
    ),
    max_size=40,
)


class RolledBack(Exception):
    """What was played is not kept."""


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=PLAYS)
async def test_whatever_fails_in_between_each_address_hears_its_rows_in_order_and_each_once(
    world: World, store: Store, acts: list[tuple[str, int]]
) -> None:
    def play(tx: Tx) -> None:
        now, sending, heard = world.now, list[OutboxRow](), dict[str, list[int]]()
        for name, number in acts:
            if name.startswith("put"):
                address = HERE if name == "put here" else THERE
                outbox.put(tx, now, case.id, address, OutboxKind.MESSAGE, body="b")
            elif name == "take":
                sending += outbox.take_due(tx, now, ALL, boot=BOOT, most=10)
                assert len({row.address for row in sending}) == len(sending), "one at a time per address"
            elif name == "wait":
                now += number
            elif sending:
                row = sending.pop(number % len(sending))
                if name == "send":
                    heard.setdefault(row.address, []).append(row.id)
                    outbox.mark_sent(tx, now, row, f"m{row.id}")
                elif name == "retry":
                    outbox.retry(tx, row, not_before=now + number, error="e")
                else:
                    outbox.give_up(tx, now, row, "e")
        for rows in heard.values():
            assert rows == sorted(set(rows))
        raise RolledBack

    case = await world.case()
    with pytest.raises(RolledBack):
        await store.write(play)
