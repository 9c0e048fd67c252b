"""One SQLite connection on a thread of its own, and what every connection of ours is set to."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import aiosqlite

P = ParamSpec("P")
T = TypeVar("T")

BUSY_TIMEOUT_MS = 5_000
CHECKPOINT_BUSY_MS = 200


class Connection(aiosqlite.Connection):
    """aiosqlite's connection, of which we use one protected method in one place: run a function on its thread."""

    _stopped: asyncio.Future[object] | None = None

    async def call(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn` on the connection's thread. Once queued it runs to its end, whatever becomes of the caller."""
        return await self._execute(fn, *args, **kwargs)  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection itself; only for functions that run on its thread."""
        return self._conn

    def stop(self) -> asyncio.Future[object] | None:
        """End the thread; aiosqlite does so by itself where the file could not be opened, and waits for nothing."""
        self._stopped = super().stop()  # pyright: ignore[reportUnknownMemberType]
        return self._stopped

    async def stopped(self) -> None:
        """Wait until the thread has nothing more to tell; it would tell it to a loop that is closed by then."""
        if self._stopped is not None:
            await self._stopped

    def reopen(self) -> None:
        """Close it and open it again; runs on its thread. Where that fails it stays closed until the next time."""
        self._conn.close()
        self._connection = self._connector()


async def connect(path: Path, *, readonly: bool, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> Connection:
    """Open the file with our pragmas (design, "Pragmas"). `wal_autocheckpoint=0` on every connection."""
    uri = path.absolute().as_uri() + ("?mode=ro" if readonly else "?mode=rw")  # noqa: ASYNC240 - no I/O

    def connector() -> sqlite3.Connection:
        raw = sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=True, cached_statements=512,
            timeout=busy_timeout_ms / 1000,
        )  # fmt: skip
        try:
            _configure(raw, readonly=readonly, busy_timeout_ms=busy_timeout_ms)
        except BaseException:
            raw.close()
            raise
        return raw

    connection = Connection(connector, 64)
    return await asyncio.shield(_opened(connection))


async def _opened(connection: Connection) -> Connection:
    try:
        return await connection  # pyright: ignore[reportReturnType]
    except BaseException:
        await connection.stopped()
        raise


def _configure(raw: sqlite3.Connection, *, readonly: bool, busy_timeout_ms: int) -> None:
    raw.execute(f"PRAGMA busy_timeout = {busy_timeout_ms}")
    raw.execute("PRAGMA wal_autocheckpoint = 0")
    raw.execute("PRAGMA foreign_keys = ON")
    raw.execute("PRAGMA recursive_triggers = ON")
    raw.execute("PRAGMA trusted_schema = OFF")
    if readonly:
        raw.execute("PRAGMA query_only = ON")
        return
    mode = raw.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode[0] != "wal":
        raise sqlite3.OperationalError(f"journal mode is {mode[0]}, not WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("PRAGMA secure_delete = ON")
