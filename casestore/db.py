"""The store: one writer with group commit, a few readers, checkpoints, and nothing else that knows of threads."""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

from casestore.batch import Done, Job, Result, commit_together, translated
from casestore.connection import BUSY_TIMEOUT_MS, CHECKPOINT_BUSY_MS, Connection, connect
from casestore.errors import StoreError, StoreUnavailable
from casestore.locks import FileLock
from casestore.tx import Tx

P = ParamSpec("P")
T = TypeVar("T")

MOST_READERS = 4
MOST_PER_COMMIT = 64
"""Enough to share a commit; more would keep everybody, and other processes, waiting for the whole batch."""
LOCK_TIMEOUT_MS = 5_000
GIVE_WAY_MS = 50
"""How long a busy service holds back for another process that wants to write, which would else never get its turn."""


class Store:
    """Runs functions as transactions. Make one with `open_store`; close it, or the interpreter does not exit."""

    def __init__(
        self, path: Path, writer: Connection, lock: FileLock, nonce: Callable[[], str], *, serves: bool
    ) -> None:
        self.path = path
        self._writer = writer
        self._lock = lock
        self._nonce = nonce
        self._serves = serves
        opened = os.stat(path)
        self._identity = (opened.st_dev, opened.st_ino)
        self._pending: list[tuple[Job, asyncio.Future[object]]] = []
        self._drainer: asyncio.Task[None] | None = None
        self._free_to_read = asyncio.Semaphore(MOST_READERS)
        self._readers: list[Connection] = []
        self._reading: set[asyncio.Task[object]] = set()
        self._closed = False
        self._seen_version = 0
        self.healthy = True
        """Whether the last write could be stored; shown by `/readyz` (R15)."""

    async def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn(tx, …)` as a transaction; returns once it is durable.

        `fn` only touches `tx` and returns: it may be run twice, of which only one is kept. Cancelling the caller does
        not cancel it. Raises what `fn` raises, `StoreUnavailable` when nothing could be stored.
        """
        self._refuse_if_closed()
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._pending.append((_bound(fn, args, kwargs), future))
        if self._drainer is None or self._drainer.done():
            self._drainer = asyncio.create_task(self._drain())
        try:
            return cast("T", await asyncio.shield(future))
        except asyncio.CancelledError:
            future.add_done_callback(_observe)
            raise

    async def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn(tx, …)` on a read-only connection, as one snapshot."""
        self._refuse_if_closed()
        running = asyncio.create_task(self._read(_bound(fn, args, kwargs)))
        self._reading.add(running)
        running.add_done_callback(self._reading.discard)
        try:
            return cast("T", await asyncio.shield(running))
        except asyncio.CancelledError:
            running.add_done_callback(_observe)
            raise

    async def changed_elsewhere(self) -> bool:
        """Whether another connection has committed since the last time this was asked."""
        try:
            version = await self._writer.call(self._data_version)
        except sqlite3.Error as error:
            raise translated(error) from None
        changed, self._seen_version = version != self._seen_version, version
        return changed

    async def checkpoint(self) -> bool:
        """Move the WAL into the file and empty it; False where a reader or another process was in the way.

        Only the service does this, from the writer's connection, holding `<db>.lock` (design, "Checkpoints").
        """
        return await asyncio.shield(self._writer.call(self._checkpoint))

    async def close(self) -> None:
        """Finish what was asked for and close every connection; what is asked for afterwards is refused."""
        while self._drainer is not None and not self._drainer.done():
            await asyncio.shield(self._drainer)
        if self._closed:
            return
        self._closed = True
        if self._reading:
            await asyncio.wait(self._reading)
        for reader in self._readers:
            await reader.close()
        await self._writer.close()
        self._lock.close()

    async def _drain(self) -> None:
        while self._pending:
            batch, self._pending = self._pending[:MOST_PER_COMMIT], self._pending[MOST_PER_COMMIT:]
            try:
                results = await self._writer.call(self._commit, [job for job, _ in batch])
            except Exception as error:  # the lock of another process, a closed connection; everybody hears of it
                storage = isinstance(error, StoreError | ValueError | OSError | sqlite3.Error)
                self.healthy = self.healthy and not storage
                for _, future in batch:
                    future.set_exception(StoreUnavailable(str(error)) if storage else error)
                continue
            for (_, future), result in zip(batch, results, strict=True):
                if isinstance(result, Done):
                    self.healthy = True
                    future.set_result(result.value)
                else:
                    self.healthy = self.healthy and not isinstance(result.error, StoreUnavailable)
                    future.set_exception(result.error)

    def _refuse_if_replaced(self) -> None:
        """A file that was deleted or replaced under us still takes writes, which nobody would ever see."""
        try:
            now = os.stat(self.path)
        except OSError:
            raise StoreUnavailable(f"{self.path} is gone. Put it back, or restart.") from None
        if (now.st_dev, now.st_ino) != self._identity:
            raise StoreUnavailable(f"{self.path} is another file than the one that was opened. Restart.")

    def _commit(self, jobs: list[Job]) -> list[Result]:
        if self._serves:
            self._lock.give_way(GIVE_WAY_MS)
        self._refuse_if_replaced()
        with nullcontext() if self._serves else self._lock.held(LOCK_TIMEOUT_MS):
            return commit_together(self._writer.raw, self._nonce, jobs)

    async def _read(self, job: Job) -> object:
        """A task of its own, so that a caller who is cancelled leaves no connection half opened."""
        async with self._free_to_read:
            reader = self._readers.pop() if self._readers else await self._open_reader()
            try:
                return await reader.call(self._snapshot, reader, job)
            finally:
                self._readers.append(reader)

    async def _open_reader(self) -> Connection:
        try:
            return await connect(self.path, readonly=True)
        except sqlite3.Error as error:
            raise translated(error) from None

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed: this process is ending. Try again once it runs.")

    def _snapshot(self, connection: Connection, job: Job) -> object:
        raw = connection.raw
        try:
            raw.execute("BEGIN")
            try:
                return job(Tx(raw, self._nonce))
            finally:
                raw.execute("ROLLBACK")
        except (sqlite3.Error, StopIteration) as error:
            raise translated(error) from None

    def _data_version(self) -> int:
        return self._writer.raw.execute("PRAGMA data_version").fetchone()[0]

    def _checkpoint(self) -> bool:
        raw = self._writer.raw
        try:
            with self._lock.held(CHECKPOINT_BUSY_MS):
                raw.execute(f"PRAGMA busy_timeout = {CHECKPOINT_BUSY_MS}")
                busy = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                return busy == 0
        except (sqlite3.OperationalError, StoreUnavailable):
            return False
        finally:
            raw.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _bound(fn: Callable[Concatenate[Tx, P], T], args: tuple[object, ...], kwargs: dict[str, object]) -> Job:
    call = cast("Callable[..., object]", fn)
    return lambda tx: call(tx, *args, **kwargs)


def _observe(future: asyncio.Future[object]) -> None:
    """The caller is gone; take note of the exception so that the loop does not complain about it."""
    if not future.cancelled():
        future.exception()
