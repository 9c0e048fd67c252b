"""The one place where tests reach behind a store's public face: to its writer's own connection."""

import sqlite3
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from casestore.db import Store
from casestore.tx import Tx

P = ParamSpec("P")
T = TypeVar("T")


async def on_writer(store: Store, fn: Callable[[sqlite3.Connection], T]) -> T:
    """Run `fn` with the writer's connection, on its thread."""
    writer = store._writer  # pyright: ignore[reportPrivateUsage]
    return await writer.call(lambda: fn(writer.raw))


async def watch(store: Store) -> list[str]:
    """Every statement that the writer runs from now on, in order."""
    seen: list[str] = []
    await on_writer(store, lambda conn: conn.set_trace_callback(seen.append))
    return seen


async def leave_pages(store: Store, free: int) -> None:
    """Let the file grow by at most this many pages: the disk is full then (SQLITE_FULL)."""

    def limit(conn: sqlite3.Connection) -> None:
        pages = conn.execute("PRAGMA page_count").fetchone()[0]
        conn.execute(f"PRAGMA max_page_count = {pages + free}")

    await on_writer(store, limit)


async def effort(store: Store, fn: Callable[Concatenate[Tx, P], object], *args: P.args, **kwargs: P.kwargs) -> int:
    """How many instructions of SQLite's machine it costs: a measure that no busy computer changes."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    def measured(tx: Tx) -> None:
        conn = tx._conn  # pyright: ignore[reportPrivateUsage]
        tx.value("SELECT 1 FROM cases")  # a connection reads the schema with its first statement
        conn.set_progress_handler(count, 1)
        try:
            fn(tx, *args, **kwargs)
        finally:
            conn.set_progress_handler(None, 0)

    await store.write(measured)  # on the writer's connection, so that it may be a change
    return counted
