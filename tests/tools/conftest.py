"""A whole service with a scripted model, and the command, in a folder of their own."""

from pathlib import Path

import pytest

from tests.cli.command_line import Cli
from tests.loop.conftest import make_rig, rig

__all__ = ["make_rig", "rig"]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["casebound"])
    return Cli(capsys)
