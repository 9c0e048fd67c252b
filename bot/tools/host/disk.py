"""How full a disk is, and which directories fill it."""

import asyncio
import os
import stat
from collections import deque
from collections.abc import Generator
from contextlib import closing
from typing import Annotated

import psutil
from pydantic import Field

from bot.tools.declare import Tool, ToolFailed, declare
from bot.tools.host.beneath import DIRECTORY
from bot.tools.host.read import Pace, absolute, failed, gigabytes, quoted, this_host
from casestore.states import Tier

MAX_ENTRIES = 200_000
MAX_SECONDS = 2.0
DEPTH = 2
DOMINATED = 0.8  # a directory most of which is one listed subdirectory says nothing of its own

Path = Annotated[str, Field(description="An absolute path.")]
Limit = Annotated[int, Field(ge=1, le=20, description="How many directories to list.")]


async def disk_usage(path: Path = "/") -> dict[str, object]:
    """Size, use and free space of the filesystem that holds a path."""
    where = absolute(path)
    try:
        usage = psutil.disk_usage(where)
    except OSError as error:
        raise failed(f"Cannot read the disk at {quoted(where)}", error) from None
    return {
        "host": this_host(),
        "path": where,
        "total_gb": gigabytes(usage.total),
        "used_gb": gigabytes(usage.used),
        "free_gb": gigabytes(usage.free),
        "percent": usage.percent,
    }


async def largest_dirs(path: Path = "/", limit: Limit = 5) -> dict[str, object]:
    """The largest directories below a path, two levels deep, on the same filesystem.

    Follows no links and looks for a bounded time only; `complete` says whether everything was seen.
    """
    return await measure(absolute(path), limit)


async def measure(
    path: str, limit: int, *, max_entries: int = MAX_ENTRIES, max_seconds: float = MAX_SECONDS
) -> dict[str, object]:
    """Walk breadth first, so that a walk cut short has seen something of every branch.

    Sizes are what the files take on disk; a file with several names counts once.
    """
    sizes: dict[str, int] = {}
    pending: deque[tuple[str, tuple[str, ...]]] = deque([(path, ())])
    seen: set[int] = set()
    device = _device(path)
    pace, unreadable, complete = Pace(), 0, True
    try:
        async with asyncio.timeout(max_seconds):
            while pending and complete:
                directory, counted_in = pending.popleft()
                with closing(_inside(directory)) as entries:
                    for name, found in entries:
                        if pace.steps >= max_entries:
                            complete = False
                            break
                        await pace.step()
                        if found is None:
                            unreadable += 1
                            continue
                        if found.st_dev != device or (found.st_nlink > 1 and found.st_ino in seen):
                            continue
                        inside = counted_in
                        if stat.S_ISDIR(found.st_mode):
                            where = os.path.join(directory, name)
                            inside = (*counted_in, where) if len(counted_in) < DEPTH else counted_in
                            pending.append((where, inside))
                        elif found.st_nlink > 1:
                            seen.add(found.st_ino)
                        for holder in inside:
                            sizes[holder] = sizes.get(holder, 0) + found.st_blocks * 512
    except TimeoutError:
        complete = False
    return {
        "path": path,
        "dirs": [{"path": name, "gb": gigabytes(size)} for name, size in _telling(sizes)[:limit]],
        "complete": complete,
        "looked_at": pace.steps,
        "unreadable": unreadable,
    }


def _inside(directory: str) -> Generator[tuple[str, os.stat_result | None]]:
    """The entries of one directory, without following links; None where the system refuses to tell."""
    try:
        descriptor = os.open(directory, DIRECTORY)
    except OSError:
        yield directory, None
        return
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                try:
                    yield entry.name, entry.stat(follow_symlinks=False)
                except OSError:
                    yield entry.name, None
    finally:
        os.close(descriptor)


def _device(path: str) -> int:
    try:
        found = os.lstat(path)
    except OSError as error:
        raise failed(f"Cannot read {quoted(path)}", error) from None
    if not stat.S_ISDIR(found.st_mode):
        raise ToolFailed(f"{quoted(path)} is not a directory; links are not followed.")
    return found.st_dev


def _telling(sizes: dict[str, int]) -> list[tuple[str, int]]:
    """Largest first, without the parents that are large only because of one child."""
    biggest_child: dict[str, int] = {}
    for name, size in sizes.items():
        parent = os.path.dirname(name)
        biggest_child[parent] = max(size, biggest_child.get(parent, 0))
    kept = [(n, s) for n, s in sizes.items() if biggest_child.get(n, 0) < DOMINATED * s or s == 0]
    return sorted(kept, key=lambda one: (-one[1], one[0]))


def tools() -> list[Tool]:
    """`host.disk_usage` and `host.largest_dirs`."""
    return [
        declare(
            disk_usage,
            name="host.disk_usage",
            statement="Read how full the disk at {path} on this host is",
            tier=Tier.READ_ONLY,
            reversible=True,
            idempotent=True,
        ),
        declare(
            largest_dirs,
            name="host.largest_dirs",
            statement="List the {limit} largest directories below {path} on this host",
            tier=Tier.READ_ONLY,
            reversible=True,
            idempotent=True,
        ),
    ]
