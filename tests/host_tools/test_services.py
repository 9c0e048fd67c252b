"""Services through the real subprocess path, with a `systemctl` that writes down how it was called."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from bot.tools.declare import BadArguments, ToolFailed
from bot.tools.host import command, host_tools

PROGRAM = """#!{python} -S
import json, os, sys
with open({record!r}, "a") as file:
    print(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]), file=file)
if "restart" in sys.argv:
    if "broken.service" in sys.argv:
        sys.exit("Job for broken.service failed.\\nSee the log.")
elif "show" in sys.argv:
    print("LoadState=" + ("not-found" if "nobody.service" in sys.argv else "loaded"))
    print("ActiveState=failed\\nSubState=dead")
else:
    print("2027-01-15T08:00:00+00:00 host app: out of disk")
"""


class Systemd:
    """A machine that seems to run systemd, and the calls that were made to it."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.record = directory / "calls"
        programs = directory / "bin"
        programs.mkdir()
        for name in ("systemctl", "journalctl"):
            file = programs / name
            file.write_text(PROGRAM.format(python=sys.executable, record=str(self.record)))
            file.chmod(0o755)
        monkeypatch.setenv("PATH", str(programs))
        monkeypatch.setattr(command, "SYSTEMD_RUNS", directory)

    def calls(self) -> list[list[str]]:
        if not self.record.exists():
            return []
        return [cast("list[str]", json.loads(line)) for line in self.record.read_text().splitlines()]


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Systemd:
    return Systemd(tmp_path, monkeypatch)


async def run(name: str, /, **args: object) -> dict[str, object]:
    tool = next(one for one in host_tools({}, now=lambda: 0) if one.name == name)
    assert tool.call is not None
    return cast("dict[str, object]", await tool.call(tool.validate(args)))


async def test_the_state_of_a_service_is_read(systemd: Systemd) -> None:
    assert await run("host.service_state", name="nginx") == {"service": "nginx", "state": "failed", "detail": "dead"}
    assert systemd.calls()[0][-2:] == ["--", "nginx.service"]


async def test_a_service_that_is_not_there_is_unknown(systemd: Systemd) -> None:
    said = await run("host.service_state", name="nobody")
    assert (said["state"], said["detail"]) == ("unknown", "There is no service of this name here.")


async def test_restarting_says_the_state_afterwards(systemd: Systemd) -> None:
    assert (await run("host.restart_service", name="nginx"))["state"] == "failed"
    assert [call[1] for call in systemd.calls()] == ["restart", "show"]


async def test_a_restart_that_fails_says_why_in_one_line(systemd: Systemd) -> None:
    with pytest.raises(ToolFailed) as failed:
        await run("host.restart_service", name="broken")
    assert str(failed.value) == 'The service "broken" was not restarted: Job for broken.service failed.'


async def test_the_journal_of_a_service_is_read(systemd: Systemd) -> None:
    said = await run("host.log_tail", unit="nginx", lines=3)
    assert said["lines"] == ["2027-01-15T08:00:00+00:00 host app: out of disk"]
    assert {"--lines=3", "--unit=nginx.service"} <= set(systemd.calls()[0])


@pytest.mark.parametrize("name", ["poweroff.target", "reboot.target", "sshd.socket", "user.slice"])
async def test_no_name_reaches_anything_but_a_service(systemd: Systemd, name: str) -> None:
    await run("host.restart_service", name=name)
    assert {call[-1] for call in systemd.calls()} == {f"{name}.service"}


@pytest.mark.parametrize(
    "name",
    ["", "-a", "--force", "a b", "*", "a*", "a/b", "a\n", "a\0b", "a;b", "$(touch x)", "`touch x`", "ä", "x" * 200],
)
async def test_a_name_that_is_none_is_refused_and_nothing_runs(systemd: Systemd, name: str) -> None:
    for tool, argument in (
        ("host.service_state", "name"),
        ("host.restart_service", "name"),
        ("host.log_tail", "unit"),
    ):
        with pytest.raises(BadArguments):
            await run(tool, **{argument: name})
    assert systemd.calls() == []


