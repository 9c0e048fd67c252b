"""The store: one writer with group commit, a few readers, checkpoints, and nothing else that knows of threads."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

from casestore.batch import Done, Job, Result, commit_together, translated
from casestore.connection import BUSY_TIMEOUT_MS, CHECKPOINT_BUSY_MS, Connection, connect
from casestore.errors import CompanionGone, StoreDamaged, StoreError, StoreUnavailable
from casestore.files import OpenFiles
from casestore.locks import FileLock, ServiceLock
from casestore.remedy import primary
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
        self, path: Path, writer: Connection, lock: FileLock, nonce: Callable[[], str], *, serves: bool,
        service: ServiceLock | None = None,
    ) -> None:  # fmt: skip
        self.path = path
        self._writer = writer
        self._lock = lock
        self._nonce = nonce
        self._serves = serves
        self._service = service
        self._files = OpenFiles(path)
        self._saved = False
        self._opening_anew = asyncio.Lock()
        self._pending: list[tuple[Job, asyncio.Future[object]]] = []
        self._drainer: asyncio.Task[None] | None = None
        self._free_to_read = asyncio.Semaphore(MOST_READERS)
        self._readers: list[Connection] = []
        self._reading: set[asyncio.Task[object]] = set()
        self._closed = False
        self._seen_version = 0
        self._unread: Job | None = None
        self._damage: StoreDamaged | None = None
        self.healthy = True
        """Whether the last write could be stored, and no damage was ever found; shown by `/readyz` (R15)."""

    async def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn(tx, …)` as a transaction; returns once it is durable.

        `fn` only touches `tx` and returns: it may be run twice, of which only one is kept. Cancelling the caller does
        not cancel it. Raises what `fn` raises, `StoreUnavailable` when it could not be made durable.
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

    async def refuse_if_unreadable(self) -> None:
        """Read once more what could not be read last. Raises `StoreUnavailable` while that still cannot be.

        Damage that was found stays: what is put in its place is another file, which takes a restart.
        """
        if self._damage is not None:
            raise StoreDamaged(str(self._damage))
        if self._unread is not None:
            await self._read(self._unread)

    async def changed_elsewhere(self) -> bool:
        """Whether another connection has committed since the last time this was asked."""
        try:
            version = await self._on_writer(self._data_version)
        except CompanionGone:
            await self._open_anew()
            version = await self._on_writer(self._data_version)
        changed, self._seen_version = version != self._seen_version, version
        return changed

    async def checkpoint(self) -> bool:
        """Move the WAL into the file and empty it; False where a reader or another process was in the way.

        Only the service does this, from the writer's connection, holding `<db>.lock` (design, "Checkpoints"). Raises
        `StoreUnavailable` where the file could not be written: the WAL keeps everything, and grows.
        """
        try:
            return await self._on_writer(self._checkpoint)
        except CompanionGone:
            await self._open_anew()
            return await self._on_writer(self._checkpoint)

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
                results = await self._committed([job for job, _ in batch])
            except Exception as error:  # the lock of another process, a closed connection; everybody hears of it
                storage = isinstance(error, StoreError | ValueError | OSError | sqlite3.Error)
                self.healthy = self.healthy and not storage
                for _, future in batch:
                    future.set_exception(StoreUnavailable(str(error)) if storage else error)
                continue
            for (_, future), result in zip(batch, results, strict=True):
                if isinstance(result, Done):
                    self.healthy = self._damage is None
                    future.set_result(result.value)
                else:
                    self.healthy = self.healthy and not isinstance(result.error, StoreUnavailable)
                    self._note_damage(result.error)
                    future.set_exception(result.error)

    async def _committed(self, jobs: list[Job]) -> list[Result]:
        try:
            return await self._writer.call(self._commit, jobs)
        except CompanionGone:
            await self._open_anew()
        return await self._writer.call(self._commit, jobs)

    def _commit(self, jobs: list[Job]) -> list[Result]:
        self._refuse_if_not_ours()
        if self._serves:
            self._lock.give_way(GIVE_WAY_MS)
        with nullcontext() if self._serves else self._lock.held(LOCK_TIMEOUT_MS):
            self._files.refuse_if_replaced()  # once more: it may have waited
            results = commit_together(self._writer.raw, self._nonce, jobs)
        try:
            self._files.refuse_if_replaced()
        except StoreUnavailable as error:  # not as `CompanionGone`, after which they would be run again
            raise StoreUnavailable(str(error)) from None
        return results

    def _refuse_if_not_ours(self) -> None:
        if self._service is not None:
            self._service.hold_on()
        self._files.refuse_if_replaced()

    async def _open_anew(self) -> None:
        """After the WAL was taken away: save what is in it, and begin with a new one.

        The connections that have it open are the last that can read it; all of them have to go before one can make
        another, because they share what they know about it. Only the service may: two that did it would meet.
        """
        if not self._serves:
            raise StoreUnavailable(
                f"The WAL of {self.path} was taken away; the service saves what is in it. Try again."
            )
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._opening_anew)
            for _ in range(MOST_READERS):
                await stack.enter_async_context(self._free_to_read)
            while self._readers:
                await self._readers.pop().close()
            await self._on_writer(self._begin_anew)

    def _begin_anew(self) -> None:
        try:
            self._files.refuse_if_replaced()
        except CompanionGone:
            self._saved = self._saved or self._save_wal()
            if not self._saved:
                raise StoreUnavailable(
                    f"The WAL of {self.path} was taken away, and another process is in the way of saving it. Try again."
                ) from None
            self._writer.reopen()
            self._files = OpenFiles(self.path)
            self._saved = False

    async def _read(self, job: Job) -> object:
        """A task of its own, so that a caller who is cancelled leaves no connection half opened."""
        async with self._free_to_read:
            try:
                reader = self._readers.pop() if self._readers else await self._open_reader()
                try:
                    value = await reader.call(self._snapshot, reader, job)
                finally:
                    self._readers.append(reader)
            except StoreUnavailable as error:
                self._unread = job
                self._note_damage(error)
                raise
            if self._unread is job:
                self._unread = None
            return value

    def _note_damage(self, error: BaseException) -> None:
        if isinstance(error, StoreDamaged):
            self._damage, self.healthy = error, False

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

    async def _on_writer(self, fn: Callable[[], T]) -> T:
        try:
            return await asyncio.shield(self._writer.call(fn))
        except sqlite3.ProgrammingError as error:  # it was closed, and could not be opened anew
            raise StoreUnavailable(f"The store cannot answer now ({error}). Try again.") from None
        except sqlite3.Error as error:
            raise translated(error) from None

    def _data_version(self) -> int:
        self._files.refuse_if_taken_apart()
        return self._writer.raw.execute("PRAGMA data_version").fetchone()[0]

    def _checkpoint(self) -> bool:
        self._refuse_if_not_ours()
        return self._save_wal()

    def _save_wal(self) -> bool:
        raw = self._writer.raw
        try:
            with self._lock.held(CHECKPOINT_BUSY_MS):
                raw.execute(f"PRAGMA busy_timeout = {CHECKPOINT_BUSY_MS}")
                busy = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                return busy == 0
        except StoreUnavailable:
            return False
        except sqlite3.OperationalError as error:
            if primary(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return False
            raise
        finally:
            raw.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _bound(fn: Callable[Concatenate[Tx, P], T], args: tuple[object, ...], kwargs: dict[str, object]) -> Job:
    call = cast("Callable[..., object]", fn)
    return lambda tx: call(tx, *args, **kwargs)


def _observe(future: asyncio.Future[object]) -> None:
    """The caller is gone; take note of the exception so that the loop does not complain about it."""
    if not future.cancelled():
        future.exception()
