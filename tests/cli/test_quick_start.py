"""A look at what waits is quick: nothing that only a service needs is imported for it."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.command_line import COMMAND, ROOT, Cli, call, environment
from tests.conftest import World

HEAVY = (
    "pydantic_ai", "fastapi", "starlette", "uvicorn", "apscheduler", "prometheus_client", "psutil", "rich", "bot.app",
)  # fmt: skip

SCRIPT = f"""
import json, sys
from bot.__main__ import run
code = run(sys.argv[1:])
print(json.dumps([code, [name for name in {HEAVY!r} if name in sys.modules]]), file=sys.stderr)
"""

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",), ("gate", "--help"), ("up", "--help"), ("--version",), ("gate", "list"), ("case", "list", "--json"),
        ("case", "show", "C-1001"), ("gate", "approve", "1"), ("trail", "verify", "C-1001"), ("case", "open", "hello"),
    ],
)  # fmt: skip
async def test_nothing_heavy_is_imported_for_it(cli: Cli, world: World, arguments: tuple[str, ...]) -> None:
    await world.ask()
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], env=environment(), text=True, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert json.loads(ended.stderr) == [0, []]


def test_the_list_of_what_is_heavy_names_what_a_service_imports() -> None:
    """Without this the test above could hold for names that nothing has."""
    script = f"import sys, bot.web.server; print([n for n in {HEAVY!r} if n not in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment(), text=True, capture_output=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert found.stdout.strip() == "[]"


def test_the_command_itself_comes_up_answers_and_ends_when_it_is_told(tmp_path: Path) -> None:
    """Other tests start a process that has imported it all (`tests.started`); this one starts what a person does."""
    with subprocess.Popen(
        [*COMMAND, "up", "--port", "0"], cwd=tmp_path, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as up:  # fmt: skip
        assert up.stdout is not None
        said = next(line for line in up.stdout if " up, at " in line)
        with urllib.request.urlopen(f"{said.split(' up, at ')[1].split()[0]}/healthz", timeout=30) as answer:
            assert answer.status == 200
        asked = subprocess.run(
            [*COMMAND, "chat"], cwd=tmp_path, env=environment(), text=True, input="how is the disk?\n",
            capture_output=True, timeout=60, check=True,
        )  # fmt: skip
        assert "- Disk /" in asked.stdout
        up.terminate()
        assert up.wait(40) == 0


def test_the_version_is_told(tmp_path: Path) -> None:
    ended = call(tmp_path, "--version")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("casebound ")
