"""What an operator is told about MCP servers and their tools."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.errors import SettingsError
from bot.settings import Settings, load
from casestore.migrate import migrate
from tests.cli.command_line import Cli
from tests.tools.mcp_rig import BIN

FILE = f"""
[mcp.time]
command = "{BIN}/mcp-server-time"
[mcp.git]
command = "{BIN}/mcp-server-git"
tier = "read_only"
[mcp.gone]
command = "sh"
args = ["-c", "echo there is no s3cr3t >&2; exit 1"]
[mcp.gone.env]
KEY = "s3cr3t"
[tools."git.git_add"]
tier = "routine"
"""


async def test_each_tool_is_listed_with_what_is_done_with_it_and_who_said_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "casebound.toml").write_text(FILE)
    document = (await cli("tools", "list", "--json")).json
    tools = {one["name"]: one for one in document["tools"]}

    def of(name: str) -> tuple[str, str, str]:
        return tools[name]["tier"], tools[name]["policy"], tools[name]["why"].partition(", and")[0]

    assert of("time.convert_time") == ("consequential", "gate", "it is consequential, since nobody has said what it is")
    assert of("git.git_status") == ("read_only", "free", "it is read only, as [mcp.git] says")
    raised = "it is consequential, as its server says, whatever [mcp.git] does"
    assert of("git.git_reset") == of("git.git_commit") == ("consequential", "gate", raised)
    assert of("git.git_add") == ("routine", "free", 'it is routine, as [tools."git.git_add"] says')
    down = {one["name"]: one["why"] for one in document["servers"]}
    assert down == {"git": None, "time": None, "gone": "its program ended; the last it said: there is no ***"}


async def test_the_list_for_people_ends_with_the_servers_that_are_down(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "casebound.toml").write_text(FILE)
    told = await cli.done("tools", "list")
    assert told.endswith("MCP server gone: its program ended; the last it said: there is no ***\n")
    assert "host.load  free" in told


async def test_the_doctor_has_a_line_for_each_server(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "casebound.toml").write_text(FILE + '[tools."time.now"]\ntier = "read_only"\n')
    migrate(tmp_path / "casebound.db")
    ended = await cli("doctor")
    assert "ok      mcp: git. It has 12 tools." in ended.out
    assert "TO DO   mcp: gone. It cannot be used: its program ended" in ended.out
    assert "TO DO   mcp: time. It has no tool time.now." in ended.out
    assert ended.line.endswith("2 things have to be done: mcp: gone, mcp: time.")


async def test_a_profile_about_a_tool_that_a_server_has_not_is_told_of(cli: Cli, tmp_path: Path) -> None:
    without = 'without = ["git.*", "git.git_stats", "gone.anything", "host.*"]'
    (tmp_path / "casebound.toml").write_text(f"{FILE}[profiles.roles.requester]\n{without}\n")
    migrate(tmp_path / "casebound.db")
    ended = await cli("doctor")
    told = " ".join(ended.out.split())
    assert "names git.git_stats, and there is no such tool; did you mean git.git_status? → Correct that name" in told
    assert ended.line.endswith("2 things have to be done: mcp: gone, profiles.")


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({"time": {}}, "an MCP server needs a command or a url, and not both"),
        ({"time": {"command": "x", "url": "http://h/"}}, "an MCP server needs a command or a url, and not both"),
        ({"time": {"url": "http://h/", "args": ["x"]}}, "args and env of an MCP server are for a command"),
        ({"time": {"command": "x", "headers": {"A": "b"}}}, "headers of an MCP server are for a url"),
        ({"time": {"url": "http://u:p@h/"}}, "may hold no password"),
        ({"time": {"url": "http://h/", "headers": {"A": "b\r\nC: d"}}}, "visible characters on one line"),
        ({"host": {"command": "x"}}, "an MCP server cannot be called host"),
        ({"a__b": {"command": "x"}}, "'a__b' cannot be the name of an MCP server"),
        ({"time": {"command": "x", "timeout": "20m"}}, "set leases.ttl to more than 20m30s"),
    ],
)
def test_a_server_that_cannot_be_is_refused_when_the_service_starts(server: Mapping[str, Any], said: str) -> None:
    with pytest.raises((SettingsError, ValueError), match=said):
        Settings.model_validate({"mcp": server})


def test_what_a_server_has_to_know_comes_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").write_text("Bearer t0k3n\n")
    (tmp_path / "casebound.toml").write_text('[mcp.crm]\nurl = "https://crm.example.org/mcp"\n[mcp.own]\ncommand = "x"')
    monkeypatch.setenv("CASEBOUND_MCP__CRM__HEADERS__X_API_KEY", "k3y")
    monkeypatch.setenv("CASEBOUND_MCP__CRM__HEADERS__AUTHORIZATION_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("CASEBOUND_MCP__OWN__ENV__API_KEY", "0wn")
    settings = load()
    headers = {name: value.get_secret_value() for name, value in settings.mcp["crm"].headers.items()}
    assert headers == {"x-api-key": "k3y", "authorization": "Bearer t0k3n"}
    assert settings.mcp["own"].env["API_KEY"].get_secret_value() == "0wn"
    assert {"k3y", "Bearer t0k3n", "0wn"} <= set(settings.secrets())
    assert "t0k3n" not in repr(settings)
    assert os.environ["CASEBOUND_MCP__OWN__ENV__API_KEY"] not in repr(settings)
