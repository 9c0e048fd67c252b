"""Ways in which the file of a running service stops taking writes, for real, and takes them again afterwards."""

import os
import resource
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

from casestore.db import Store
from tests.store.inside import on_writer


@contextmanager
def no_file_beyond(size: int) -> Generator[None]:
    """The operating system lets no file grow beyond `size` bytes, as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


Breakage = Callable[[Store], AbstractAsyncContextManager[None]]
_SOON_MS = 20


@asynccontextmanager
async def full(store: Store) -> AsyncGenerator[None]:
    """The disk is full for the database: its log cannot grow. Small files beside it still can."""
    wal = store.path.with_name(f"{store.path.name}-wal")
    with no_file_beyond(wal.stat().st_size):
        yield


@asynccontextmanager
async def full_for_all(store: Store) -> AsyncGenerator[None]:
    """The disk is full for every file."""
    with no_file_beyond(0):
        yield


@asynccontextmanager
async def read_only(store: Store) -> AsyncGenerator[None]:
    """The database has become read-only."""
    await on_writer(store, lambda raw: raw.execute("PRAGMA query_only = ON"))
    yield
    await on_writer(store, lambda raw: raw.execute("PRAGMA query_only = OFF"))


@asynccontextmanager
async def locked(store: Store) -> AsyncGenerator[None]:
    """Another program holds the write lock for longer than we wait."""
    await on_writer(store, lambda raw: raw.execute(f"PRAGMA busy_timeout = {_SOON_MS}"))
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


@asynccontextmanager
async def gone(store: Store) -> AsyncGenerator[None]:
    """The file has been moved away."""
    away = store.path.with_name("away")
    os.rename(store.path, away)
    yield
    os.rename(away, store.path)


WAYS: dict[str, Breakage] = {
    "full": full, "full for all": full_for_all, "read-only": read_only, "locked": locked, "gone": gone
}  # fmt: skip


def spool_of(db: Path) -> Path:
    """The file the spool is kept in."""
    return db.with_name(f"{db.name}.spool")
