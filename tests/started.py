"""The command in a process of its own, within milliseconds: forked from one that has imported it (`tests.prepared`).

A process that starts by itself takes a second to import what it needs, and the tests start hundreds.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

PIPE = subprocess.PIPE
ROOT = Path(__file__).parents[1]


class Started:
    """`casebound` with these arguments, as `subprocess.Popen` would have started it; everything said is text."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str],
        *, stdin: int | None = None, stdout: int | IO[str] | None = None, stderr: int | IO[str] | None = None,
    ) -> None:  # fmt: skip
        """`PIPE` for what is to be talked through here; a file, or a descriptor; None for nothing at all."""
        self.arguments = tuple(arguments)
        self.returncode: int | None = None
        theirs: list[int] = []
        self.stdin = self._end(theirs, stdin, "w")
        self.stdout = self._end(theirs, stdout, "r")
        self.stderr = self._end(theirs, stderr, "r")
        here, there = socket.socketpair()
        order = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)}
        with _one_at_a_time:
            socket.send_fds(_prepared()[0], [json.dumps(order).encode()], [*theirs, there.fileno()])
        there.close()
        for fd in theirs:
            os.close(fd)
        self._told = here.makefile()
        here.close()
        self.pid = int(self._told.readline())

    @staticmethod
    def _end(theirs: list[int], wanted: int | IO[str] | None, mode: str) -> IO[str] | None:
        """The end that is used here, if any; the other is added to what is handed over."""
        if wanted != PIPE:
            if wanted is None:
                theirs.append(os.open(os.devnull, os.O_RDWR))
            else:
                theirs.append(os.dup(wanted if isinstance(wanted, int) else wanted.fileno()))
            return None
        reads, writes = os.pipe()
        theirs.append(writes if mode == "r" else reads)
        return open(reads if mode == "r" else writes, mode, encoding="utf-8")

    def send_signal(self, number: int) -> None:
        """To the process, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """How it ended, negative for a signal; None while it runs."""
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """How it ended. Raises `subprocess.TimeoutExpired`; None waits as long as it takes."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.arguments, timeout or 0)
            line = self._told.readline()
            assert line, "the process that starts the others is gone"
            self.returncode = int(line)
            self._told.close()
        return self.returncode

    def communicate(self, given: str | None = None, timeout: float = 60) -> tuple[str, str]:
        """Give it all it is to read and end that; what it said, and how it ended in `returncode`."""
        said = {"out": "", "err": ""}

        def give() -> None:
            with suppress(BrokenPipeError, ValueError):
                if self.stdin is not None:
                    self.stdin.write(given or "")
                    self.stdin.close()

        def read(name: str, end: IO[str]) -> None:
            said[name] = end.read()
            end.close()

        threads = [threading.Thread(target=give, daemon=True)]
        for name, end in (("out", self.stdout), ("err", self.stderr)):
            if end is not None and not end.closed:
                threads.append(threading.Thread(target=read, args=(name, end), daemon=True))
        for thread in threads:
            thread.start()
        until = time.monotonic() + timeout
        for thread in threads:
            thread.join(max(0, until - time.monotonic()))
        self.wait(max(0, until - time.monotonic()))
        return said["out"], said["err"]


_one_at_a_time = threading.Lock()


@cache
def _prepared() -> "tuple[socket.socket, subprocess.Popen[bytes]]":
    """What orders go to, and the process behind it, which ends when this one does."""
    ours, theirs = socket.socketpair()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CASEBOUND_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.prepared", str(theirs.fileno())], cwd=ROOT, pass_fds=[theirs.fileno()],
        env={**kept, "PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    theirs.close()
    return ours, process
