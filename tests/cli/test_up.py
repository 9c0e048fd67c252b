"""`casebound up`: the first screen, from the line it prints to a case that is resolved, and how it ends."""

import asyncio
import json
import re
import shlex
import shutil
import signal
import stat
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, call
from tests.cli.services import Up, eventually, json_of
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer

pytestmark = pytest.mark.timeout(240)

Start = Callable[..., Up]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the service in the test's folder; it ends with the test."""
    started: list[Up] = []

    def up(*arguments: str, **more: str) -> Up:
        started.append(Up(tmp_path, *arguments, **more))
        return started[-1]

    yield up
    for one in started:
        if one.process.poll() is None:
            one.kill()


def _curl(said: str) -> str:
    return next(line for line in said.splitlines() if line.startswith("curl "))


def _starts(said: str) -> str:
    words = shlex.split(_curl(said))
    return json.loads(words[words.index("-d") + 1])["alerts"][0]["startsAt"]


def _run_in_a_shell(line: str, **more: str) -> str:
    """Paste it; where there is no curl, do what it would do with the same words."""
    if shutil.which("curl"):
        ended = subprocess.run(
            ["sh", "-c", line], env={"PATH": "/usr/bin:/bin", **more}, text=True, capture_output=True, timeout=30,
            check=True,
        )  # fmt: skip
        return ended.stdout
    words = [re.sub(r"\$(\w+)", lambda name: more[name[1]], word) for word in shlex.split(line)]
    headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
    request = urllib.request.Request(words[-1], words[words.index("-d") + 1].encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def test_the_first_screen_leads_from_an_alert_to_a_resolved_case(start: Start, tmp_path: Path) -> None:
    """R1, R9, R16, R18: with nothing configured, by pasting what is printed."""
    up = start()
    assert f"database  {tmp_path / 'casebound.db'}, new" in up.said
    assert "accepted from this machine only, as no [alerts] token is set" in up.said
    token = tmp_path / "casebound.db.token"
    assert str(token) in up.said
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert token.read_text().strip() not in up.said + up.log
    cache = tmp_path / "casebound.db.demo-cache"
    assert len([path for path in cache.rglob("*") if path.is_file()]) == 4

    typed = [line for line in up.said.splitlines() if " -m bot " in line]
    assert [line.split(" -m bot ")[1] for line in typed] == ["gate list", "gate approve 1", "case show C-1001"]

    assert '"C-1001"' in _run_in_a_shell(_curl(up.said))
    listed = eventually(lambda: json_of(tmp_path, "gate", "list"), lambda found: bool(found["gates"]))
    gate = listed["gates"][0]
    assert (gate["id"], gate["case"], gate["tool"], gate["state"]) == (1, "C-1001", "host.clear_cache", "open")
    assert " % full" in gate["because"], "the real disk was looked at"

    for line in typed[1:2]:  # as it stands there
        pasted = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, text=True, capture_output=True, check=True
        )
        assert pasted.stdout.startswith("Approved: Clear the cache")
        assert f"casebound up (pid {up.process.pid}) goes on with it now." in pasted.stdout

    eventually(lambda: json_of(tmp_path, "case", "show", "C-1001"), lambda case: case["state"] == "resolved")
    assert [path for path in cache.rglob("*") if path.is_file()] == []
    told = call(tmp_path, "case", "show", "C-1001").out
    for words in (
        "operator approved gate 1 via the command line",
        "host.clear_cache(",
        "removed_files 4",
        "assistant resolved",
    ):
        assert words in told
    assert json_of(tmp_path, "trail", "verify", "C-1001")["ok"] is True
    runs = json_of(tmp_path, "run", "list")["runs"]
    assert sorted(run["outcome"] for run in runs) == ["answered", "parked"]
    record = json_of(tmp_path, "run", "show", str(runs[0]["id"]))
    cleared = next(step for step in record["steps"] if step.get("tool") == "host.clear_cache")
    assert (cleared["gate_id"], cleared["result"]["kind"]) == (1, "ok")
    assert json_of(tmp_path, "db", "check")["ok"] is True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_ends_in_order(start: Start, number: int) -> None:
    up = start()
    ended = up.end(number)
    assert ended.code == 0
    assert ended.out.strip() == "", "nothing but what it printed at the start"
    assert "service.stopped" in ended.err
    assert "Traceback" not in ended.err
    assert " ERROR " not in ended.err
    assert call(up.folder, "db", "check").code == 0


