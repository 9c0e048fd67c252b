"""`python -m bench`: measure, and print one table."""

import argparse
import asyncio
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import age, crowd, latency, mcp, model, profile, service, slack, speed, sweep
from bench.table import Finding, text

PARTS = ("speed", "latency", "crowd", "sweep", "resume", "size", "model", "mcp", "slack", "service")


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 0 when every aim was met, 1 when one was not."""
    asked = _parser().parse_args(arguments)
    began = time.perf_counter()
    with TemporaryDirectory(prefix="casebound-bench-", dir=asked.dir) as place:
        if asked.profile:
            print(profile.run(Path(place), asked.profile))
            return 0
        print(_surroundings(), flush=True)
        found = _measured(Path(place), asked.parts or list(PARTS), quick=asked.quick)
    print(text(found))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"\nload average at the end: {load}; took {time.perf_counter() - began:.0f} s")
    print("Medians; in brackets the smallest and the largest. How to read this: docs/benchmarks.md")
    missed = [one.what for one in found if one.met is False]
    if missed:
        print("Aims that were not met: " + "; ".join(missed))
    return 1 if missed and asked.strict else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed and size beside a floor of sqlite3.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="little of everything: whether it works, not how fast")
    parser.add_argument("--profile", choices=tuple(profile.CASES), help="instead: where the time of a turn goes")
    parser.add_argument("--dir", type=Path, help="where the databases lie; a real disk, or commits cost nothing")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when an aim is missed")
    return parser


def _measured(place: Path, parts: Sequence[str], *, quick: bool) -> list[Finding]:
    if unknown := [part for part in parts if part not in PARTS]:
        sys.exit(f"There is no part {unknown[0]}; there are: {', '.join(PARTS)}.")
    found: list[Finding] = []
    if "speed" in parts:
        found += asyncio.run(speed.measure(place, speed.QUICK if quick else speed.FULL))
    if "latency" in parts:
        found += asyncio.run(latency.measure(place, latency.QUICK if quick else latency.FULL))
    if "crowd" in parts:
        found += asyncio.run(crowd.measure(place, crowd.QUICK if quick else crowd.FULL))
    if "sweep" in parts:
        found += asyncio.run(sweep.measure(place, sweep.QUICK if quick else sweep.FULL))
    if "resume" in parts or "size" in parts:
        found += asyncio.run(_by_age(place, parts, age.QUICK if quick else age.FULL))
    if "model" in parts:
        found += asyncio.run(model.measure(place, model.QUICK if quick else model.FULL))
    if "mcp" in parts:
        found += asyncio.run(mcp.measure(place, mcp.QUICK if quick else mcp.FULL))
    if "slack" in parts:
        found += asyncio.run(slack.measure(place, slack.QUICK if quick else slack.FULL))
    if "service" in parts:
        found += service.measure(place, service.QUICK if quick else service.FULL)
    return found


async def _by_age(place: Path, parts: Sequence[str], plan: age.Plan) -> list[Finding]:
    files = await age.grown(place, plan.ages)
    found = await age.resuming(place, files, plan) if "resume" in parts else []
    return [*found, *(await age.sizes(place, files) if "size" in parts else [])]


def _surroundings() -> str:
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"SQLite {sqlite3.sqlite_version}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, load average at the start: {load}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
