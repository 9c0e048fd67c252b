"""The two operating-system locks beside the file; the system lets go of them when a process dies.

`<db>.service`  held by the one process that runs the engine, naming itself inside.
`<db>.lock`     held around a checkpoint by the service, and around each write by any other process, so that a
                checkpoint and a foreign commit never meet (the WAL-reset bug of SQLite before 3.51.3).
"""

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from casestore.errors import ServiceRunning, StoreError, StoreUnavailable, StoreUnusable
from casestore.remedy import remedy

Identity = tuple[int, int]

_POLL_SECONDS = 0.005
_LOOK_SECONDS = 1.0
"""How long others may look who serves a file before one who wants to serve it gives up."""


def beside(db: Path, suffix: str) -> Path:
    """The path of a file that lies beside the database."""
    return db.with_name(db.name + suffix)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _cannot_write(path, error) from None


def _cannot_write(path: Path, error: OSError) -> StoreUnusable:
    return StoreUnusable(f"Cannot write {path} ({error.strerror}). {remedy(error)}")


def identity(file: Path | int) -> Identity | None:
    """What tells a file, or an open one, from another that takes its path; None where there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class ServiceLock:
    """The right to be the one service on a file, for as long as the process lives."""

    def __init__(self, db: Path, name: str, fd: int) -> None:
        self._db = db
        self._name = name
        self._fd = fd

    @classmethod
    def take(cls, db: Path, name: str) -> "ServiceLock":
        """Take it, writing `name` into the file. Raises `ServiceRunning` naming the holder."""
        return cls(db, name, _take(db, name))

    def hold_on(self) -> None:
        """Make sure of it: where somebody removed the file, take the new one, before another service does.

        Raises `StoreUnavailable` where another service was quicker: it has the file now, and this one may not write.
        """
        if _lies_at(self._fd, beside(self._db, ".service")):
            return
        try:
            fd = _take(self._db, self._name)
        except StoreError as error:
            raise StoreUnavailable(f"The lock of this service was removed. {error}") from None
        os.close(self._fd)
        self._fd = fd

    def release(self) -> None:
        """Let go; also done by the system when the process ends."""
        os.ftruncate(self._fd, 0)
        os.close(self._fd)


def service_holder(db: Path) -> str | None:
    """Who serves the file now, or None; never waits."""
    path = beside(db, ".service")
    if not path.exists():
        return None
    fd = _open(path)
    try:
        return None if _flock(fd, fcntl.LOCK_SH) else _holder(fd)
    finally:
        os.close(fd)


def _take(db: Path, name: str) -> int:
    path, give_up = beside(db, ".service"), time.monotonic() + _LOOK_SECONDS
    while True:
        fd = _open(path)
        try:
            if _flock(fd, fcntl.LOCK_EX):
                if _lies_at(fd, path):  # else it was removed between, and the next finds another
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, name.encode(), 0)
                    taken, fd = fd, -1
                    return taken
            elif not _flock(fd, fcntl.LOCK_SH) or time.monotonic() > give_up:  # else somebody only looks who holds it
                holder = _holder(fd)
                raise ServiceRunning(
                    f"{db} is already served by {holder}. Stop it first, or use another --db."
                )  # fmt: skip
        except OSError as error:
            raise _cannot_write(path, error) from None
        finally:
            if fd >= 0:
                os.close(fd)
        time.sleep(_POLL_SECONDS)


def _flock(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(fd: int) -> str:
    return os.pread(fd, 200, 0).decode("utf-8", "replace").strip() or "another process"


def _lies_at(fd: int, path: Path) -> bool:
    """Whether the open file is the one at this path: a lock on one that was removed keeps nobody out."""
    return os.fstat(fd).st_nlink > 0 and identity(path) == identity(fd)


class FileLock:
    """`<db>.lock`, taken for moments. Blocks its caller, so only the store's own threads use it."""

    def __init__(self, db: Path) -> None:
        self._path = beside(db, ".lock")
        self._fd = _open(self._path)

    @contextmanager
    def held(self, timeout_ms: int) -> Generator[None]:
        """Hold it exclusively. Raises `StoreUnavailable` after `timeout_ms`."""
        give_up = time.monotonic() + timeout_ms / 1000
        while not self._taken(fcntl.LOCK_EX):
            if time.monotonic() > give_up:
                raise StoreUnavailable(f"{self._path} is held by another process. Try again.")
            time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def give_way(self, most_ms: int) -> None:
        """Wait, at most so long, until nobody else holds it: who does wants to write, and polls where we do not."""
        give_up = time.monotonic() + most_ms / 1000
        while time.monotonic() <= give_up:
            if self._taken(fcntl.LOCK_SH):
                fcntl.flock(self._fd, fcntl.LOCK_UN)
                return
            time.sleep(_POLL_SECONDS / 5)

    def _taken(self, how: int) -> bool:
        """Whether the file at the path could be locked, which somebody may have removed since it was opened."""
        if not _lies_at(self._fd, self._path):
            try:
                fd = _open(self._path)
            except StoreUnusable as error:
                raise StoreUnavailable(str(error)) from None
            os.close(self._fd)
            self._fd = fd
        if not _flock(self._fd, how):
            return False
        if _lies_at(self._fd, self._path):
            return True
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return False

    def close(self) -> None:
        """Close the file; releases the lock."""
        os.close(self._fd)
