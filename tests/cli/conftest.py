"""A folder to stand in, a clock that agrees with the command's, and the command."""

import os
from pathlib import Path

import pytest

from bot.clock import SystemClock
from tests.cli.command_line import Cli


@pytest.fixture
def now() -> int:
    """The time by the clock that the command reads, in ms UTC."""
    return SystemClock().now()


@pytest.fixture
def cli(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command, in the folder of the test's file."""
    monkeypatch.chdir(db.parent)
    monkeypatch.setattr("sys.argv", ["casebound"])
    for name in list(os.environ):
        if name.startswith("CASEBOUND_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CASEBOUND_SERVICE__TIMEZONE", "Europe/Berlin")
    monkeypatch.setenv("COLUMNS", "90")
    return Cli(capsys)
