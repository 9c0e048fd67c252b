"""Clearing a cache: a directory that the settings name, and never a path that somebody sent."""

import asyncio
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.tools.declare import BadDeclaration, Tool, ToolFailed, declare
from bot.tools.host.beneath import DIRECTORY, open_beneath
from bot.tools.host.read import Pace, failed, quoted, this_host
from casestore.states import Tier

DAY_MS = 86_400_000
MAX_SECONDS = 90.0
MAX_DEPTH = 50  # each level holds two descriptors open


def tool(caches: Mapping[str, Path], now: Callable[[], int]) -> Tool:
    """`host.clear_cache` for the named directories. The description names them, so that an approval does not
    outlive a change of the settings (R9). Raises `BadDeclaration` for a directory nobody should empty."""
    for name, directory in caches.items():
        if not directory.is_absolute() or ".." in directory.parts or len(directory.parts) < 3:
            raise BadDeclaration(f"Cache {name!r}: {directory} has to be absolute and two levels deep.")
        if directory == Path.home():
            raise BadDeclaration(f"Cache {name!r}: {directory} is a home directory.")
    known = ", ".join(f"{quoted(name)} ({directory})" for name, directory in sorted(caches.items()))

    def one_of(name: str) -> str:
        if name not in caches:
            raise ValueError(f"there is no cache {quoted(name)} here; known are {', '.join(sorted(caches))}")
        return name

    what = Field(description=f"The name of a cache. Known: {known}.")
    age = Field(ge=0, le=3650, description="Only files written at least that many days ago; 0 for all.")

    async def clear_cache(
        name: Annotated[str, what, AfterValidator(one_of)], older_than_days: Annotated[int, age] = 0
    ) -> dict[str, object]:
        """Described below, with the names that are known here."""
        if name not in caches:
            raise ToolFailed(f"There is no cache {quoted(name)} here.")
        before = None if older_than_days == 0 else now() - older_than_days * DAY_MS
        return await clear(name, caches[name], before)

    return declare(
        clear_cache,
        name="host.clear_cache",
        description=f"Delete the files in a named cache directory of this machine. Known caches: {known}.",
        statement=f"Clear the cache {{name}} on this host, {this_host()} (files {{older_than_days}} or more days old)",
        tier=Tier.CONSEQUENTIAL,
        timeout_ms=120_000,
        may_change={"older_than_days"},
    )


async def clear(name: str, directory: Path, before: int | None) -> dict[str, object]:
    """Delete the regular files below a directory, last written before a time (milliseconds UTC; None: all).

    Links, sockets, other filesystems and the directories themselves are left alone. Every part is opened
    relative to the one above without following links: none, however quickly it is put there, leads out.
    """
    limit_ns = None if before is None else before * 1_000_000
    removed = freed = kept = 0
    pace, complete = Pace(), True
    branch = [_Level(_open_top(name, directory))]
    device = os.fstat(branch[0].descriptor).st_dev
    try:
        async with asyncio.timeout(MAX_SECONDS):
            while branch:
                level = branch[-1]
                entry = next(level.entries, None)
                if entry is None:
                    branch.pop().close()
                    continue
                await pace.step()
                try:
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(found.st_mode) and found.st_dev == device:
                        if len(branch) < MAX_DEPTH:
                            branch.append(_Level(os.open(entry.name, DIRECTORY, dir_fd=level.descriptor)))
                        else:
                            kept += 1
                    elif stat.S_ISREG(found.st_mode) and (limit_ns is None or found.st_mtime_ns <= limit_ns):
                        os.unlink(entry.name, dir_fd=level.descriptor)
                        removed += 1
                        freed += found.st_size if found.st_nlink == 1 else 0
                except FileNotFoundError:
                    continue  # somebody else was quicker
                except OSError:
                    kept += 1
    except TimeoutError:
        complete = False
    finally:
        for level in branch:
            level.close()
    return {
        "name": name,
        "removed_files": removed,
        "freed_bytes": freed,
        "freed_mb": round(freed / 1e6, 1),
        "could_not_remove": kept,
        "complete": complete,
    }


class _Level:
    """One open directory on the way down, and what is still to be looked at in it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        try:
            self.entries = os.scandir(descriptor)
        except OSError:
            os.close(descriptor)
            raise

    def close(self) -> None:
        self.entries.close()
        os.close(self.descriptor)


def _open_top(name: str, directory: Path) -> int:
    try:
        return open_beneath("/", directory.parts[1:], DIRECTORY)
    except OSError as error:
        where = f"{directory} cannot be opened (links are not followed)"
        raise failed(f"The cache {quoted(name)} was not cleared, {where}", error) from None
