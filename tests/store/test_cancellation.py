"""Cancelling whoever waits for a transaction: it happens or it does not; it is never left half done."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from casestore.db import Store
from casestore.tx import Tx
from tests.store.inside import on_writer
from tests.store.processes import PRELUDE, ROOT

AWAITS = range(8)
"""How many times the loop goes round before the caller is cancelled: from not begun to done."""


def put_two(tx: Tx, name: str) -> None:
    for half in ("a", "b"):
        tx.run("INSERT INTO positions (address, last_seen) VALUES (:address, '')", address=f"{name}{half}")


def stored(tx: Tx) -> list[object]:
    return tx.column("SELECT address FROM positions ORDER BY address")


async def go_round(times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


@pytest.mark.parametrize("rounds", AWAITS)
async def test_a_cancelled_writer_has_written_all_or_nothing(store: Store, rounds: int) -> None:
    caller = asyncio.create_task(store.write(put_two, "x"))
    await go_round(rounds)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await store.write(put_two, "y")
    assert not await on_writer(store, lambda conn: conn.in_transaction)
    assert await store.read(stored) in (["ya", "yb"], ["xa", "xb", "ya", "yb"])


async def test_a_write_that_was_asked_for_is_done_although_its_caller_is_cancelled(store: Store) -> None:
    caller = asyncio.create_task(store.write(put_two, "x"))
    await go_round(1)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await store.write(put_two, "y")
    assert await store.read(stored) == ["xa", "xb", "ya", "yb"]


async def test_cancelling_one_caller_takes_nothing_from_those_who_share_its_commit(store: Store) -> None:
    callers = [asyncio.create_task(store.write(put_two, f"c{n}")) for n in range(5)]
    await go_round(2)
    callers[2].cancel()
    answers = await asyncio.gather(*callers, return_exceptions=True)
    assert [answers[n] for n in (0, 1, 3, 4)] == [None] * 4
    assert await store.read(stored) == [f"c{n}{half}" for n in range(5) for half in "ab"]


async def test_an_error_nobody_waits_for_any_more_disturbs_nobody(store: Store) -> None:
    def broken(tx: Tx) -> None:
        raise LookupError

    caller = asyncio.create_task(store.write(broken))
    await go_round(2)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await store.write(put_two, "y")
    assert await store.read(stored) == ["ya", "yb"]


@pytest.mark.parametrize("rounds", AWAITS)
async def test_cancelled_readers_leave_the_readers_usable(store: Store, rounds: int) -> None:
    await store.write(put_two, "x")
    for _ in range(6):  # more than there are readers
        caller = asyncio.create_task(store.read(stored))
        await go_round(rounds)
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
    async with asyncio.timeout(20):
        answers = await asyncio.gather(*(store.read(stored) for _ in range(12)))
    assert answers == [["xa", "xb"]] * 12


CANCEL_A_READ = (
    PRELUDE
    + """
async def main(rounds):
    store = await open_store(DB, nonce, serves=False)
    caller = asyncio.create_task(store.read(lambda tx: tx.value("SELECT 1")))
    for _ in range(rounds):
        await asyncio.sleep(0)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await store.close()

for rounds in range(8):
    asyncio.run(main(rounds))
print("closed")
"""
)


def test_the_interpreter_exits_after_a_read_was_cancelled_while_its_connection_opened(store: Store, db: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CANCEL_A_READ, str(db), "{}"], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")
