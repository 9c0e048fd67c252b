"""Several processes on one file: a service, a CLI beside it, and what happens when one of them ends."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from casestore import prompts
from casestore.db import MOST_PER_COMMIT, MOST_READERS, Store
from casestore.errors import StoreUnavailable
from casestore.migrate import open_store
from casestore.tx import Tx
from tests.store.processes import PRELUDE, ROOT, race

WRITE_MANY = """
def put(tx, address):
    before = tx.integer("SELECT count(*) FROM positions")
    tx.run("INSERT INTO positions (address, last_seen) VALUES (:address, :before)", address=address, before=str(before))

async def main():
    store = await open_store(DB, nonce, serves=ARGS["serves"])
    wait_for_the_others()
    for n in range(ARGS["many"]):
        await store.write(put, f"{ARGS['name']}/{n}")
    await store.close()

asyncio.run(main())
print("0")
"""

OPEN_NEW = """
async def main():
    wait_for_the_others()
    store = await open_store(DB, nonce, serves=False, create=True)
    await store.write(lambda tx: tx.run("INSERT INTO positions VALUES (:name, '')", name=ARGS))
    await store.close()

asyncio.run(main())
print("0")
"""

USE_AND_CLOSE = (
    PRELUDE
    + """
async def main():
    store = await open_store(DB, nonce, serves=ARGS)
    await asyncio.gather(*(store.read(lambda tx: tx.value("SELECT 1")) for _ in range(20)))
    await store.write(lambda tx: tx.run("INSERT INTO positions VALUES ('a', 'b')"))
    await store.close()
    print("closed", flush=True)

asyncio.run(main())
"""
)


def count_positions(tx: Tx) -> int:
    return tx.integer("SELECT count(*) FROM positions")


async def test_eight_processes_write_two_hundred_transactions_each_and_none_fails(store: Store, db: Path) -> None:
    writers = [{"name": f"w{n}", "serves": n >= 2, "many": 200} for n in range(8)]
    await asyncio.to_thread(race, WRITE_MANY, db, writers)
    seen = await store.read(Tx.column, "SELECT CAST(last_seen AS INTEGER) FROM positions ORDER BY 1")
    assert seen == list(range(1600)), "each transaction saw all those before it"


def test_processes_that_open_a_new_file_at_the_same_moment_all_get_it(db: Path) -> None:
    race(OPEN_NEW, db, [f"p{n}" for n in range(4)])

    async def look() -> int:
        store = await open_store(db, lambda: "n", serves=True)
        try:
            return await store.read(count_positions)
        finally:
            await store.close()

    assert asyncio.run(look()) == 4


async def test_the_other_process_sees_a_commit_at_its_next_read(store: Store, beside: Store) -> None:
    await beside.write(prompts.keep, 1, text="t", tools="[]", label="from the CLI")
    assert await store.read(Tx.value, "SELECT label FROM prompts") == "from the CLI"
    await store.write(prompts.keep, 1, text="u", tools="[]", label="from the service")
    assert await beside.read(Tx.integer, "SELECT count(*) FROM prompts") == 2


async def test_a_commit_of_another_connection_is_noticed_once_and_ones_own_never(store: Store, beside: Store) -> None:
    await store.changed_elsewhere()
    assert not await store.changed_elsewhere()
    await beside.write(prompts.keep, 1, text="t", tools="[]", label="")
    assert await store.changed_elsewhere()
    assert not await store.changed_elsewhere()
    await store.write(prompts.keep, 1, text="u", tools="[]", label="")
    await store.read(count_positions)
    assert not await store.changed_elsewhere()


async def test_close_writes_what_was_asked_for_before(db: Path, nonce: Callable[[], str]) -> None:
    store = await open_store(db, nonce, serves=True, create=True)
    put = "INSERT INTO positions (address, last_seen) VALUES (:address, '')"
    writes = [asyncio.create_task(store.write(Tx.run, put, address=str(n))) for n in range(2 * MOST_PER_COMMIT)]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*writes) == [1] * len(writes)
    again = await open_store(db, nonce, serves=True)
    assert await again.read(count_positions) == len(writes)
    await again.close()


async def test_close_reads_what_was_asked_for_before_and_leaves_nothing_open(
    db: Path, nonce: Callable[[], str]
) -> None:
    before = threading.enumerate()
    store = await open_store(db, nonce, serves=True, create=True)
    reads = [asyncio.create_task(store.read(count_positions)) for _ in range(3 * MOST_READERS)]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*reads) == [0] * len(reads)
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(timeout=20)
            assert not thread.is_alive(), "each connection has a thread, and it ends with it"


async def test_a_closed_store_says_so_and_opens_nothing_anew(db: Path, nonce: Callable[[], str]) -> None:
    store = await open_store(db, nonce, serves=True, create=True)
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.read(count_positions)
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.write(count_positions)
    await store.close()


@pytest.mark.parametrize("serves", ["true", "false"])
def test_the_interpreter_exits_once_the_store_is_closed(store: Store, db: Path, serves: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", USE_AND_CLOSE, str(db), serves], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")
