"""Looking for what is to be said reads what is due, not what waits, and finds what reading everything finds (R27)."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casestore import outbox
from casestore.db import Store
from casestore.models import CaseId, GateId, OutboxRow
from casestore.next_due import next_due
from casestore.states import OutboxKind
from casestore.tx import Tx
from tests.conftest import BOOT, HOUR, World
from tests.store.inside import effort

CHANNELS = ("slack", "memory")
MOST = 4

ROWS = st.lists(
    st.tuples(st.sampled_from(CHANNELS), st.integers(0, 3), st.sampled_from(["due", "sending", "held", "sent"]),
              st.sampled_from([0, 1, 2])),
    max_size=40,
)  # fmt: skip


class RolledBack(Exception):
    """What was put is not kept."""


@pytest.mark.parametrize(
    ("threads", "more_threads", "each", "waits"),
    [(20, 200, 1, True), (20, 200, 1, False), (5, 0, 20, True), (5, 0, 20, False)],
    ids=["many threads that wait", "many threads that are due", "long threads that wait", "long threads that are due"],
)
async def test_a_look_costs_the_same_however_much_is_to_be_said(
    world: World, store: Store, threads: int, more_threads: int, each: int, waits: bool
) -> None:
    """Ten times as many threads; or, where they are few, ten times as much in each of them."""
    case = await world.case()
    await store.write(_put, world.now, case.id, range(threads), each, waits)
    with_few = await _look(store, world.now)
    more = range(threads, threads + more_threads) or range(threads)
    await store.write(_put, world.now, case.id, more, each if more_threads else each * 9, waits)
    assert await _look(store, world.now) <= with_few * 1.1


async def test_rows_of_a_channel_that_is_left_alone_are_not_looked_through(world: World, store: Store) -> None:
    case = await world.case()
    nothing = await effort(store, next_due, world.now, ("memory",), MOST, None)
    await store.write(_put, world.now, case.id, range(50), 1, waits=False)
    assert await effort(store, next_due, world.now, ("memory",), MOST, None) < nothing + 10


async def test_a_thread_with_much_to_say_does_not_hide_one_with_little(world: World, store: Store) -> None:
    case = await world.case()
    await store.write(_put, world.now, case.id, range(1), 100, waits=False)
    await store.write(_put, world.now, case.id, range(1, 3), 1, waits=False)
    rows = await store.write(outbox.take_due, world.now, CHANNELS, boot=BOOT, most=MOST)
    assert [row.address for row in rows] == ["slack:S/R/0", "slack:S/R/1", "slack:S/R/2"]
    everything = await store.read(outbox.of_case, case.id)
    assert rows[0].id == everything[0].id, "of the one with much, what was put first"


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, channels=st.sampled_from([CHANNELS, ("slack",)]), at=st.sampled_from([None, "slack:S/R/1"]))
async def test_the_first_that_is_not_done_of_each_address_is_next_once_it_is_due(
    world: World, store: Store, rows: list[tuple[str, int, str, int]], channels: tuple[str, ...], at: str | None
) -> None:
    def play(tx: Tx) -> None:
        for channel, thread, state, later in rows:
            row = outbox.put(tx, 0, case.id, f"{channel}:S/R/{thread}", OutboxKind.MESSAGE, body="b")
            tx.run("UPDATE outbox SET state = :s, not_before = :n WHERE id = :id", s=state, n=later, id=row)
        found = next_due(tx, 1, channels, 2, at)
        assert found == _by_reading_everything(outbox.of_case(tx, case.id), channels, at)[:2]
        raise RolledBack

    case = await world.case()
    with pytest.raises(RolledBack):
        await store.write(play)


def _by_reading_everything(rows: list[OutboxRow], channels: tuple[str, ...], at: str | None) -> list[int]:
    first: dict[str, OutboxRow] = {}
    for row in rows:
        if row.state in ("due", "sending"):
            first.setdefault(row.address, row)
    return [
        row.id for row in sorted(first.values(), key=lambda row: row.id)
        if row.state == "due" and row.not_before <= 1 and row.channel in channels and at in (None, row.address)
    ]  # fmt: skip


def _put(tx: Tx, now: int, case: CaseId, threads: range, each: int, waits: bool) -> None:
    """So much in so many threads of Slack; what is first in a thread is due, or waits for an hour."""
    for number in threads:
        for _ in range(each):
            outbox.put(tx, now, case, f"slack:S/R/{number}", OutboxKind.MESSAGE, body="b")
    for row in outbox.take_due(tx, now, CHANNELS, boot=BOOT, most=len(threads)) if waits else []:
        outbox.retry(tx, row, not_before=now + HOUR, error="busy")


async def _look(store: Store, now: int) -> int:
    return await effort(store, next_due, now, CHANNELS, MOST, None)


async def test_what_was_said_in_other_cases_costs_nobody_anything(world: World, store: Store) -> None:
    """Nothing prunes what was said: whatever read all of it would take longer with every year."""
    case, others = await world.case(), await world.ask()
    message = await world.say(case)
    looks: dict[str, Callable[[Tx], object]] = {
        "was sent": lambda tx: outbox.was_sent(tx, case.id, "slack:S/R/0", ["1"]),
        "of a message": lambda tx: outbox.of_message(tx, message),
        "counted": outbox.counts,
        "moved": lambda tx: outbox.move(tx, "slack:S/R/new-1", "slack:S/R/1"),
        "forgotten": lambda tx: outbox.forget_cards(tx, "slack:S/R/2"),
    }
    before = {name: await effort(store, look) for name, look in looks.items()}
    await store.write(_said, others.case.id, 300, others.gate.id)
    after = {name: await effort(store, look) for name, look in looks.items()}
    assert {name: cost for name, cost in after.items() if cost > before[name] + 20} == {}


def _said(tx: Tx, case: CaseId, many: int, gate: GateId) -> None:
    """So much is said elsewhere, each with a card of it."""
    for number in range(many):
        row = outbox.put(tx, 0, case, f"slack:S/R/x{number}", OutboxKind.MESSAGE, body="b")
        tx.run("UPDATE outbox SET state = 'sent', platform_id = :p, sent_at = 0 WHERE id = :id", p=str(number), id=row)
        tx.run(
            "INSERT INTO cards (gate_id, address, platform_id, shown) VALUES (:gate, :at, :p, 'open')",
            gate=gate, at=f"slack:S/R/x{number}", p=str(number),
        )  # fmt: skip
