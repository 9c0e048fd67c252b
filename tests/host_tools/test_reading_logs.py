"""The end of a log, from the directories that may be read and from nowhere else."""

import os
from pathlib import Path
from typing import cast

import pytest

from bot.tools.declare import BadArguments, ToolFailed
from bot.tools.host import host_tools, logs


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    directory = tmp_path / "log"
    (directory / "app").mkdir(parents=True)
    (directory / "app" / "a.log").write_text("".join(f"line {n}\n" for n in range(100)))
    (tmp_path / "secret").write_text("password\n")
    (tmp_path / "log-old").mkdir()
    (tmp_path / "log-old" / "a.log").write_text("old\n")
    return directory


async def tail(log_dir: Path, **args: object) -> list[str]:
    tool = next(one for one in host_tools({}, [log_dir], now=lambda: 0) if one.name == "host.log_tail")
    assert tool.call is not None
    said = cast("dict[str, object]", await tool.call(tool.validate(args)))
    return cast("list[str]", said["lines"])


async def test_the_last_lines_are_read(log_dir: Path) -> None:
    assert await tail(log_dir, path=str(log_dir / "app/a.log"), lines=2) == ["line 98", "line 99"]


async def test_a_file_elsewhere_is_refused_however_it_is_named(log_dir: Path, tmp_path: Path) -> None:
    (log_dir / "link").symlink_to(tmp_path / "secret")
    (log_dir / "up").symlink_to(tmp_path)
    for path in (
        tmp_path / "secret",
        tmp_path / "log-old/a.log",
        log_dir / "../secret",
        log_dir / "link",
        log_dir / "up/secret",
        log_dir,
        Path("/etc/passwd"),
        Path("/proc/self/environ"),
    ):
        with pytest.raises(ToolFailed, match=r"(not in a directory|not a regular file)"):
            await tail(log_dir, path=str(path))


async def test_a_link_that_stays_inside_is_fine(log_dir: Path) -> None:
    (log_dir / "current.log").symlink_to("app/a.log")
    assert await tail(log_dir, path=str(log_dir / "current.log"), lines=1) == ["line 99"]


async def test_a_link_put_in_place_after_the_check_is_refused(
    log_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (log_dir / "fresh.log").symlink_to(tmp_path / "secret")
    monkeypatch.setattr(os.path, "realpath", os.path.normpath)  # as if it had been a plain file a moment ago
    with pytest.raises(ToolFailed, match="Cannot read"):
        await tail(log_dir, path=str(log_dir / "fresh.log"))


async def test_a_pipe_cannot_hold_the_service_up(log_dir: Path) -> None:
    os.mkfifo(log_dir / "pipe")
    with pytest.raises(ToolFailed, match="not a regular file"):
        await tail(log_dir, path=str(log_dir / "pipe"))


async def test_a_huge_file_and_a_huge_line_are_bounded(log_dir: Path) -> None:
    with (log_dir / "big.log").open("wb") as file:
        file.truncate(3_000_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + b"\xff" * 10_000 + b"\nlast\n")
    lines = await tail(log_dir, path=str(log_dir / "big.log"), lines=200)
    assert lines[-1] == "last"
    assert max(len(line) for line in lines) <= logs.MAX_LINE + 1


async def test_without_any_directory_no_file_is_read(log_dir: Path) -> None:
    tool = next(one for one in host_tools({}, [], now=lambda: 0) if one.name == "host.log_tail")
    assert tool.call is not None
    with pytest.raises(ToolFailed, match="not in a directory"):
        await tool.call(tool.validate({"path": str(log_dir / "app/a.log")}))


@pytest.mark.parametrize("args", [{}, {"path": "/var/log/a", "unit": "nginx"}])
async def test_either_a_path_or_a_unit(log_dir: Path, args: dict[str, object]) -> None:
    with pytest.raises(ToolFailed, match="either"):
        await tail(log_dir, **args)


@pytest.mark.parametrize("lines", [0, -1, 201, 10**30])
async def test_the_number_of_lines_is_bounded(log_dir: Path, lines: int) -> None:
    with pytest.raises(BadArguments, match="lines"):
        await tail(log_dir, path=str(log_dir / "app/a.log"), lines=lines)
