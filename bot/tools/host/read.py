"""What the tools of the machine share: sizes, quoted values, errors in words, a fair pace."""

import asyncio
import json
import os
import platform

from bot.tools.declare import ToolFailed

ENTRIES_PER_SLICE = 200


def this_host() -> str:
    """Which machine a tool acts on: an approver, who may read of another one in the alert, sees it (card.md)."""
    return platform.node() or "this machine"


def gigabytes(size: float) -> float:
    """Bytes as gigabytes (10^9), with one decimal."""
    return round(size / 1e9, 1)


def quoted(text: str) -> str:
    """A value inside a sentence: quoted, bounded, control characters spelled out."""
    return json.dumps(text if len(text) <= 200 else text[:200] + "…", ensure_ascii=False)


def failed(doing: str, error: OSError) -> ToolFailed:
    """The sentence for an operating-system error, such as `Cannot read "/x": Permission denied.`"""
    return ToolFailed(f"{doing}: {error.strerror or 'the system refused'}.")


def absolute(path: str) -> str:
    """The path, if it can be one; raises `ToolFailed`."""
    if not path.startswith("/") or "\0" in path or len(path) > 4096:
        raise ToolFailed(f"{quoted(path)} is not an absolute path; begin it with a slash.")
    return os.path.normpath(path)


class Pace:
    """Lets the event loop run after every slice of a long walk, which is also where a deadline can end it."""

    def __init__(self) -> None:
        self.steps = 0

    async def step(self) -> None:
        """Count one entry; every `ENTRIES_PER_SLICE` of them, let others run."""
        self.steps += 1
        if self.steps % ENTRIES_PER_SLICE == 0:
            await asyncio.sleep(0)
