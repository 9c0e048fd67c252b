"""A look at what waits is quick: nothing that only a service needs is imported for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, Cli, call, environment
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


def test_the_version_is_told(tmp_path: Path) -> None:
    ended = call(tmp_path, "--version")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("casebound ")
