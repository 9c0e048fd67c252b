"""Looking at the real machine: true numbers, bounded work, no links followed, clear sentences."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import cast

import psutil
import pytest

from bot.tools.declare import Tool, ToolFailed
from bot.tools.host import disk, host_tools
from casestore.states import Tier

KIB = 1024


def tool(name: str) -> Tool:
    return next(one for one in host_tools({"demo": Path("/var/cache/demo")}, now=lambda: 0) if one.name == name)


async def run(name: str, /, **args: object) -> dict[str, object]:
    found = tool(name)
    assert found.call is not None
    return cast("dict[str, object]", await found.call(found.validate(args)))


def test_looking_is_read_only_and_changing_is_consequential() -> None:
    tiers = {one.name: one.tier for one in host_tools({"demo": Path("/var/cache/demo")}, now=lambda: 0)}
    assert {name for name, tier in tiers.items() if tier is Tier.CONSEQUENTIAL} == {
        "host.restart_service",
        "host.clear_cache",
    }
    assert {tier for name, tier in tiers.items() if name not in {"host.restart_service", "host.clear_cache"}} == {
        Tier.READ_ONLY
    }


def test_without_a_configured_cache_there_is_nothing_to_clear() -> None:
    assert "host.clear_cache" not in {one.name for one in host_tools({}, now=lambda: 0)}


async def test_disk_usage_tells_the_size_of_the_real_disk(tmp_path: Path) -> None:
    said = await run("host.disk_usage", path=str(tmp_path))
    assert said["total_gb"] == round(shutil.disk_usage(tmp_path).total / 1e9, 1)
    assert said["path"] == str(tmp_path)
    assert 0 <= cast("float", said["percent"]) <= 100


@pytest.mark.parametrize("path", ["", "var", "./x", "-h", "/\0", "/" + "x" * 5000, "/no/such/place"])
async def test_a_path_that_is_none_is_refused_in_one_sentence(path: str) -> None:
    for name in ("host.disk_usage", "host.largest_dirs"):
        with pytest.raises(ToolFailed, match=r"^[^\n]+\.$"):
            await run(name, path=path)


def write(file: Path, kib: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(os.urandom(kib * KIB))


async def test_the_largest_directories_come_first_and_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "top/small/a", 64)
    write(tmp_path / "top/large/one/a", 256)
    write(tmp_path / "top/large/two/a", 192)
    write(tmp_path / "elsewhere/huge", 2048)
    (tmp_path / "top/small/link").symlink_to(tmp_path / "elsewhere")
    found = await disk.measure(str(tmp_path / "top"), 5)
    names = [Path(cast("str", one["path"])).name for one in cast("list[dict[str, object]]", found["dirs"])]
    assert names == ["large", "one", "two", "small"]
    assert found["complete"] is True


async def test_a_parent_that_is_large_because_of_one_child_is_not_listed_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "var/lib/a", 512)
    found = await disk.measure(str(tmp_path), 5)
    assert [one["path"] for one in cast("list[dict[str, object]]", found["dirs"])] == [str(tmp_path / "var/lib")]


async def test_a_file_with_two_names_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "gigabytes", lambda size: int(size) // KIB)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    write(tmp_path / "a/file", 512)
    for number in range(4):
        os.link(tmp_path / "a/file", tmp_path / f"a/again-{number}")
    found = await disk.measure(str(tmp_path), 1)
    assert 512 <= cast("list[dict[str, int]]", found["dirs"])[0]["gb"] < 1024


async def test_a_link_given_as_the_path_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr")
    with pytest.raises(ToolFailed, match="links are not followed"):
        await run("host.largest_dirs", path=str(tmp_path / "link"))


async def test_a_walk_is_bounded_in_entries_and_says_that_it_did_not_see_all(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"f{number}").touch()
    found = await disk.measure(str(tmp_path), 5, max_entries=20)
    assert (found["complete"], found["looked_at"]) == (False, 20)


async def test_a_walk_is_bounded_in_time(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"f{number}").touch()
    found = await disk.measure(str(tmp_path), 5, max_seconds=0)
    assert found["complete"] is False
    assert cast("int", found["looked_at"]) < 1000


async def test_others_run_while_a_large_directory_is_walked(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"f{number}").touch()
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(other())
    await disk.measure(str(tmp_path), 5)
    beside.cancel()
    assert turns >= 5


async def test_memory_and_load_are_those_of_this_machine() -> None:
    memory, load = await run("host.memory"), await run("host.load")
    assert cast("float", memory["total_gb"]) >= cast("float", memory["available_gb"]) > 0
    assert load["cpus"] == os.cpu_count()
    assert cast("float", load["load_1m"]) >= 0


async def test_processes_are_sorted_bounded_and_shown_without_their_arguments() -> None:
    said = await run("host.processes", by="memory", limit=20)
    rows = cast("list[dict[str, object]]", said["processes"])
    sizes = [cast("int", row["memory_mb"]) for row in rows]
    assert 0 < len(rows) <= 20
    assert sizes == sorted(sizes, reverse=True)
    assert {key for row in rows for key in row} == {"pid", "name", "cpu_percent", "memory_mb"}
    own = psutil.Process().memory_info().rss / 1e6
    assert sizes[0] >= round(own) - 5  # the first is the largest, so it is not smaller than we are
    assert cast("int", said["count"]) >= len(rows)
