"""One service on a file: the second is refused, naming the first, and a dead one holds nothing."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from casestore.errors import ServiceRunning, StoreUnavailable, StoreUnusable
from casestore.locks import FileLock, ServiceLock, service_holder
from tests.store.processes import ROOT

HOLD = """
import pathlib, sys
from casestore.locks import ServiceLock
lock = ServiceLock.take(pathlib.Path(sys.argv[1]), "casebound up, process 7")
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_second_service_is_refused_and_told_who_the_first_is(db: Path) -> None:
    first = ServiceLock.take(db, "casebound up, process 7")
    assert service_holder(db) == "casebound up, process 7"
    with pytest.raises(ServiceRunning, match="served by casebound up, process 7"):
        ServiceLock.take(db, "another")
    assert service_holder(db) == "casebound up, process 7", "asking and failing change nothing"
    first.release()
    assert service_holder(db) is None
    second = ServiceLock.take(db, "b")
    assert service_holder(db) == "b"
    second.release()


def test_without_a_service_nobody_holds_the_file(db: Path) -> None:
    assert service_holder(db) is None


def test_another_file_in_the_same_folder_has_its_own_service(db: Path) -> None:
    first, second = ServiceLock.take(db, "a"), ServiceLock.take(db.with_name("other.db"), "b")
    first.release()
    second.release()


def test_a_service_that_is_killed_holds_the_file_no_longer(db: Path) -> None:
    """R8, R10"""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(db)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert service_holder(db) == "casebound up, process 7"
        with pytest.raises(ServiceRunning, match="process 7"):
            ServiceLock.take(db, "b")
        process.kill()
        process.wait(timeout=30)
    assert service_holder(db) is None
    after = ServiceLock.take(db, "b")
    assert service_holder(db) == "b", "nothing is left of the longer name of the one before"
    after.release()


def test_a_lock_in_a_folder_that_does_not_exist_is_refused_with_what_to_do(db: Path) -> None:
    with pytest.raises(StoreUnusable, match="--db"):
        ServiceLock.take(db.parent / "no" / "such.db", "a")


def test_the_file_lock_is_held_by_one_at_a_time_and_let_go_after_an_error(db: Path) -> None:
    one, other = FileLock(db), FileLock(db)
    with one.held(0), pytest.raises(StoreUnavailable, match="Try again"), other.held(0):
        pytest.fail("both held it")
    with pytest.raises(LookupError), one.held(0):
        raise LookupError
    with other.held(0):
        pass
    one.close()
    other.close()


def test_who_only_looks_who_serves_a_file_keeps_no_service_from_it(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`service_holder` holds the lock for a moment; the one who wants it tries again while it is only that."""
    looking = os.open(db.with_name(db.name + ".service"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(looking, fcntl.LOCK_SH)

    def has_looked(_: float) -> None:
        fcntl.flock(looking, fcntl.LOCK_UN)

    monkeypatch.setattr(time, "sleep", has_looked)
    lock = ServiceLock.take(db, "a")
    os.close(looking)
    lock.release()


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_none(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is removed between the opening and the locking: another who comes would find another file, and hold that."""
    path, flock = db.with_name(db.name + ".service"), fcntl.flock

    def removed_before(fd: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        path.unlink()
        flock(fd, how)

    monkeypatch.setattr(fcntl, "flock", removed_before)
    lock = ServiceLock.take(db, "a")
    with pytest.raises(ServiceRunning):
        ServiceLock.take(db, "b")
    lock.release()


def test_a_lock_that_cannot_be_named_is_not_kept(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full: a later attempt of the same process is not refused because of this one."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as while_full:
        while_full.setattr(os, "pwrite", full)
        with pytest.raises(StoreUnusable, match="No space left"):
            ServiceLock.take(db, "a")
    ServiceLock.take(db, "a").release()
