"""Where the time of a turn goes: CPU per turn by function, on the event loop's thread and on the writer's."""

import asyncio
import cProfile
import pstats
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast
from unittest.mock import patch

from bench.installation import installed
from bench.speed import MANY, WARM, at_once
from casestore import db
from casestore.batch import Job, Result

CASES = {"one": 1, "many": MANY}
_TURNS = 20
_SHOWN = 40

Stats = dict[tuple[str, int, str], tuple[int, int, float, float, object]]


async def profiled(folder: Path, part: str) -> str:
    """The two tables of one part. They are taken one after the other: a profiler slows what it looks at."""
    cases = CASES[part]
    turns = cases * _TURNS
    loop, writer = cProfile.Profile(time.thread_time), cProfile.Profile(time.thread_time)
    async with installed(folder / "profiled.db") as installation:
        await at_once(installation, cases, WARM)
        await installation.store.checkpoint()
        cpu = time.process_time()
        await at_once(installation, cases, _TURNS)
        cpu = (time.process_time() - cpu) / turns * 1_000
        with patch.object(db, "commit_together", _profiled_by(writer)):
            await at_once(installation, cases, _TURNS)
        loop.enable()
        await at_once(installation, cases, _TURNS)
        loop.disable()
    return "\n\n".join(
        (
            f"{part}: {turns} turns; without a profiler {cpu:.2f} ms of CPU a turn, all threads together",
            _table("the writer's thread: transactions", writer, turns),
            _table("the event loop's thread: everything else", loop, turns),
        )
    )


def _profiled_by(profile: cProfile.Profile) -> Callable[..., list[Result]]:
    """Of the threads that commit only the first, which is the service's: those who decide come and go beside it."""
    original = db.commit_together
    threads: list[int] = []

    def commit_together(conn: sqlite3.Connection, nonce: Callable[[], str], jobs: Sequence[Job]) -> list[Result]:
        threads.append(threading.get_ident())
        if threads[0] != threads[-1]:
            return original(conn, nonce, jobs)
        return profile.runcall(original, conn, nonce, jobs)

    return commit_together


def _table(title: str, profile: cProfile.Profile, turns: int) -> str:
    stats = cast("Stats", pstats.Stats(profile).stats)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    rows = [
        (own / turns * 1_000, whole / turns * 1_000, calls / turns, _name(*where))
        for where, (_, calls, own, whole, _) in stats.items()
    ]
    head = f"{title} ({sum(row[0] for row in rows):.2f} ms a turn, profiled)"
    lines = [f"{own:8.3f} {whole:8.3f} {calls:7.1f}  {name}" for own, whole, calls, name in _longest(rows)]
    return "\n".join((head, "  own ms whole ms   calls  function", *lines))


def _longest(rows: list[tuple[float, float, float, str]]) -> list[tuple[float, float, float, str]]:
    return sorted(rows, key=lambda row: -row[1])[:_SHOWN]


def _name(file: str, line: int, function: str) -> str:
    return function if file == "~" else f"{'/'.join(Path(file).parts[-2:])}:{line} {function}"


def run(folder: Path, part: str) -> str:
    """The same for those who have no event loop."""
    return asyncio.run(profiled(folder, part))
