"""Settled turns per second: for one case, for many at once, and for the floor, side by side and taking turns."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.floor import Floor
from bench.installation import Installation, installed
from bench.table import Finding, spread
from bench.workload import GATED_EVERY
from bench.written import Commit, recorded

MANY = 64
COMMITS = 100
WARM = 20
"""Turns before anything is measured: from then on every window is full."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured. Turns are multiples of five, so that every chunk has its share of gates.

    On a slow or busy machine no round is begun after `budget_s` seconds, but there are two at least.
    """

    rounds: int
    budget_s: float
    one: int
    each_of_many: int
    floor: int


FULL = Plan(rounds=7, budget_s=45, one=100, each_of_many=5, floor=250)
QUICK = Plan(rounds=2, budget_s=0, one=20, each_of_many=5, floor=50)


@dataclass
class Chunks:
    """Turns per second and milliseconds of CPU per turn (all threads), chunk by chunk."""

    rate: list[float] = field(default_factory=list[float])
    cpu_ms: list[float] = field(default_factory=list[float])

    def note(self, turns: int, wall: float, cpu: float) -> None:
        self.rate.append(turns / wall)
        self.cpu_ms.append(cpu / turns * 1_000)


async def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings on speed."""
    turns = await written_by_turns(folder)
    rows, floor, one, many = Chunks(), Chunks(), Chunks(), Chunks()
    async with AsyncExitStack() as stack:
        alone = await stack.enter_async_context(installed(folder / "one.db"))
        crowd = await stack.enter_async_context(installed(folder / "many.db"))
        raw = stack.enter_context(Floor(folder / "floor.db", turns))
        await at_once(alone, 1, WARM)
        await at_once(crowd, MANY, WARM)
        raw.turns(WARM)
        for installation in (alone, crowd):
            installation.deciding_ms.clear()
            installation.sent_away = 0
        began = time.perf_counter()
        for number in range(plan.rounds):
            if number >= 2 and time.perf_counter() - began > plan.budget_s:
                break
            raw.checkpoint()
            raw.one_row()
            with timed(rows, COMMITS):
                for _ in range(COMMITS):
                    raw.one_row()
            with timed(floor, plan.floor):
                raw.turns(plan.floor)
            await alone.store.checkpoint()
            with timed(one, plan.one):
                await at_once(alone, 1, plan.one)
            await crowd.store.checkpoint()
            with timed(many, plan.each_of_many * MANY):
                await at_once(crowd, MANY, plan.each_of_many)
        return [
            Finding("ms of a commit of one small row", "", spread([1_000 / rate for rate in rows.rate], 3),
                    n=f"{len(rows.rate)} x {COMMITS}"),
            *_findings(plan, turns, floor, one, many, alone, crowd),
        ]  # fmt: skip


async def written_by_turns(folder: Path) -> list[list[Commit]]:
    """What each of five turns in a row writes, commit by commit, once the case is some turns old."""
    async with installed(folder / "written.db") as installation:
        await at_once(installation, 1, 2 * GATED_EVERY)
        turns: list[list[Commit]] = []
        with recorded() as commits:
            for _ in range(GATED_EVERY):
                before = len(commits)
                await installation.turn("t0")
                turns.append(commits[before:])
    return turns


async def at_once(installation: Installation, cases: int, turns: int) -> None:
    """So many cases work so many turns each, all at the same time."""

    async def one_after_the_other(thread: str) -> None:
        for _ in range(turns):
            await installation.turn(thread)

    async with asyncio.TaskGroup() as group:
        for number in range(cases):
            group.create_task(one_after_the_other(f"t{number}"))


class timed:
    """Notes how long the block took, for so many turns."""

    def __init__(self, chunks: Chunks, turns: int) -> None:
        self._chunks, self._turns = chunks, turns

    def __enter__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._chunks.note(self._turns, time.perf_counter() - self._wall, time.process_time() - self._cpu)


def _findings(
    plan: Plan, turns: Sequence[Sequence[Commit]], floor: Chunks, one: Chunks, many: Chunks,
    alone: Installation, crowd: Installation,
) -> list[Finding]:  # fmt: skip
    times_slower = [f / o for f, o in zip(floor.rate, one.rate, strict=True)]
    times_faster = [m / f for f, m in zip(floor.rate, many.rate, strict=True)]
    n_one = f"{len(one.rate)} x {plan.one} turns"
    n_many = f"{len(many.rate)} x {plan.each_of_many * MANY} turns"
    commits, payload = _per_turn(turns)
    return [
        Finding(
            "settled turns/s, 1 case", spread(one.rate, 0), spread(floor.rate, 0), f"floor/ours {spread(times_slower)}",
            "<= 3", median(times_slower) <= 3, n_one,
        ),
        Finding(
            f"settled turns/s, {MANY} cases at once", spread(many.rate, 0), spread(floor.rate, 0),
            f"ours/floor {spread(times_faster)}", "> 1", median(times_faster) > 1, n_many,
        ),
        Finding("CPU ms/turn, 1 case", spread(one.cpu_ms), spread(floor.cpu_ms), n=n_one),
        Finding(f"CPU ms/turn, {MANY} cases at once", spread(many.cpu_ms), n=n_many),
        Finding("ms to decide beside it, 1 case", spread(alone.deciding_ms, 1), n=_decisions(alone)),
        Finding(f"ms to decide beside it, {MANY} cases", spread(crowd.deciding_ms, 1), n=_decisions(crowd)),
        Finding("commits/turn, and bytes of values", f"{commits:.1f}, {payload:,.0f}", "the same", n="5 turns"),
    ]  # fmt: skip


def _per_turn(turns: Sequence[Sequence[Commit]]) -> tuple[float, float]:
    commits = [commit for turn in turns for commit in turn]
    payload = sum(written.inserted + written.changed for commit in commits for written in commit)
    return len(commits) / len(turns), payload / len(turns)


def _decisions(installation: Installation) -> str:
    sent_away = f", {installation.sent_away} told to try again" if installation.sent_away else ""
    return f"{len(installation.deciding_ms)} gates{sent_away}"
