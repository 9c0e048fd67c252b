"""How long somebody waits: from a message to the model's first request, from a decision to its effect."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.floor import Floor
from bench.installation import Installation, installed
from bench.speed import WARM, at_once
from bench.table import Finding, spread
from bench.workload import GATED_EVERY, Moment
from bench.written import Commit, recorded

WAITS = {
    "message to model request": (Moment.SAID, Moment.ASKED),
    "decision to effect": (Moment.DECIDED, Moment.EFFECT),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """So many rounds of five turns, one of them gated; beside each the floor, as often."""

    rounds: int


FULL = Plan(rounds=30)
QUICK = Plan(rounds=3)


@dataclass
class Watch:
    """Notes each wait, in milliseconds, between the two moments of one that `ends_at` names."""

    at: dict[Moment, float] = field(default_factory=dict[Moment, float])
    took: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in WAITS})

    async def told(self, moment: Moment) -> None:
        now = self.at[moment] = time.perf_counter()
        for name, (begins, ends) in WAITS.items():
            if ends is moment:
                self.took[name].append((now - self.at[begins]) * 1_000)


async def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings on both waits."""
    watch = Watch()
    floor: dict[str, list[float]] = {name: [] for name in WAITS}
    async with installed(folder / "latency.db") as installation:
        await at_once(installation, 1, WARM)
        written = await _written(installation)
        with ExitStack() as stack:
            raw = {
                name: stack.enter_context(Floor(folder / f"floor-{number}.db", [commits]))
                for number, (name, commits) in enumerate(written.items())
            }
            installation.told = watch.told
            for _ in range(plan.rounds):
                for name, played in raw.items():
                    floor[name].append(_played(played))
                for _ in range(GATED_EVERY):
                    await installation.turn("t0", elsewhere=False)
    return [_finding(name, watch.took[name], floor[name], len(written[name])) for name in WAITS]


async def _written(installation: Installation) -> dict[str, Sequence[Commit]]:
    """What is committed within each wait, from the one gated turn in five; the later ones write the same."""
    found: dict[str, Sequence[Commit]] = {}
    begun: dict[Moment, int] = {}
    with recorded() as commits:

        async def told(moment: Moment) -> None:
            begun[moment] = len(commits)
            for name, (begins, ends) in WAITS.items():
                if ends is moment:
                    found[name] = commits[begun[begins] :]

        installation.told = told
        for _ in range(GATED_EVERY):
            await installation.turn("t0", elsewhere=False)
    return found


def _played(floor: Floor) -> float:
    began = time.perf_counter()
    floor.turns(1)
    return (time.perf_counter() - began) * 1_000


def _finding(name: str, took: Sequence[float], floor: Sequence[float], commits: int) -> Finding:
    ratio = median(took) / median(floor)
    return Finding(
        f"ms from {name} ({commits} commits)", spread(took), spread(floor), f"ours/floor {ratio:.2f}", n=f"{len(took)}"
    )
