"""Many cases at once: 512 of them worked together, and the memory that a live case takes, worked and at rest."""

import asyncio
import multiprocessing
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.floor import Floor
from bench.installation import Installation, installed
from bench.speed import at_once, written_by_turns
from bench.table import Finding, spread
from bench.workload import Moment
from bot.settings import Settings

_WARM = 64


@dataclass(frozen=True, slots=True)
class Plan:
    """So many cases, each with so many turns; the floor writes as many turns as one round has."""

    cases: int
    turns: int
    rounds: int


FULL = Plan(cases=512, turns=2, rounds=3)
QUICK = Plan(cases=80, turns=1, rounds=1)


async def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings on many at once; memory is measured in a process of its own, which holds nothing else."""
    turns = await written_by_turns(folder)
    ours: list[float] = []
    floor: list[float] = []
    longest: list[float] = []
    count = plan.cases * plan.turns
    async with installed(folder / "crowd.db") as installation:
        with Floor(folder / "floor-crowd.db", turns) as raw:
            await at_once(installation, plan.cases, 1)
            for _ in range(plan.rounds):
                await installation.store.checkpoint()
                raw.checkpoint()
                began = time.perf_counter()
                raw.turns(count)
                floor.append(count / (time.perf_counter() - began))
                began = time.perf_counter()
                longest.append(await _longest_turn(installation, plan))
                ours.append(count / (time.perf_counter() - began))
    ratios = [o / f for o, f in zip(ours, floor, strict=True)]
    held = await asyncio.to_thread(_in_a_process_of_its_own, folder, plan.cases)
    return [
        Finding(f"settled turns/s, {plan.cases} cases at once", spread(ours, 0), spread(floor, 0),
                f"ours/floor {spread(ratios)}", n=f"{plan.rounds} x {count} turns"),
        Finding(f"s of the longest turn, {plan.cases} cases at once", spread(longest), n=f"{plan.rounds}"),
        Finding("KiB for each case that is worked", f"{held.worked_kib:.0f}", n=f"{plan.cases} cases"),
        Finding("KiB for each live case at rest", f"{held.resting_kib:.1f}", n=f"{plan.cases} cases"),
    ]  # fmt: skip


async def _longest_turn(installation: Installation, plan: Plan) -> float:
    took: list[float] = []

    async def one(thread: str) -> None:
        for _ in range(plan.turns):
            began = time.perf_counter()
            await installation.turn(thread, elsewhere=False)
            took.append(time.perf_counter() - began)

    async with asyncio.TaskGroup() as group:
        for number in range(plan.cases):
            group.create_task(one(f"t{number}"))
    return max(took)


@dataclass(frozen=True, slots=True)
class Held:
    """Resident memory over that of a warm process without a case, for each case."""

    worked_kib: float
    resting_kib: float


def _in_a_process_of_its_own(folder: Path, cases: int) -> Held:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_held, (folder, cases))


def _held(folder: Path, cases: int) -> Held:
    return asyncio.run(_memory(folder, cases))


async def _memory(folder: Path, cases: int) -> Held:
    """All cases wait in the model at the same moment; then they are answered, and rest."""
    everyone, gone_on = asyncio.Event(), asyncio.Event()
    inside = 0

    async def told(moment: Moment) -> None:
        nonlocal inside
        if moment is Moment.ASKED:
            inside += 1
            if inside == cases:
                everyone.set()
            await gone_on.wait()

    settings = Settings.model_validate({"service": {"concurrency": cases}})
    async with installed(folder / "memory.db", settings) as installation:
        await at_once(installation, _WARM, 1)
        before = _resident()
        installation.told = told
        new = range(1_000, 1_000 + cases)
        working = [asyncio.create_task(installation.turn(f"t{number}", elsewhere=False)) for number in new]
        await everyone.wait()
        worked = _resident()
        gone_on.set()
        await asyncio.gather(*working)
        del working
        return Held((worked - before) / cases / 1_024, (_resident() - before) / cases / 1_024)


def _resident() -> int:
    return psutil.Process().memory_info().rss
