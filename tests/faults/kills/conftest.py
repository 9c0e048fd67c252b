"""A short soak with a fixed seed, run once for all tests that look at what it leaves."""

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from tests.faults.kills.boot import Place
from tests.faults.kills.crashes import Installation

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Soaked:
    """What a soak printed at its end, and the installation it left."""

    code: int
    said: str
    place: Place

    def count(self, what: str) -> int:
        """One number of its table."""
        found = re.search(rf"^ *([\d,]+)  {re.escape(what)}$", self.said, re.MULTILINE)
        return 0 if found is None else int(found[1].replace(",", ""))


def soak(folder: Path, *arguments: str) -> Soaked:
    """The kill loop in a process of its own, as `make soak` runs it; all its databases are kept."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.kills", "--state", str(folder), "--keep", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return Soaked(done.returncode, done.stdout, Place(folder / "database-0001"))


@pytest.fixture(scope="session")
def soaked(tmp_path_factory: pytest.TempPathFactory) -> Soaked:
    """Thirty kills; those who test beside us use the same ones."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "soak.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return soak(shared / "soak", "--kills", "30", "--seed", "3")


@pytest.fixture(scope="session")
def zygote() -> Iterator["subprocess.Popen[str]"]:
    """The process that forks every boot of the crash table."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.kills.zygote"], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    process.stdin.close()
    assert process.wait(30) == 0
    process.stdout.close()


class Install(Protocol):
    """Makes an installation in a folder of its own."""

    def __call__(self, *, can_find: bool = True) -> Installation: ...


@pytest.fixture
def install(zygote: "subprocess.Popen[str]", tmp_path: Path) -> Install:
    """On a platform that can say what became of a call, or on one that cannot."""
    return lambda *, can_find=True: Installation(Place(tmp_path), zygote, can_find=can_find)


@pytest.fixture
def installation(install: Install) -> Installation:
    """On a platform that can say."""
    return install()
