"""MCP servers in the real service, started by `casebound up` from a file of settings."""

import re
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bot.first_start import REQUESTER
from tests.cli.command_line import call
from tests.cli.services import Up, eventually, json_of
from tests.tools.mcp_rig import BIN, program
from tests.wire.mcp.behaviour import Behaviour

pytestmark = pytest.mark.timeout(240)

PLAYBOOK = """
name = "clock"
title = "Say what time it is, and write it down"
[match]
any = ["time"]
[[step]]
calls = [{ call = "time.get_current_time", args = { timezone = "Asia/Tokyo" }, as = "now" }]
[[step]]
calls = [{ call = "own.record", args = { text = "{now.timezone}" }, as = "done" }]
[[step]]
say = ["It is {now.datetime} in {now.timezone}."]
"""


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """The service, with a server that only looks and one that does something."""
    own = program(tmp_path)
    args = ", ".join(f'"{one}"' for one in own["args"])
    (tmp_path / "clock.toml").write_text(PLAYBOOK)
    (tmp_path / "casebound.toml").write_text(
        f"""
        playbooks.paths = ["clock.toml"]
        [mcp.time]
        command = "{BIN}/mcp-server-time"
        tier = "read_only"
        [mcp.own]
        command = "{own["command"]}"
        args = [{args}]
        env.PYTHONPATH = "{own["env"]["PYTHONPATH"]}"
        [mcp.gone]
        command = "no-such-program"
        """
    )
    started = Up(tmp_path)
    yield started
    if started.process.poll() is None:
        started.kill()


def servers(up: Up) -> list[psutil.Process]:
    """The programs it has started."""
    return psutil.Process(up.process.pid).children()


def test_the_start_says_which_servers_are_there_and_what_hinders_the_others(up: Up) -> None:
    assert re.search(r"\n  MCP       own \(\d+ tools\), time \(2 tools\)\n", up.said)
    why = "its command no-such-program cannot be started (no such file or directory): it is looked for on the PATH"
    assert f"\n  MCP       gone cannot be used yet: {why}\n" in up.said


def test_a_file_of_settings_is_enough_to_look_to_ask_and_to_act(up: Up, tmp_path: Path) -> None:
    call(tmp_path, "case", "open", "what time is it?", "--as", REQUESTER)
    (gate,) = eventually(lambda: json_of(tmp_path, "gate", "list")["gates"], bool)
    assert gate["statement"] == 'Call record of the MCP server own: text "Asia/Tokyo"'
    assert Behaviour(tmp_path).effects() == []
    assert call(tmp_path, "gate", "approve", str(gate["id"])).code == 0
    told = eventually(lambda: call(tmp_path, "case", "show", "C-1001").out, lambda text: " in Asia/Tokyo." in text)
    assert "own.record" in told
    assert Behaviour(tmp_path).effects() == ["Asia/Tokyo"]

    children = servers(up)
    assert len(children) == 2
    ended = up.end()
    assert ended.code == 0
    assert " ERROR " not in ended.err
    assert "Traceback" not in ended.err
    assert not any(child.is_running() for child in children)
