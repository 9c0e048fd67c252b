"""Clearing a cache deletes the files of one configured directory, and nothing else, whatever lies in it."""

import asyncio
import os
import platform
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from bot.tools.declare import BadArguments, BadDeclaration, Tool, ToolFailed
from bot.tools.host import host_tools

DAY = 86_400
NOW = 1_800_000_000


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with two files, 30 bytes in all, one of them two directories down."""
    directory = tmp_path / "caches" / "thumbs"
    (directory / "a" / "b").mkdir(parents=True)
    (directory / "one").write_bytes(b"1" * 10)
    (directory / "a" / "b" / "two").write_bytes(b"2" * 20)
    return directory


def clearing(caches: Mapping[str, Path]) -> Tool:
    return next(one for one in host_tools(caches, now=lambda: NOW * 1000) if one.name == "host.clear_cache")


async def clear(caches: Mapping[str, Path], name: str = "thumbs", days: int = 0) -> dict[str, object]:
    tool = clearing(caches)
    assert tool.call is not None
    return cast("dict[str, object]", await tool.call(tool.validate({"name": name, "older_than_days": days})))


async def test_all_files_go_and_the_directories_stay(cache: Path) -> None:
    said = await clear({"thumbs": cache})
    assert (said["removed_files"], said["freed_bytes"], said["complete"]) == (2, 30, True)
    assert sorted(str(one.relative_to(cache)) for one in cache.rglob("*")) == ["a", "a/b"]


async def test_only_files_that_are_old_enough_go(cache: Path) -> None:
    for name, age in (("one", 7 * DAY), ("a/b/two", 7 * DAY - 1)):
        os.utime(cache / name, (NOW - age, NOW - age))
    said = await clear({"thumbs": cache}, days=7)
    assert said["removed_files"] == 1
    assert not (cache / "one").exists()
    assert (cache / "a/b/two").exists()


async def test_links_inside_are_neither_followed_nor_removed(cache: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("keep me")
    (cache / "directory").symlink_to(outside)
    (cache / "file").symlink_to(outside / "precious")
    (cache / "up").symlink_to("../..")
    said = await clear({"thumbs": cache})
    assert (outside / "precious").read_text() == "keep me"
    assert said["removed_files"] == 2
    assert (cache / "directory").is_symlink()
    assert (cache / "file").is_symlink()


async def test_a_file_with_a_second_name_is_kept_there_and_frees_nothing(cache: Path, tmp_path: Path) -> None:
    os.link(cache / "one", tmp_path / "one")
    said = await clear({"thumbs": cache})
    assert (tmp_path / "one").read_bytes() == b"1" * 10
    assert said["freed_bytes"] == 20


async def test_sockets_and_pipes_stay(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(cache / "pipe")
    monkeypatch.chdir(cache)  # a socket's path may only be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        await clear({"thumbs": cache})
    assert {one.name for one in cache.iterdir()} == {"a", "pipe", "socket"}


async def test_a_cache_that_is_a_link_or_lies_behind_one_is_refused(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(cache)
    (tmp_path / "above").symlink_to(cache.parent)
    for directory in (tmp_path / "link", tmp_path / "above" / "thumbs"):
        with pytest.raises(ToolFailed, match="links are not followed"):
            await clear({"thumbs": directory})
    assert (cache / "one").exists()


async def test_a_directory_swapped_for_a_link_while_we_walk_leads_nowhere(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "two").write_text("keep me")
    really_open = os.open

    def swap_then_open(path: str, flags: int, *more: int, dir_fd: int | None = None) -> int:
        if path == "b":
            (cache / "a" / "b").rename(cache / "a" / "moved")
            (cache / "a" / "b").symlink_to(outside)
        return really_open(path, flags, *more, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap_then_open)
    await clear({"thumbs": cache})
    assert (outside / "two").read_text() == "keep me"


@pytest.mark.parametrize("name", ["other", "", "../thumbs", "/etc", "thumbs/a", "Thumbs", "$(touch x)", "thumbs\0"])
async def test_a_name_that_is_not_configured_is_refused_before_anybody_is_asked(cache: Path, name: str) -> None:
    with pytest.raises(BadArguments, match=r"there is no cache .* known are thumbs"):
        clearing({"thumbs": cache}).validate({"name": name})
    assert (cache / "one").exists()


async def test_a_cache_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="No such file or directory"):
        await clear({"thumbs": tmp_path / "gone"})


@pytest.mark.parametrize("directory", ["/", "/etc", "relative/cache", "/var/../etc/x"])
def test_a_directory_nobody_should_empty_is_refused_when_the_service_starts(directory: str) -> None:
    with pytest.raises(BadDeclaration):
        clearing({"thumbs": Path(directory)})


def test_the_home_directory_is_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BadDeclaration, match="home"):
        clearing({"thumbs": tmp_path})


def test_an_approval_does_not_outlive_a_change_of_the_directory(tmp_path: Path) -> None:
    before, after = clearing({"thumbs": tmp_path / "a"}), clearing({"thumbs": tmp_path / "b"})
    assert before.version != after.version


async def test_clearing_again_finds_nothing(cache: Path) -> None:
    await clear({"thumbs": cache})
    again = await clear({"thumbs": cache})
    assert (again["removed_files"], again["freed_bytes"]) == (0, 0)


async def test_what_cannot_be_removed_is_counted_and_the_rest_goes_on(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_unlink = os.unlink

    def refuse_one(path: str, *, dir_fd: int | None = None) -> None:
        if path == "one":
            raise PermissionError(1, "Operation not permitted")
        really_unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", refuse_one)
    said = await clear({"thumbs": cache})
    assert (said["removed_files"], said["could_not_remove"]) == (1, 1)


async def test_a_very_deep_tree_ends_and_leaves_no_descriptor_open(cache: Path) -> None:
    deep = cache
    for _ in range(70):
        deep = deep / "d"
        deep.mkdir()
    (deep / "bottom").write_text("x")
    before = len(os.listdir("/proc/self/fd"))
    said = await clear({"thumbs": cache})
    assert said["could_not_remove"] == 1
    assert len(os.listdir("/proc/self/fd")) == before


async def test_others_run_meanwhile_and_a_cancelled_call_leaves_no_descriptor_open(cache: Path) -> None:
    for number in range(1000):
        (cache / f"f{number}").touch()
    before = len(os.listdir("/proc/self/fd"))
    work = asyncio.ensure_future(clear({"thumbs": cache}))
    for _ in range(3):
        await asyncio.sleep(0)
    assert 0 < len(list(cache.iterdir())) < 1000
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert len(os.listdir("/proc/self/fd")) == before


async def test_the_statement_names_the_cache_and_the_age(cache: Path) -> None:
    tool = clearing({"thumbs": cache})
    said = tool.restate(tool.validate({"name": "thumbs", "older_than_days": 7}))
    assert said == f'Clear the cache "thumbs" on this host, {platform.node()} (files 7 or more days old)'
    assert not tool.reversible
