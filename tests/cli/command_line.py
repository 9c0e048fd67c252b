"""The command as a person has it: in this process for most, in a process of its own where that matters."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import casestore
from bot.__main__ import run
from tests.started import PIPE, Started

ROOT = Path(casestore.__file__).parents[1]
COMMAND = (sys.executable, "-m", "bot")


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout; fails where there is anything else."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line that says why it failed."""
        assert self.code == 1, self.out + self.err
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.strip()


class Cli:
    """Runs commands one after the other; the file and the settings are those of the folder that the test stands in."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    async def __call__(self, *arguments: str) -> Ended:
        """Run one, whatever comes of it. In a thread, as it has a loop of its own."""
        self._capsys.readouterr()
        code = await asyncio.to_thread(run, arguments)
        out, err = self._capsys.readouterr()
        return Ended(code, out, err)

    async def done(self, *arguments: str) -> str:
        """Run one that does what it is asked; what it says."""
        ended = await self(*arguments)
        assert (ended.code, ended.err) == (0, "")
        return ended.out


def environment(**more: str) -> dict[str, str]:
    """What a child process is given: nothing of ours but where the code is."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CASEBOUND_")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def call(folder: Path, *arguments: str, stdin: str = "", **more: str) -> Ended:
    """Run a command in a process of its own."""
    process = Started(arguments, folder, environment(**more), stdin=PIPE, stdout=PIPE, stderr=PIPE)
    out, err = process.communicate(stdin, timeout=100)
    return Ended(process.wait(), out, err)
