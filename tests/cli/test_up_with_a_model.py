"""The lines of the README that put a model in place of the playbooks, typed as they stand there."""

import asyncio
import re
import shlex
import urllib.request
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, call
from tests.cli.services import Up, eventually, json_of
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import calls, words

pytestmark = pytest.mark.timeout(240)


def readme() -> str:
    """Its lines of settings, as they stand there."""
    found = re.search(r"```toml\n(\[model\]\n.+?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


async def test_with_the_two_lines_of_the_readme_a_model_works_an_alert_up_to_a_gate_and_beyond(tmp_path: Path) -> None:
    async with OpenAIServer() as server:
        server.key = "none"  # as a server of one's own, it asks for none
        there = readme().replace("http://127.0.0.1:11434/v1", server.base_url)
        assert server.base_url in there
        (tmp_path / "casebound.toml").write_text(there)
        server.then(
            calls(("host__disk_usage", "{}")),
            calls(("host__clear_cache", '{"name": "casebound-demo"}')),
            words("Cleared."),
        )
        await asyncio.to_thread(_work_an_alert, tmp_path, server.base_url)
        assert server.refused == []
        assert [body["model"] for body in server.sent] == ["qwen3"] * 3


def _work_an_alert(folder: Path, base_url: str) -> None:
    up = Up(folder)
    try:
        assert f"  model     openai:qwen3, at {base_url}/\n" in up.said
        assert "which openai:qwen3 works" in up.said
        _alert(up)
        gate = eventually(lambda: json_of(folder, "gate", "list"), lambda found: bool(found["gates"]))["gates"][0]
        assert gate["tool"] == "host.clear_cache"
        assert call(folder, "gate", "approve", str(gate["id"])).code == 0
        shown = eventually(lambda: call(folder, "case", "show", "C-1001").out, lambda out: "Cleared." in out)
        assert "operator approved gate 1 via the command line" in shown
        assert "host.disk_usage(" in shown
        run = json_of(folder, "run", "list")["runs"][0]
        assert (run["model"], run["outcome"]) == ("openai:qwen3", "answered")
    finally:
        up.kill()


def _alert(up: Up) -> None:
    """What the printed line for a shell does."""
    words = shlex.split(next(line for line in up.said.splitlines() if line.startswith("curl ")))
    body = words[words.index("-d") + 1].encode()
    request = urllib.request.Request(words[-1], body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert b"C-1001" in answer.read()


def test_a_model_that_is_named_without_its_key_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "casebound.toml").write_text('[model]\nname = "anthropic:claude-test"\n')
    assert "set CASEBOUND_MODEL__API_KEY" in call(tmp_path, "up", "--port", "0").line