async def test_without_a_service_manager_looking_says_so_and_acting_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SYSTEMD_RUNS", tmp_path / "gone")
    said = await run("host.service_state", name="nginx")
    assert (said["state"], said["detail"]) == ("unknown", "There is no service manager here.")
    for tool, args in (("host.restart_service", {"name": "nginx"}), ("host.log_tail", {"unit": "nginx"})):
        with pytest.raises(ToolFailed, match="no service manager here"):
            await run(tool, **args)


async def test_a_program_that_does_not_end_is_stopped() -> None:
    with pytest.raises(ToolFailed, match="was stopped"):
        await command.run(sys.executable, "-S", "-c", "import time; time.sleep(600)", seconds=0.05)


@pytest.mark.parametrize("turns", [2, 3, 4, 5, 6, 20])
async def test_a_call_that_is_cancelled_at_any_moment_takes_the_program_and_its_children_with_it(
    tmp_path: Path, turns: int
) -> None:
    child = tmp_path / "child"
    script = (
        "import os, sys, time\n"
        "pid = os.fork()\n"
        "if pid:\n"
        "    open(sys.argv[1] + '~', 'w').write(str(pid))\n"
        "    os.rename(sys.argv[1] + '~', sys.argv[1])\n"
        "time.sleep(600)\n"
    )
    running = asyncio.ensure_future(command.run(sys.executable, "-S", "-c", script, str(child), seconds=600))
    for _ in range(turns):
        await asyncio.sleep(0)
    while not child.exists():  # our own loop stands still meanwhile: it is this far with the start and no further
        time.sleep(0.01)  # noqa: ASYNC251
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    # The system takes a moment; a child that is never stopped lets the test time out.
    while alive(int(child.read_text())):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)


async def test_a_child_that_outlives_a_program_ends_with_the_call() -> None:
    script = (
        "import os, sys, time\n"
        "pid = os.fork()\n"
        "if pid:\n"
        "    sys.exit(str(pid))\n"
        "os.dup2(os.open(os.devnull, os.O_RDWR), 1)\n"
        "os.dup2(1, 2)\n"
        "time.sleep(600)\n"
    )
    done = await command.run(sys.executable, "-S", "-c", script, seconds=30)
    while alive(int(done.err)):  # noqa: ASYNC110 - another process, which the system takes a moment to end
        await asyncio.sleep(0.01)


async def test_a_program_that_writes_without_end_is_bounded(tmp_path: Path) -> None:
    script = "import sys\nfor n in range(200000): print(n)\nsys.exit(3)"
    done = await command.run(sys.executable, "-S", "-c", script, seconds=30)
    assert done.code == 3
    assert len(done.out) <= command.KEPT_BYTES
    assert done.out.endswith("199999\n")


async def test_no_shell_reads_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["$(touch x)", "`touch x`", "; touch x", "a  b", "*", '"', "'", "\n", ""]
    done = await command.run(sys.executable, "-S", "-c", "import sys; print(sys.argv[1:])", *arguments, seconds=30)
    assert done.out == f"{arguments}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[None]:
    """Something stands on our own standard input."""
    (tmp_path / "typed").write_text("typed")
    kept = os.dup(0)
    with (tmp_path / "typed").open() as file:
        os.dup2(file.fileno(), 0)
    yield
    os.dup2(kept, 0)
    os.close(kept)


@pytest.mark.usefixtures("typed")
async def test_a_program_sees_neither_our_secrets_nor_our_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_SLACK__BOT_TOKEN", "secret")
    script = "import os,sys; print(sorted(os.environ), repr(sys.stdin.read()))"
    done = await command.run(sys.executable, "-S", "-c", script, seconds=30)
    assert "CASEBOUND" not in done.out
    assert done.out.rstrip().endswith("''")


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_check_for_life_can_tell() -> None:
    assert alive(os.getpid())
    assert not alive(2**22 + 1)
