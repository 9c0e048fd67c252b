"""What is printed reaches whoever reads it, whatever their terminal can show and however early they leave."""

import json
import platform
import subprocess
from pathlib import Path

import pytest

from bot.cli import out
from tests.cli.command_line import COMMAND, Cli, environment
from tests.conftest import World

pytestmark = pytest.mark.timeout(180)


async def test_a_reader_who_leaves_early_is_no_error(cli: Cli, world: World, db: Path) -> None:
    for n in range(300):
        await world.case(title=f"{n} " + "long " * 35)
    for arguments in (("case", "list", "--most", "1000"), ("case", "list", "--most", "1000", "--json")):
        command = subprocess.Popen(
            [*COMMAND, *arguments], cwd=db.parent, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.read(10)
        command.stdout.close()
        assert (command.stderr.read(), command.wait(60)) == (b"", 0)
        command.stderr.close()


async def test_a_terminal_that_knows_only_ascii_is_given_escapes(cli: Cli, world: World, db: Path) -> None:
    case = await world.case(title="Büro ☎ 𝄞")

    def shown(*arguments: str) -> str:
        ended = subprocess.run(
            [*COMMAND, *arguments], cwd=db.parent, env=environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0"),
            capture_output=True, timeout=60, check=True,
        )  # fmt: skip
        return ended.stdout.decode("ascii")

    assert "B\\xfcro \\u260e" in shown("case", "list")
    assert json.loads(shown("case", "list", "--json"))["cases"][0]["title"] == case.title


def test_whatever_is_said_does_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """R23: the last line of defence; what is put into a line is made still before."""
    out.say("\x1b[2J cleared \x9b\u202e reversed\nnext line")
    said = capsys.readouterr().out
    assert said.splitlines()[1] == "next line"
    assert not {"\x1b", "\x9b", "\u202e"} & set(said)


async def test_a_disk_that_is_full_is_an_error_and_not_a_traceback(cli: Cli, world: World, db: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*COMMAND, "case", "list"], cwd=db.parent, env=environment(), stdout=full, stderr=subprocess.PIPE,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr


async def test_every_list_is_one_json_document_also_when_there_is_nothing(cli: Cli, world: World) -> None:
    for noun, key in (("case", "cases"), ("gate", "gates"), ("run", "runs")):
        assert (await cli(noun, "list", "--json")).json[key] == []
    tools = (await cli("tools", "list", "--json")).json["tools"]
    by_name = {tool["name"]: tool for tool in tools}
    assert by_name["host.disk_usage"]["policy"] == "free"
    restart = by_name["host.restart_service"]
    assert (restart["tier"], restart["policy"]) == ("consequential", "gate")
    assert '[policy] consequential = "gate"' in restart["why"]
    assert restart["statement"] == f"Restart the service {{name}} on this host, {platform.node()}"
    assert restart["timeout_ms"] > 0


async def test_the_tools_are_explained_as_the_settings_have_them(cli: Cli, world: World, db: Path) -> None:
    db.with_name("casebound.toml").write_text(
        '[policy]\nobserve = true\n[tools."host.disk_usage"]\ntier = "consequential"\nsensitive = true\n'
    )
    told = await cli.done("tools", "list")
    one = told[told.index("host.disk_usage") :]
    one = " ".join(one[: one.index("host.largest_dirs")].split())
    assert one.startswith("host.disk_usage refuse")
    assert 'it is consequential, as [tools."host.disk_usage"] says' in one
    assert "this installation only observes" in one
    assert "the requester has to consent first" in one
    assert "In words: Read how full the disk at {path} on this host is" in one
