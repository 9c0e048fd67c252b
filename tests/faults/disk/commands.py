"""Real commands of `casebound` on a disk that fails: each in a process of its own, forked from one that has it loaded.

Run as a program: one command as a line of JSON on stdin, how it ended as a line of JSON on stdout.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

import casestore

ROOT = Path(casestore.__file__).parents[1]
READS = 4
"""The kind of fault of `shim.c` that fails reads of the database and of its WAL."""
_PATIENCE_S = 40


@dataclass(frozen=True, slots=True)
class Told:
    """What a command was told to do: where, under which limit, and from which read on nothing can be read.

    `mount`: put a new disk of this size there instead, or give the one that is there this size.
    """

    folder: str
    arguments: Sequence[str]
    limit: int | None = None
    unreadable_from: int | None = None
    stdin: str = ""
    mount: str | None = None


@dataclass(frozen=True, slots=True)
class Did:
    """How it ended; `reads`: how many reads there were, where they were counted."""

    code: int
    out: str
    err: str
    reads: int = 0

    @property
    def line(self) -> str:
        """The one line with which it failed, and nothing before it was shown as done."""
        assert (self.code, self.out) == (1, ""), (self.code, self.out, self.err)
        assert self.err.endswith("\n"), self.err
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.strip()


class Commands:
    """The process that has the command loaded, with the shim where one is given; `inside`: how it is started."""

    def __init__(self, shim: Path | None = None, inside: Sequence[str] = ()) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CASEBOUND_")}
        more = {} if shim is None else {"LD_PRELOAD": str(shim)}
        self._process = subprocess.Popen(
            [*inside, sys.executable, str(Path(__file__))], cwd=ROOT, text=True,
            env={**kept, "PYTHONPATH": str(ROOT), **more}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __call__(
        self, folder: Path, *arguments: str, limit: int | None = None, unreadable_from: int | None = None,
        stdin: str = "",
    ) -> Did:  # fmt: skip
        """Run one command to its end. `unreadable_from`: -1 to count the reads and fail none."""
        return self._ask(Told(str(folder), arguments, limit, unreadable_from, stdin))

    def mount(self, folder: Path, size: str) -> bool:
        """Let a disk of this size lie there; False where this machine does not allow it."""
        return self._ask(Told(str(folder), (), mount=size)).code == 0

    def end(self) -> None:
        """End the process."""
        self._process.communicate(timeout=30)

    def _ask(self, told: Told) -> Did:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(told)) + "\n")
        self._process.stdin.flush()
        return Did(**json.loads(self._process.stdout.readline()))


def main() -> None:
    """Fork one process for each command."""
    for loaded_once_for_all in ("bot.cli.root", "bot.app", "bot.playbook", "bot.web.server"):
        import_module(loaded_once_for_all)
    for line in sys.stdin:
        told = Told(**cast("dict[str, str]", json.loads(line)))  # pyright: ignore[reportArgumentType] - as it was written
        did = _mounted(told) if told.mount else _ran(told)
        print(json.dumps(asdict(did)), flush=True)


def _ran(told: Told) -> Did:
    with tempfile.TemporaryFile("w+") as given:
        given.write(told.stdin)
        given.seek(0)
        pipes = [os.pipe() for _ in ("stdout", "stderr", "reads")]  # for which no limit on the size of a file holds
        child = os.fork()
        if child == 0:
            _run(told, [given.fileno(), *(writing for _, writing in pipes)])
        told_us: list[str] = []
        for reading, writing in pipes:
            os.close(writing)
            with os.fdopen(reading) as pipe:
                told_us.append(pipe.read())
    _, status = os.waitpid(child, 0)
    out, err, reads = told_us
    return Did(os.waitstatus_to_exitcode(status), out, err, int(reads or 0))


def _run(told: Told, files: Sequence[int]) -> None:
    from bot.__main__ import run

    code = 70
    try:
        signal.alarm(_PATIENCE_S)
        *standard, counted = files
        for number, file in enumerate(standard):
            os.dup2(file, number)
            os.close(file)
        os.chdir(told.folder)
        shim = ctypes.CDLL(None)
        if told.unreadable_from is not None:
            db = os.fsencode(Path(told.folder).resolve() / "casebound.db")
            shim.fault_arm(db, b"", told.unreadable_from, READS, 1, errno.EIO, 0)
        if told.limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (told.limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        sys.argv = ["casebound"]
        code = run(told.arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        if told.unreadable_from is not None:
            os.write(counted, str(shim.fault_counted()).encode())
    finally:
        os._exit(code)


def _mounted(told: Told) -> Did:
    there = os.path.ismount(told.folder)
    options = f"remount,size={told.mount}" if there else f"size={told.mount}"
    ended = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", told.folder], capture_output=True, text=True, check=False,
        timeout=20,
    )  # fmt: skip
    return Did(ended.returncode, ended.stdout, ended.stderr)


if __name__ == "__main__":
    main()
