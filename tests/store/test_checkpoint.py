"""Checkpoints: only the service makes them, and none meets a commit of another process (the WAL-reset bug)."""

import sqlite3
from pathlib import Path

import pytest

from casestore import db as casestore_db
from casestore.connection import BUSY_TIMEOUT_MS
from casestore.db import Store
from casestore.errors import StoreUnavailable
from casestore.locks import FileLock
from casestore.tx import Tx
from tests.store.inside import on_writer

PUT = "INSERT INTO positions (address, last_seen) VALUES (:address, '')"


def wal_size(db: Path) -> int:
    return db.with_name(db.name + "-wal").stat().st_size


async def test_a_checkpoint_empties_the_wal_into_the_file(store: Store, db: Path) -> None:
    await store.write(Tx.run, PUT, address="memory:canary")
    assert wal_size(db) > 0
    assert b"memory:canary" not in db.read_bytes()
    assert await store.checkpoint()
    assert wal_size(db) == 0
    assert b"memory:canary" in db.read_bytes()


async def test_nothing_but_a_checkpoint_moves_the_wal(store: Store, db: Path) -> None:
    await store.checkpoint()
    before = db.read_bytes()
    for n in range(30):
        await store.write(Tx.run, PUT, address=f"memory:{n}/" + "x" * 200_000)
    assert wal_size(db) > 1_000 * 4_096, "more than where SQLite would do it by itself"
    assert db.read_bytes() == before


async def test_a_checkpoint_says_no_while_a_reader_holds_a_snapshot(store: Store, db: Path) -> None:
    reader = sqlite3.connect(db, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM positions").fetchone()
    await store.write(Tx.run, PUT, address="a")
    assert not await store.checkpoint()
    reader.close()
    assert await store.checkpoint()


async def test_a_checkpoint_says_no_while_another_process_writes(store: Store, db: Path) -> None:
    writing = FileLock(db)
    await store.write(Tx.run, PUT, address="a")
    with writing.held(0):
        assert not await store.checkpoint()
        assert wal_size(db) > 0
    assert await store.checkpoint()
    writing.close()


async def test_the_lock_is_free_again_after_a_checkpoint(store: Store, db: Path) -> None:
    await store.checkpoint()
    other = FileLock(db)
    with other.held(0):
        pass
    other.close()


async def test_a_checkpoint_holds_the_lock_while_it_runs(store: Store, db: Path) -> None:
    other, found_free = FileLock(db), list[bool]()

    def somebody_else_tries(statement: str) -> None:
        if "wal_checkpoint" in statement:
            try:
                with other.held(0):
                    found_free.append(True)
            except StoreUnavailable:
                found_free.append(False)

    await on_writer(store, lambda conn: conn.set_trace_callback(somebody_else_tries))
    assert await store.checkpoint()
    assert found_free == [False]
    other.close()


async def test_a_checkpoint_leaves_the_writer_patient(store: Store) -> None:
    await store.checkpoint()
    assert await store.write(Tx.value, "PRAGMA busy_timeout") == BUSY_TIMEOUT_MS


async def test_a_process_beside_the_service_holds_the_lock_around_its_write(beside: Store, db: Path) -> None:
    def somebody_else_tries(tx: Tx) -> None:
        other = FileLock(db)
        try:
            with other.held(0):
                raise AssertionError("the lock was free")
        finally:
            other.close()

    with pytest.raises(StoreUnavailable, match="held by another process"):
        await beside.write(somebody_else_tries)


async def test_a_process_beside_the_service_does_not_write_during_a_checkpoint(
    beside: Store, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(casestore_db, "LOCK_TIMEOUT_MS", 20)
    checkpointing = FileLock(db)
    with checkpointing.held(0):
        with pytest.raises(StoreUnavailable, match="Try again"):
            await beside.write(Tx.run, PUT, address="a")
        assert not beside.healthy
        assert await beside.read(Tx.integer, "SELECT count(*) FROM positions") == 0
    checkpointing.close()
    assert await beside.write(Tx.run, PUT, address="a") == 1
    assert beside.healthy


async def test_the_service_needs_no_lock_for_its_own_writes(store: Store, db: Path) -> None:
    other = FileLock(db)
    with other.held(0):
        assert await store.write(Tx.run, PUT, address="a") == 1
    other.close()
