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

from casestore.errors import ServiceRunning, StoreUnavailable, StoreUnusable

_POLL_SECONDS = 0.005


def beside(db: Path, suffix: str) -> Path:
    """The path of a file that lies beside the database."""
    return db.with_name(db.name + suffix)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnusable(
            f"Cannot write {path} ({error.strerror}). Choose a folder you may write to, with --db."
        ) from None


class ServiceLock:
    """The right to be the one service on a file, for as long as the process lives."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def take(cls, db: Path, name: str) -> "ServiceLock":
        """Take it, writing `name` into the file. Raises `ServiceRunning` naming the holder."""
        path = beside(db, ".service")
        fd = _open(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(fd, 200).decode("utf-8", "replace").strip() or "another process"
            os.close(fd)
            raise ServiceRunning(f"{db} is already served by {holder}. Stop it first, or use another --db.") from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, name.encode(), 0)
        return cls(fd)

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
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.read(fd, 200).decode("utf-8", "replace").strip() or "another process"
    else:
        return None
    finally:
        os.close(fd)


class FileLock:
    """`<db>.lock`, taken for moments. Blocks its caller, so only the store's own threads use it."""

    def __init__(self, db: Path) -> None:
        self._path = beside(db, ".lock")
        self._fd = _open(self._path)

    @contextmanager
    def held(self, timeout_ms: int) -> Generator[None]:
        """Hold it exclusively. Raises `StoreUnavailable` after `timeout_ms`."""
        give_up = time.monotonic() + timeout_ms / 1000
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > give_up:
                    raise StoreUnavailable(f"{self._path} is held by another process. Try again.") from None
                time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def give_way(self, most_ms: int) -> None:
        """Wait, at most so long, until nobody else holds it: who does wants to write, and polls where we do not."""
        give_up = time.monotonic() + most_ms / 1000
        while time.monotonic() <= give_up:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                time.sleep(_POLL_SECONDS / 5)
            else:
                fcntl.flock(self._fd, fcntl.LOCK_UN)
                return

    def close(self) -> None:
        """Close the file; releases the lock."""
        os.close(self._fd)
