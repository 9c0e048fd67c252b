"""A whole service with a scripted model, and the command, in a folder of their own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.command_line import Cli
from tests.loop.conftest import MakeRig, make_rig, rig
from tests.tools.mcp_rig import McpRig
from tests.tools.own_module import write

__all__ = ["make_rig", "rig", "write"]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["casebound"])
    return Cli(capsys)


@pytest.fixture
async def mcp_rig(make_rig: MakeRig) -> AsyncIterator[McpRig]:
    """Makes a service whose tools come from MCP servers."""
    made = McpRig(make_rig)
    yield made
    await made.end()
