"""The file's version: migrations up and down, all that are needed in one transaction, and opening a store.

Migrations are pairs `NNNN_verb_object.{up,down}.sql`, frozen once shipped.
"""

import asyncio
import os
import re
import sqlite3
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from casestore.connection import connect
from casestore.db import LOCK_TIMEOUT_MS, Store
from casestore.errors import StoreUnavailable, StoreUnusable
from casestore.locks import FileLock, ServiceLock, beside
from casestore.remedy import remedy

APPLICATION_ID = 0x43424E44
_HEADER = b"SQLite format 3\x00"
_NAME = re.compile(r"(\d{4})_(\w+)\.up\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema, both ways."""

    version: int
    name: str
    up: str
    down: str


def migrations() -> tuple[Migration, ...]:
    """All that this version knows, in order."""
    folder = resources.files("casestore") / "migrations"
    found: list[Migration] = []
    for entry in folder.iterdir():
        if match := _NAME.fullmatch(entry.name):
            stem = entry.name.removesuffix(".up.sql")
            down = (folder / f"{stem}.down.sql").read_text()
            found.append(Migration(int(match[1]), match[2], entry.read_text(), down))
    return tuple(sorted(found, key=lambda migration: migration.version))


def newest() -> int:
    """The version this code works with."""
    return migrations()[-1].version


def version_of(path: Path) -> int:
    """The version of a file, 0 for one that does not exist or is empty. Raises `StoreUnusable`."""
    _check_header(path)
    if not path.exists() or path.stat().st_size == 0:
        return 0
    if beside(path, "-journal").exists():
        _roll_back(path)
    with _plain(path, readonly=True) as conn:  # it may be another program's: leave it as it is
        application_id, version = _identity(conn)
        if application_id != APPLICATION_ID and not (application_id == 0 and version == 0 and _is_empty(conn)):
            raise StoreUnusable(f"{path} is a database of another program. Choose another file with --db.")
        if version > newest():
            raise StoreUnusable(
                f"{path} has version {version}; this casebound knows up to {newest()}. Install a newer casebound."
            )
        return version


def migrate(path: Path, to: int | None = None) -> tuple[int, int]:
    """Bring a file to a version (default: the newest), creating it with mode 0600; (before, after)."""
    target = newest() if to is None else to
    if not 0 <= target <= newest():
        raise StoreUnusable(f"There is no version {target}; this casebound knows 0 to {newest()}.")
    before = version_of(path)
    _create(path)
    lock = FileLock(path)
    try:
        with lock.held(LOCK_TIMEOUT_MS), _plain(path) as conn:
            _apply(conn, path, _between(_identity(conn)[1], target), target)  # which version, once more under the lock
    finally:
        lock.close()
    return before, target


async def open_store(
    path: Path, nonce: Callable[[], str], *, serves: bool, create: bool = False, service: ServiceLock | None = None
) -> Store:
    """Open a file. `serves`: this process holds the service lock, so its writes need no file lock.

    With `service` given, it writes only while it still does. A service begins by moving into the file what its
    predecessor left in the WAL: part of that may be in the system's memory alone, where a sync had failed, and nobody
    may be told "done" of what is built on it. Raises `StoreUnavailable` where that cannot be done now.

    Raises `StoreUnusable` where the file is missing (and not `create`), foreign, newer, or older than this code.
    """
    if not create and not path.exists():  # noqa: ASYNC240 - once, at start
        raise StoreUnusable(f"There is no database at {path}. Start `casebound up` there first, or name one with --db.")
    version = version_of(path)
    if version == 0 and create:
        migrate(path)
    elif version != newest():
        raise StoreUnusable(
            f"{path} has version {version}, this casebound needs {newest()}. Back it up, then: casebound db migrate"
        )
    try:
        writer = await connect(path, readonly=False)
    except sqlite3.Error as error:
        raise StoreUnusable(f"Cannot open {path} for writing ({error}). {remedy(error)}") from None
    lock = None
    try:
        lock = FileLock(path)
        store = Store(path, writer, lock, nonce, serves=serves, service=service)
        if serves:
            await store.checkpoint()
    except BaseException:
        await asyncio.shield(writer.close())
        if lock is not None:
            lock.close()
        raise
    return store


def _between(version: int, target: int) -> list[str]:
    """The scripts that lead from one version to another, in their order."""
    if target > version:
        return [step.up for step in migrations() if version < step.version <= target]
    return [step.down for step in reversed(migrations()) if target < step.version <= version]


def _apply(conn: sqlite3.Connection, path: Path, scripts: Sequence[str], version: int) -> None:
    """All of them in one transaction: a first start that is cut off leaves no file of an old version behind."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        for statement in (one for sql in scripts for one in statements(sql)):
            conn.execute(statement)
        conn.execute(f"PRAGMA user_version = {version}")
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute("COMMIT")
    except sqlite3.Error as error:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise StoreUnavailable(
            f"Migration of {path} to version {version} failed, nothing was changed: {error}. {remedy(error)}"
        ) from None


def statements(sql: str) -> Iterator[str]:
    """The statements of a script, one by one, so that they can run inside a transaction of ours."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _check_header(path: Path) -> None:
    try:
        if path.is_dir():
            raise StoreUnusable(f"{path} is a folder. Name a file with --db.")
        if path.exists() and path.stat().st_size > 0:
            with path.open("rb") as file:
                if file.read(16) != _HEADER:
                    raise StoreUnusable(f"{path} is not a database. Choose another file with --db.")
    except OSError as error:
        raise StoreUnusable(f"Cannot read {path} ({error.strerror}). Check the file's rights.") from None


def _create(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreUnusable(f"Cannot write {path} ({error.strerror}). {remedy(error)}") from None


def _roll_back(path: Path) -> None:
    """End a change that was cut off, such as a first start on a full disk; whoever only reads may not do that."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=5)) as conn:
            _is_empty(conn)
    except sqlite3.DatabaseError as error:
        raise StoreUnusable(f"Cannot use {path} as a database ({error}). {remedy(error)}") from None


@contextmanager
def _plain(path: Path, *, readonly: bool = False) -> Generator[sqlite3.Connection]:
    """A short-lived connection without foreign keys, as migrations need it."""
    uri = path.absolute().as_uri() + ("?mode=ro" if readonly else "?mode=rw")
    try:
        conn = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5)
        try:
            conn.execute("PRAGMA wal_autocheckpoint = 0")
            if not readonly:
                conn.execute("PRAGMA journal_mode = WAL")
                conn.execute("PRAGMA foreign_keys = OFF")
            yield conn
        finally:
            conn.close()
    except sqlite3.DatabaseError as error:
        raise StoreUnusable(f"Cannot use {path} as a database ({error}). {remedy(error)}") from None


def _identity(conn: sqlite3.Connection) -> tuple[int, int]:
    return conn.execute("PRAGMA application_id").fetchone()[0], conn.execute("PRAGMA user_version").fetchone()[0]


def _is_empty(conn: sqlite3.Connection) -> bool:
    return conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
