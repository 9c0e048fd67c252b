"""What a case costs as it grows old: resuming it with fresh objects, and the bytes it takes."""

import asyncio
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.floor import Floor
from bench.installation import installed
from bench.speed import at_once, written_by_turns
from bench.table import Finding, spread
from casestore.migrate import migrate


@dataclass(frozen=True, slots=True)
class Plan:
    """At how many turns a case is looked at, and how often it is resumed at each: less often after `budget_s`."""

    ages: tuple[int, ...]
    resumed: int
    budget_s: float


FULL = Plan((10, 100, 1_000), 15, 20)
QUICK = Plan((10, 50), 3, 20)


async def grown(folder: Path, ages: Sequence[int]) -> dict[int, Path]:
    """A file with one case for each age; the WAL is checkpointed, so the file is all there is."""
    files: dict[int, Path] = {}
    db = folder / "growing.db"
    turns = 0
    for age in ages:
        async with installed(db) as installation:
            await at_once(installation, 1, age - turns)
            turns = age
            if not await installation.store.checkpoint():
                raise RuntimeError("the checkpoint was incomplete; nothing else should have the file open")
        files[age] = folder / f"age-{age}.db"
        shutil.copy(db, files[age])
    return files


async def resuming(folder: Path, files: dict[int, Path], plan: Plan) -> list[Finding]:
    """Milliseconds from opening the file with fresh objects until a new message is answered."""
    took: dict[int, list[float]] = {age: [] for age in files}
    start = time.perf_counter()
    for number in range(plan.resumed):
        if number >= 3 and time.perf_counter() - start > plan.budget_s:
            break
        for age, file in files.items():  # taking turns, so that what else the machine does meets all of them
            db = folder / "resumed.db"
            for left in folder.glob("resumed.db*"):
                left.unlink()
            shutil.copy(file, db)
            began = time.perf_counter()
            async with installed(db) as installation:
                await installation.turn("t0")
                took[age].append((time.perf_counter() - began) * 1_000)
    first, *later = took
    found = [Finding(f"ms to resume at T={first}", spread(took[first], 1), n=f"{len(took[first])}")]
    for age in later:
        ratio = median(took[age]) / median(took[first])
        found.append(
            Finding(
                f"ms to resume at T={age:,}", spread(took[age], 1), ratio=f"to T={first}: {ratio:.2f}", aim="<= 1.5",
                met=ratio <= 1.5, n=f"{len(took[age])}",
            )
        )  # fmt: skip
    return found


async def sizes(folder: Path, files: dict[int, Path]) -> list[Finding]:
    """Bytes per turn, of the file with an empty WAL; with and without what an empty file takes."""
    empty = folder / "empty.db"
    await asyncio.to_thread(migrate, empty)
    base = empty.stat().st_size
    turns = await written_by_turns(folder)
    found = [Finding("bytes of an empty file", f"{base:,}", n="1")]
    net: dict[int, float] = {}
    for age, file in files.items():
        size = file.stat().st_size
        net[age] = (size - base) / age
        first = next(iter(net))
        ratio = net[age] / net[first]
        floor = _floor_size(folder / f"floor-{age}.db", turns, age)
        found.append(
            Finding(
                f"bytes/turn at T={age:,} (with the empty file)", f"{net[age]:,.0f} ({size / age:,.0f})",
                f"{floor / age:,.0f}", f"to floor {net[age] * age / floor:.2f}, to T={first} {ratio:.2f}",
                "flat: <= 1.1" if age != first else "", ratio <= 1.1 if age != first else None, "1",
            )
        )  # fmt: skip
    return found


def _floor_size(db: Path, turns: Sequence[Sequence[object]], age: int) -> int:
    with Floor(db, turns) as floor:  # pyright: ignore[reportArgumentType]
        floor.turns(age)
        floor.checkpoint()
        return db.stat().st_size
