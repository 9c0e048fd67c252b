"""The kill loop, `make soak`: the real service is killed at random moments, and nothing that it promised is lost.

    python -m tests.faults.kills --kills 1000 --state soak-state

A soak that was stopped, or killed, goes on where it was when it is given the same state directory. One database lives
for some kills, is then brought to rest and checked, and makes room for the next; one in which something is wrong is
kept, with all that belongs to it.
"""

import argparse
import shutil
import signal
import sys
import time
from collections import Counter as Tally
from pathlib import Path

from pydantic import BaseModel

from tests.faults.kills.boot import Place
from tests.faults.kills.checker import check
from tests.faults.kills.driver import Driver, Stuck
from tests.faults.kills.evidence import Report
from tests.faults.kills.history import services


class Progress(BaseModel):
    """What is kept of the databases that are done with."""

    seed: int
    number: int = 1
    counts: dict[str, int] = {}
    wrong: list[str] = []


class Soak:
    """The state directory: what is counted so far, and the installation that is under way."""

    def __init__(self, folder: Path, seed: int, *, per_database: int, keep: bool) -> None:
        self._folder, self._per_database, self._keep = folder, per_database, keep
        self._file = folder / "progress.json"
        folder.mkdir(parents=True, exist_ok=True)
        kept = Progress(seed=seed)
        if self._file.exists():
            kept = Progress.model_validate_json(self._file.read_text())
        self.seed, self.number, self.counts, self.wrong = kept.seed, kept.number, Tally(kept.counts), kept.wrong

    @property
    def kills(self) -> int:
        """So far, those of the database under way included."""
        return self.counts["kills"] + self._under_way

    @property
    def _place(self) -> Place:
        return Place(self._folder / f"database-{self.number:04d}")

    @property
    def _under_way(self) -> int:
        return sum(said["did"] == "kill" for said in services(self._place.history))

    def run(self, most: int, until: float) -> None:
        """Kill until there were so many, or until then; whatever is under way is brought to rest at the end."""
        stopped = False
        while not stopped and self.kills < most and time.monotonic() < until:
            driver = Driver(self._place, self.seed * 1_000_003 + self.number)
            try:
                while self._under_way < self._per_database and self.kills < most and time.monotonic() < until:
                    driver.kill_once()
            except KeyboardInterrupt:
                stopped = True
            except Stuck as error:
                self._end(Report(wrong=[str(error)]))
                continue
            self._bring_to_rest(driver)

    def _bring_to_rest(self, driver: Driver) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            driver.come_to_rest()
            report = check(self._place)
        except Stuck as error:
            report = Report(wrong=[str(error)])
        finally:
            driver.history.close()
        self._end(report)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _end(self, report: Report) -> None:
        """Count a database and begin the next."""
        place = self._place
        self.counts += report.counts
        self.counts["databases"] += 1
        self.wrong += [f"database {self.number} (seed {self.seed}): {line}" for line in report.wrong]
        self.number += 1
        unfinished = self._file.with_suffix(".new")
        kept = Progress(seed=self.seed, number=self.number, counts=self.counts, wrong=self.wrong)
        unfinished.write_text(kept.model_dump_json(indent=1))
        unfinished.replace(self._file)
        for line in report.wrong:
            print(f"WRONG in {place.folder}: {line}", flush=True)
        print(f"{self.counts['kills']} kills, {len(self.wrong)} wrong", flush=True)
        if not report.wrong and not self._keep:
            shutil.rmtree(place.folder)

    def table(self) -> str:
        """What was counted, and what was wrong."""
        lines = [f"{number:>9,}  {what}" for what, number in sorted(self.counts.items())]
        return "\n".join([f"seed {self.seed}", *lines, f"{len(self.wrong):>9,}  wrong", *self.wrong])


def main() -> int:
    """0 where nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kills")
    parser.add_argument("--kills", type=int, default=1_000, help="how many in all, those of earlier runs included")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin to end after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, default=Path("soak-state"), help="where it is kept, to go on with later")
    parser.add_argument("--per-database", type=int, default=200, help="kills until a new database is begun")
    parser.add_argument("--keep", action="store_true", help="keep the databases in which nothing is wrong too")
    given = parser.parse_args()
    Driver.warm_up()
    soak = Soak(given.state.absolute(), given.seed, per_database=given.per_database, keep=given.keep)
    soak.run(given.kills, time.monotonic() + given.minutes * 60)
    print(soak.table())
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
