"""The file, its WAL, its folder or its locks are removed, replaced or held under a store that is open (R15)."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from casestore.db import Store
from casestore.errors import ConstraintBroken, ServiceRunning, StoreUnavailable
from casestore.locks import FileLock, ServiceLock
from casestore.migrate import open_store
from casestore.tx import Tx
from tests.store.inside import on_writer

PUT = "INSERT INTO positions (address, last_seen) VALUES (:address, '')"


async def put(store: Store, address: str) -> None:
    assert await store.write(Tx.run, PUT, address=address) == 1


async def refused(store: Store, address: str) -> str:
    """It is told that nothing could be stored, and health says so."""
    with pytest.raises(StoreUnavailable) as error:
        await put(store, address)
    assert not store.healthy
    return str(error.value)


def on_disk(db: Path) -> set[str]:
    """What somebody finds who opens a copy of what lies there, as after a kill."""
    copy = db.with_name("copy.db")
    for suffix in ("", "-wal"):
        there = db.with_name(db.name + suffix)
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)
        if there.exists():
            shutil.copy(there, copy.with_name(copy.name + suffix))
    conn = sqlite3.connect(copy)
    found = {str(address) for (address,) in conn.execute("SELECT address FROM positions")}
    assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    conn.close()
    return found


@pytest.mark.parametrize("taken", [["-wal"], ["-shm"], ["-wal", "-shm"]], ids="+".join)
@pytest.mark.parametrize("noticed_by", ["write", "group", "checkpoint", "watch"])
async def test_a_service_whose_wal_is_taken_away_saves_it_and_goes_on(
    store: Store, db: Path, taken: list[str], noticed_by: str
) -> None:
    await put(store, "before")
    await asyncio.gather(*(store.read(Tx.integer, "SELECT 1") for _ in range(8)))
    for suffix in taken:
        db.with_name(db.name + suffix).unlink()
    if noticed_by == "group":
        await asyncio.gather(*(put(store, f"g{n}") for n in range(3)))
    elif noticed_by == "checkpoint":
        assert await store.checkpoint()
    elif noticed_by == "watch":
        await store.changed_elsewhere()
    await put(store, "after")
    assert store.healthy
    grouped = {"g0", "g1", "g2"} if noticed_by == "group" else set[str]()
    assert on_disk(db) == {"before", "after", *grouped}
    assert set(await store.read(Tx.column, "SELECT address FROM positions")) == on_disk(db)


async def test_a_wal_taken_away_during_a_commit_makes_its_outcome_unknown(store: Store, db: Path) -> None:
    await put(store, "before")

    def take_away(tx: Tx) -> None:
        tx.run(PUT, address="during")
        db.with_name(db.name + "-wal").unlink()

    with pytest.raises(StoreUnavailable):
        await store.write(take_away)
    assert not store.healthy
    await put(store, "after")
    assert {"before", "after"} <= on_disk(db)


async def test_a_process_beside_the_service_leaves_the_saving_to_it(store: Store, beside: Store, db: Path) -> None:
    """Two that saved and began anew would each have a WAL of their own."""
    await put(store, "before")
    await beside.read(Tx.integer, "SELECT count(*) FROM positions")
    db.with_name(db.name + "-wal").unlink()
    assert "service" in await refused(beside, "x")
    await put(store, "after")
    assert on_disk(db) == {"before", "after"}


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
async def test_a_wal_that_is_replaced_is_not_written_past(store: Store, db: Path, suffix: str) -> None:
    await put(store, "before")
    there = db.with_name(db.name + suffix)
    there.rename(db.with_name("aside"))
    there.write_bytes(b"")
    assert "another file" in await refused(store, "x")
    db.with_name("aside").rename(there)
    await put(store, "after")
    assert on_disk(db) == {"before", "after"}


@pytest.mark.parametrize("what", ["file", "folder"])
async def test_a_file_that_is_gone_takes_no_write_until_it_is_back(
    tmp_path: Path, nonce: Callable[[], str], new_file: bytes, what: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    db = folder / "casebound.db"
    db.write_bytes(new_file)
    store = await open_store(db, nonce, serves=True)
    await put(store, "before")
    gone = db if what == "file" else folder
    aside = gone.rename(tmp_path / "aside")
    assert "gone" in await refused(store, "x")
    with pytest.raises(StoreUnavailable):
        await store.checkpoint()
    aside.rename(gone)
    await put(store, "after")
    assert store.healthy
    assert await store.checkpoint()
    assert on_disk(db) == {"before", "after"}
    await store.close()


async def test_a_file_that_was_replaced_takes_no_write(store: Store, db: Path, new_file: bytes) -> None:
    await put(store, "before")
    aside = db.rename(db.with_name("aside"))
    db.write_bytes(new_file)
    assert "another file" in await refused(store, "x")
    assert db.read_bytes() == new_file
    aside.replace(db)
    await put(store, "after")
    assert on_disk(db) == {"before", "after"}


async def test_a_lock_held_longer_than_one_waits_is_told_and_waited_for_no_longer_once_it_is_free(
    store: Store, db: Path
) -> None:
    await put(store, "before")
    await on_writer(store, lambda conn: conn.execute("PRAGMA busy_timeout = 50"))
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answers = await asyncio.gather(*(put(store, f"g{n}") for n in range(3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 3
    assert "locked" in str(answers[0])
    assert not store.healthy
    assert await store.read(Tx.column, "SELECT address FROM positions") == ["before"], "who reads need not wait"
    other.execute("ROLLBACK")
    other.close()
    await put(store, "after")
    assert store.healthy


@pytest.mark.parametrize("healthy", [True, False])
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO positions (address) VALUES (NULL)",
        "SELECT nonsense",
        "NOT EVEN SQL",
        "INSERT INTO nowhere VALUES (1)",
    ],
)
async def test_a_bug_is_never_taken_for_a_full_disk_nor_for_one_that_has_room_again(
    store: Store, db: Path, statement: str, healthy: bool
) -> None:
    """R15: validation and constraint errors are loud, and say nothing about the store."""
    await put(store, "before")
    if not healthy:
        aside = db.rename(db.with_name("aside"))
        await refused(store, "x")
        aside.rename(db)
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.run, statement)
    with pytest.raises(ConstraintBroken):
        await store.read(Tx.run, statement.replace("INSERT INTO positions", "INSERT INTO nowhere"))
    assert store.healthy == healthy


async def test_a_service_whose_lock_file_is_removed_takes_it_again_before_another_can(
    db: Path, nonce: Callable[[], str]
) -> None:
    lock = ServiceLock.take(db, "the first")
    store = await open_store(db, nonce, serves=True, create=True, service=lock)
    db.with_name(db.name + ".service").unlink()
    await put(store, "a")
    with pytest.raises(ServiceRunning, match="the first"):
        ServiceLock.take(db, "the second")
    await store.close()
    lock.release()


async def test_a_service_whose_lock_another_has_taken_writes_no_more(db: Path, nonce: Callable[[], str]) -> None:
    lock = ServiceLock.take(db, "the first")
    store = await open_store(db, nonce, serves=True, create=True, service=lock)
    path = db.with_name(db.name + ".service")
    aside = path.rename(db.with_name("aside"))
    second = ServiceLock.take(db, "the second")
    assert "the second" in await refused(store, "x")
    with pytest.raises(StoreUnavailable, match="the second"):
        await store.checkpoint()
    second.release()
    await put(store, "after")
    assert store.healthy, "the other has ended"
    aside.unlink()
    await store.close()
    lock.release()


async def test_the_file_lock_is_held_on_the_file_that_others_find(store: Store, beside: Store, db: Path) -> None:
    """Whoever removes `<db>.lock` must not make a checkpoint and a foreign commit meet."""
    os.unlink(db.with_name(db.name + ".lock"))
    other = FileLock(db)
    with other.held(0):
        assert not await store.checkpoint()
    await put(beside, "a")
    assert await store.checkpoint()
    other.close()
