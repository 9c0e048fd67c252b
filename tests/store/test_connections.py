"""How each connection is set: what is acknowledged survives a power cut, and readers cannot write."""

import asyncio
import resource
import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from casestore.connection import BUSY_TIMEOUT_MS, Connection, connect
from casestore.db import MOST_READERS, Store
from casestore.errors import ConstraintBroken, StoreUnavailable
from casestore.models import Row
from casestore.tx import Tx
from tests.store.inside import on_writer

BOTH = {
    "journal_mode": "wal",
    "foreign_keys": 1,
    "wal_autocheckpoint": 0,
    "busy_timeout": BUSY_TIMEOUT_MS,
    "recursive_triggers": 1,
    "trusted_schema": 0,
}
WRITER = {**BOTH, "synchronous": 2, "secure_delete": 1, "query_only": 0}
READER = {**BOTH, "query_only": 1}


class Number(Row):
    n: int


def values(tx: Tx, pragmas: Iterable[str]) -> dict[str, object]:
    return {pragma: tx.value(f"PRAGMA {pragma}") for pragma in pragmas}


async def test_the_writer_has_our_pragmas(store: Store) -> None:
    assert await store.write(values, WRITER) == WRITER


async def test_every_reader_has_our_pragmas(store: Store) -> None:
    read = await asyncio.gather(*(store.read(values, READER) for _ in range(MOST_READERS)))
    assert read == [READER] * MOST_READERS


@pytest.mark.parametrize(
    "statement", ["INSERT INTO positions VALUES ('a', 'b')", "DELETE FROM positions", "CREATE TABLE t (x)"]
)
async def test_a_reader_refuses_to_write(store: Store, statement: str) -> None:
    with pytest.raises(StoreUnavailable, match="readonly"):
        await store.read(Tx.run, statement)


async def test_a_reader_cannot_be_talked_into_writing(store: Store) -> None:
    def try_hard(tx: Tx) -> None:
        tx.run("PRAGMA query_only = OFF")
        tx.run("INSERT INTO positions VALUES ('a', 'b')")

    with pytest.raises(StoreUnavailable, match="readonly"):
        await store.read(try_hard)


async def test_many_who_read_at_once_share_a_few_connections(store: Store) -> None:
    seen: set[int] = set()
    await asyncio.gather(*(store.read(lambda tx: seen.add(id(tx._conn))) for _ in range(50)))  # pyright: ignore[reportPrivateUsage]
    assert 1 <= len(seen) <= MOST_READERS


async def test_a_read_is_one_snapshot_whatever_is_written_meanwhile(store: Store, db: Path) -> None:
    def count_twice(tx: Tx) -> tuple[int, int]:
        before = tx.integer("SELECT count(*) FROM positions")
        other = sqlite3.connect(db, isolation_level=None)
        other.execute("INSERT INTO positions VALUES ('a', 'b')")
        other.close()
        return before, tx.integer("SELECT count(*) FROM positions")

    assert await store.read(count_twice) == (0, 0)
    assert await store.read(Tx.integer, "SELECT count(*) FROM positions") == 1


async def test_a_read_that_raises_leaves_its_connection_usable(store: Store) -> None:
    for _ in range(MOST_READERS + 1):
        with pytest.raises(ConstraintBroken):
            await store.read(Tx.value, "SELECT nonsense")
    assert await store.read(Tx.value, "SELECT 1") == 1


async def test_foreign_keys_are_kept(store: Store) -> None:
    with pytest.raises(ConstraintBroken, match="FOREIGN KEY"):
        await store.write(Tx.run, "INSERT INTO leases (case_id, fence) VALUES (99, 0)")


async def test_a_column_of_the_wrong_type_is_refused(store: Store) -> None:
    with pytest.raises(ConstraintBroken, match="cannot store TEXT"):
        await store.write(Tx.run, "INSERT INTO prompts VALUES ('v', 'l', 't', '[]', 'yesterday')")


async def test_a_column_the_code_does_not_know_is_loud(store: Store) -> None:
    with pytest.raises(ValueError, match="surprise"):
        await store.read(Tx.all, Number, "SELECT 1 AS n, 2 AS surprise")


async def test_what_was_deleted_is_overwritten_in_the_file(store: Store, db: Path) -> None:
    canary = "canary-8f1c" * 3
    await store.write(Tx.run, "INSERT INTO positions VALUES ('a', :text)", text=canary)
    assert await store.checkpoint()
    assert canary.encode() in db.read_bytes()
    await store.write(Tx.run, "DELETE FROM positions")
    assert await store.checkpoint()
    assert canary.encode() not in db.read_bytes()


async def test_a_transaction_of_the_writer_is_never_left_open(store: Store) -> None:
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.value, "SELECT nonsense")
    assert not await on_writer(store, lambda conn: conn.in_transaction)


async def test_a_file_that_cannot_be_opened_leaves_nothing_that_speaks_to_a_loop_that_is_gone(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left of a connection that was not made has ended before anybody hears that it was not."""
    held, stop, stopping = threading.Event(), Connection.stop, asyncio.Event()

    def stop_later(connection: Connection) -> asyncio.Future[object] | None:
        stopping.set()
        connection._tx.put_nowait((None, held.wait))  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        return stop(connection)

    monkeypatch.setattr(Connection, "stop", stop_later)
    opening = asyncio.create_task(connect(db.with_name("nothing.db"), readonly=True))
    await stopping.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    ended_before_it = opening.done()
    held.set()
    assert not ended_before_it
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        await opening


async def test_what_could_not_be_read_is_read_again_by_health_until_it_can_be(store: Store) -> None:
    """R15: another read that succeeds says nothing about it. Here the process has no file left to open it with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(StoreUnavailable, match="Try again"):
            await store.read(Tx.integer, "SELECT 1")
        await store.write(Tx.integer, "SELECT 1")
        with pytest.raises(StoreUnavailable, match="Try again"):
            await store.refuse_if_unreadable()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    await store.refuse_if_unreadable()