def test_told_twice_it_ends_at_once(start: Start) -> None:
    up = start()
    up.process.send_signal(signal.SIGSTOP)  # so that both are there when it looks
    up.process.send_signal(signal.SIGTERM)
    up.process.send_signal(signal.SIGINT)
    ended = up.end(signal.SIGCONT)
    assert ended.code in (128 + signal.SIGTERM, 128 + signal.SIGINT)
    assert "service.stopped" not in ended.err


def test_an_existing_file_is_continued_and_says_what_waits(start: Start, tmp_path: Path) -> None:
    first = start()
    _run_in_a_shell(_curl(first.said))
    eventually(lambda: json_of(tmp_path, "gate", "list"), lambda found: bool(found["gates"]))
    assert first.end().code == 0
    again = start()
    assert "casebound.db, continued: 1 open case, 1 waiting for a decision" in again.said
    assert "curl " not in again.said, "who has cases has seen it work"
    typed = [line.split(" -m bot ")[1] for line in again.said.splitlines() if " -m bot " in line]
    assert typed == ["gate list", "case list"]


def test_until_there_is_a_case_each_start_says_how_to_see_it_work(start: Start) -> None:
    first = start()
    assert first.end().code == 0
    again = start()
    assert "casebound.db, continued: 0 open cases, none waiting for a decision" in again.said
    assert _starts(again.said) > _starts(first.said), "each start's alert is another episode"


def test_a_second_service_on_the_file_is_refused_naming_the_first(start: Start, tmp_path: Path) -> None:
    up = start()
    refused = call(tmp_path, "up", "--port", "0").line
    assert refused.startswith(f"casebound.db is already served by casebound up (pid {up.process.pid}).")
    assert up.process.poll() is None


def test_what_is_to_be_typed_names_the_file_and_the_settings_that_were_given(start: Start, tmp_path: Path) -> None:
    (tmp_path / "my settings.toml").write_text('[alerts]\ntoken = "let-me-in"\n')
    up = start("--db", "other.db", "--config", "my settings.toml")
    assert f"database  {tmp_path / 'other.db'}, new" in up.said
    assert "gate list --db other.db --config 'my settings.toml'" in up.said
    assert "accepted with the [alerts] token" in up.said
    assert "let-me-in" not in up.said + up.log
    assert '"error"' in _run_in_a_shell(_curl(up.said), CASEBOUND_ALERTS__TOKEN="wrong")
    assert "C-1001" in _run_in_a_shell(_curl(up.said), CASEBOUND_ALERTS__TOKEN="let-me-in")


def test_it_answers_where_it_says_that_it_listens(start: Start) -> None:
    up = start("--host", "localhost")
    with urllib.request.urlopen(f"{up.url}/healthz", timeout=30) as answer:
        assert answer.status == 200


async def test_it_says_who_can_approve_on_each_channel_before_the_first_gate(start: Start, tmp_path: Path) -> None:
    async with SlackServer() as slack:
        (tmp_path / "casebound.toml").write_text(
            f'[slack]\nbot_token = "{BOT_TOKEN}"\napp_token = "{APP_TOKEN}"\n'
            f'teams = ["T012"]\napi_url = "{slack.api_url}"\n'
        )
        first = await asyncio.to_thread(start)
        assert re.search(r"^  slack +nobody can approve there yet; .* doctor$", first.said, re.MULTILINE)
        await asyncio.to_thread(first.end)
        for arguments in (("add", "robin", "--role", "operator"), ("bind", "robin", "slack:T012/U345")):
            assert (await asyncio.to_thread(call, tmp_path, "principal", *arguments)).code == 0
        again = await asyncio.to_thread(start)
        assert re.search(r"^  slack +robin can approve there$", again.said, re.MULTILINE)
