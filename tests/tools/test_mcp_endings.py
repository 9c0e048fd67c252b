"""How a program that serves tools is ended: nothing of it is left, and no line of it is longer than we can bear."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from bot.settings import Settings
from bot.tools.declare import OutcomeOpen, Tool
from bot.tools.mcp import connection
from bot.tools.mcp import program as mcp_program
from bot.tools.mcp.program import Lines, LineTooLong
from bot.tools.mcp.servers import Servers
from tests.tools.mcp_rig import ROOT


class Stubborn:
    """A server that is hard to be rid of, and the tool of it."""

    def __init__(self, folder: Path, *ways: str) -> None:
        self._folder = folder
        args = ["-m", "tests.wire.mcp.stubborn", str(folder), *ways]
        one: dict[str, Any] = {"command": sys.executable, "args": args, "env": {"PYTHONPATH": str(ROOT)}}
        self.tools: dict[str, Tool] = {}
        settings = Settings.model_validate({"mcp": {"own": {**one, "tier": "read_only"}}})
        self.servers = Servers(settings.mcp, lambda _, tools: self.tools.update({tool.name: tool for tool in tools}))

    def left(self) -> list[str]:
        """How its processes are, those that are not gone."""
        pids = (int(pid) for pid in (self._folder / "pids").read_text("utf-8").split())
        found = [psutil.Process(pid).status() for pid in pids if psutil.pid_exists(pid)]
        return [status for status in found if status != psutil.STATUS_ZOMBIE]

    async def input_has_ended(self) -> None:
        """Wait until it has been told to end in the friendliest way."""
        while not (self._folder / "ended").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LONGEST_ANSWER", 256 * 1024)


async def lost(tool: Tool) -> None:
    """Call it, which costs the connection."""
    assert tool.call is not None
    with pytest.raises(OutcomeOpen, match="the connection to its server was lost"):
        await tool.call({})


@pytest.mark.parametrize("ways", [("child",), ("deaf", "child"), ("endless_start", "deaf")])
async def test_nothing_is_left_of_a_server_that_does_not_want_to_end(
    tmp_path: Path, ways: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_program, "GRACE_S", 0.3)
    one = Stubborn(tmp_path, *ways)
    async with one.servers.running():
        assert (tmp_path / "pids").exists()
    assert one.left() == []


async def test_nothing_is_left_of_a_server_that_was_being_ended_when_the_service_stops(tmp_path: Path) -> None:
    one = Stubborn(tmp_path, "deaf", "cut")
    async with one.servers.running():
        await lost(one.tools["own.work"])
        await one.input_has_ended()
    assert one.left() == []


async def test_a_server_that_says_a_line_without_end_is_down_and_it_is_said_why(tmp_path: Path) -> None:
    one = Stubborn(tmp_path, "endless_start")
    async with one.servers.running():
        assert one.servers.troubles == {"own": "it sent a line longer than 256 KiB"}


async def test_an_answer_without_end_ends_its_call_and_the_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_program, "GRACE_S", 0.3)
    one = Stubborn(tmp_path, "endless")
    async with one.servers.running():
        await lost(one.tools["own.work"])
        confirm = one.tools["own.work"].confirm
        assert confirm is not None
        await confirm()  # it is there again
    down = [record for record in caplog.records if record.message == "mcp.down"]
    assert [getattr(record, "fields", {}).get("why") for record in down] == ["it sent a line longer than 256 KiB"]


def test_lines_come_whole_in_whatever_pieces_they_are_read() -> None:
    lines = Lines(10)
    assert [lines.cut(piece) for piece in (b"a", b"b\nc\n\nd", b"", b"e\n")] == [[], [b"ab", b"c", b""], [], [b"de"]]


def test_what_ended_does_not_count_for_the_length_of_the_next_line() -> None:
    lines = Lines(10)
    for _ in range(3):
        assert lines.cut(b"1234567") == []
        assert lines.cut(b"890\n") == [b"1234567890"]
    lines.cut(b"1234567890")
    with pytest.raises(LineTooLong, match="longer than"):
        lines.cut(b"1")
