"""Nothing that a model, a person or an alert writes into an argument is ever run (R23)."""

from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from bot.tools.declare import BadArguments, Tool, ToolFailed
from bot.tools.host import command, host_tools

PAYLOADS = [
    "$(touch x)",
    "`touch x`",
    "; touch x",
    "| touch x",
    "&& touch x",
    "\n touch x\n",
    "/tmp/$(touch x)",
    "/tmp/$(touch x)/../x",
    "--root=x",
    "-x; touch x",
    "nginx;touch x",
    "nginx@$(touch x)",
    "%x{touch x}",
    "{name.__class__}",
    "\u202etouch x",
]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Tool]:
    """The tools, in a directory where a file would appear, on a machine whose systemctl is a shell's echo."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("systemctl", "journalctl"):
        (programs / name).write_text('#!/bin/sh\necho "$@"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(command, "SYSTEMD_RUNS", tmp_path)
    work, cache = tmp_path / "work", tmp_path / "cache" / "demo"
    work.mkdir()
    cache.mkdir(parents=True)
    monkeypatch.chdir(work)
    return host_tools({"demo": cache}, [tmp_path], now=lambda: 0)


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_a_command_in_an_argument_stays_text(tools: list[Tool], tmp_path: Path, payload: str) -> None:
    called = 0
    for tool in tools:
        assert tool.call is not None
        for argument in cast("dict[str, object]", tool.schema["properties"]):
            others: dict[str, object] = {} if argument in ("name", "path", "unit") else {"name": "demo"}
            for args in ({argument: payload}, {argument: f"{tmp_path}/{payload}"}, {"path": f"{tmp_path}/{payload}"}):
                called += 1
                with suppress(BadArguments, ToolFailed):
                    await tool.call(tool.validate({**others, **args}))
    assert called > 20
    assert list((tmp_path / "work").iterdir()) == []
    assert {one.name for one in tmp_path.iterdir()} == {"bin", "work", "cache"}
