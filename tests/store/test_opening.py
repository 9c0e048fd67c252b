"""Opening a file: ours and nobody else's, private to its owner, and one clear sentence where it cannot be."""

import os
import re
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from casestore import migrate
from casestore.db import Store
from casestore.errors import StoreUnusable
from casestore.migrate import APPLICATION_ID, open_store

NOBODY = 65534


def make(path: Path, *statements: str) -> bytes:
    """A database that something else made; its bytes."""
    conn = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        conn.execute(statement)
    conn.close()
    return path.read_bytes()


async def refused(path: Path, *, create: bool = True) -> str:
    """The one sentence with which a file is refused."""
    with pytest.raises(StoreUnusable) as error:
        await open_store(path, lambda: "n", serves=True, create=create)
    said = str(error.value)
    assert "\n" not in said
    assert str(path) in said, "it names the file"
    assert re.search(r"--db|rights|newer|migrate", said), "it says what to do"
    return said


async def test_the_database_of_another_program_is_refused_and_not_touched(db: Path) -> None:
    for statements in (["CREATE TABLE t (x)"], ["PRAGMA application_id = 7"], ["PRAGMA user_version = 1"]):
        before = make(db, *statements)
        assert "another program" in await refused(db)
        assert db.read_bytes() == before
        assert [entry.name for entry in db.parent.iterdir()] == [db.name], "nothing was put beside it"
        db.unlink()


async def test_a_file_of_a_newer_version_is_refused_and_not_touched(db: Path) -> None:
    before = make(db, f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 9999")
    said = await refused(db)
    assert "9999" in said
    assert "newer casebound" in said
    assert db.read_bytes() == before


@pytest.mark.parametrize("content", [b"x", b"SQLite format 2\x00" * 100, b"\x00" * 4096, "ünïcode".encode("utf-16")])
async def test_a_file_that_is_no_database_is_refused_and_not_touched(db: Path, content: bytes) -> None:
    db.write_bytes(content)
    assert "not a database" in await refused(db)
    assert db.read_bytes() == content


async def test_a_file_that_only_begins_like_a_database_is_refused(db: Path) -> None:
    db.write_bytes(b"SQLite format 3\x00" + os.urandom(8192))
    await refused(db)


async def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in await refused(tmp_path)


async def test_a_missing_file_is_only_made_where_that_was_asked(db: Path) -> None:
    assert "There is no database" in await refused(db, create=False)
    assert not db.exists()


async def test_an_empty_file_becomes_a_store(db: Path, nonce: Callable[[], str]) -> None:
    db.touch()
    store = await open_store(db, nonce, serves=True, create=True)
    await store.close()
    assert migrate.version_of(db) == migrate.newest()


async def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    await refused(tmp_path / "no" / "such" / "folder" / "casebound.db")


@pytest.fixture
def read_only(tmp_path: Path) -> Generator[Path]:
    """A folder that the one who runs the test may read and not write, with a store in it; root steps down for that."""
    folder = Path(tempfile.mkdtemp())
    migrate.migrate(folder / "there.db")
    for entry in folder.iterdir():
        entry.chmod(0o444)
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


async def test_a_new_file_in_a_folder_one_may_not_write_to_is_refused(read_only: Path) -> None:
    await refused(read_only / "new.db")


async def test_a_store_in_a_folder_one_may_not_write_to_is_refused(read_only: Path) -> None:
    await refused(read_only / "there.db")


async def test_a_file_one_may_not_read_is_refused(read_only: Path) -> None:
    if os.getuid() == 0:
        os.seteuid(0)
    (read_only / "there.db").chmod(0o000)
    if os.getuid() == 0:
        os.seteuid(NOBODY)
    assert "Permission denied" in await refused(read_only / "there.db")


async def test_the_file_and_all_beside_it_are_private_whatever_the_umask(db: Path, nonce: Callable[[], str]) -> None:
    before = os.umask(0)
    try:
        store = await open_store(db, nonce, serves=True, create=True)
        await store.write(lambda tx: tx.run("INSERT INTO positions VALUES ('a', 'b')"))
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in db.parent.iterdir()}
        await store.close()
    finally:
        os.umask(before)
    assert modes == {f"{db.name}{suffix}": 0o600 for suffix in ("", "-wal", "-shm", ".lock")}


async def test_a_store_opened_again_has_what_was_written(store: Store, db: Path, nonce: Callable[[], str]) -> None:
    await store.write(lambda tx: tx.run("INSERT INTO positions VALUES ('a', 'b')"))
    await store.close()
    again = await open_store(db, nonce, serves=True, create=True)
    assert await again.read(lambda tx: tx.value("SELECT last_seen FROM positions")) == "b"
    await again.close()
