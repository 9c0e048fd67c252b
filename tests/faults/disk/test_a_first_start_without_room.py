"""A first start on a full disk ends with one line that says what to do, and the next one with room goes on (R15)."""

from collections.abc import Generator
from pathlib import Path

import pytest

from bot import first_start
from tests.cli.services import Up
from tests.faults.disk.commands import Commands

LIMITS = {"lock": 0, "cache": 100_000, "header": 100, "shared memory": 5_000, "schema": 40_000, "WAL": 290_000}
"""Where a start stops that may write no file beyond so many bytes; from "header" on the practice cache is there."""

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def commands() -> Generator[Commands]:
    """The command, loaded once for all."""
    made = Commands()
    yield made
    made.end()


def test_whatever_it_has_no_room_for_it_says_to_make_room_and_the_next_goes_on(
    commands: Commands, tmp_path: Path
) -> None:
    for what, limit in LIMITS.items():
        if what == "header":
            first_start.fill_demo_cache(tmp_path / "casebound.db")
        said = commands(tmp_path, "up", "--port", "0", limit=limit).line
        assert "has room" in said or "Make room on its disk" in said, (what, said)
    up = Up(tmp_path)
    try:
        assert "casebound.db, new" in up.said, "nothing is continued"
        assert up.end().code == 0
    finally:
        up.kill()
    assert "is whole" in commands(tmp_path, "db", "check").out


@pytest.fixture
def disk(tmp_path: Path) -> Generator[tuple[Commands, Path]]:
    """A real disk of our own, 300 KiB large, where the machine allows one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        inside = Commands(inside=("unshare", "--user", "--map-root-user", "--mount"))
        may_mount = inside.mount(folder, "300k")
    except (OSError, ValueError):  # no such program, or it was refused
        pytest.skip("no disk can be mounted here")
    if not may_mount:
        inside.end()
        pytest.skip("no disk can be mounted here")
    yield inside, folder
    inside.end()


def test_on_a_real_disk_too(disk: tuple[Commands, Path]) -> None:
    commands, folder = disk
    for size in ("300k", "1000k", "1200k"):  # no room for the cache, for the schema, for the first checkpoint
        assert commands.mount(folder, size)
        said = commands(folder, "up", "--port", "0").line
        assert "No space left on device" in said or "disk is full" in said, size
        assert "room on its disk" in said, size
    assert commands.mount(folder, "10m")
    talked = commands(folder, "chat", stdin="hello\n")
    assert (talked.code, talked.err) == (0, "")
    assert "is whole" in commands(folder, "db", "check").out
