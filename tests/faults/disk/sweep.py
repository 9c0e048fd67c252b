"""Plans for every write and sync of every scenario, and the real processes that act them out under the shim."""

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import casestore
from tests.faults.disk import acts
from tests.faults.disk.acts import Outcome, Plan
from tests.faults.disk.judge import judge, schema_of
from tests.faults.disk.limit import LIMIT

ROOT = Path(casestore.__file__).parents[1]
WRITES, SYNCS = 1, 2
FAULTS = (
    (WRITES, errno.EIO, False), (WRITES, errno.ENOSPC, False), (WRITES, errno.ENOSPC, True), (SYNCS, errno.EIO, False),
)  # fmt: skip
"""What fails, with what, and whether half of a write is done first; each of them once and for good."""


_FRAME, _PAGE = 4_096 + 24, 4_096

_NAMES = {WRITES: "writes", SYNCS: "syncs", LIMIT: "limits"}


@dataclass(slots=True)
class Swept:
    """What a sweep has looked at, and every promise that was broken."""

    acted: Counter[str] = field(default_factory=Counter[str])
    hit: Counter[str] = field(default_factory=Counter[str])
    told: Counter[str] = field(default_factory=Counter[str])
    looked: int = 0
    broken: list[str] = field(default_factory=list[str])

    def add(self, other: "Swept") -> None:
        """Take in what another sweep has found."""
        self.acted += other.acted
        self.hit += other.hit
        self.told += other.told
        self.looked += other.looked
        self.broken += other.broken


class Sweep:
    """One folder, one shim (for limits none is needed), the bytes of a new store to begin with."""

    def __init__(self, folder: Path, shim: Path | None, new_file: bytes, schema: Sequence[str]) -> None:
        self._folder = folder
        self.new_file = new_file
        self._schema = schema
        self._made = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(acts.__file__))], cwd=ROOT, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), **({} if shim is None else {"LD_PRELOAD": str(shim)})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def end(self) -> None:
        """End the process that acts the plans out."""
        self._process.communicate(timeout=30)

    def unharmed(self, scenario: str, kinds: int = WRITES) -> Plan:
        """The scenario without any fault, its writes or syncs counted."""
        return Plan("", "", scenario, -1, kinds, False, errno.EIO, False)

    def plans(self, scenario: str, kinds: int) -> list[Plan]:
        """Each write, or each sync, of a scenario, in each way it can fail, once and for good."""
        ((unharmed, outcome),) = self.act([self.unharmed(scenario, kinds)])
        return [
            replace(unharmed, db="", log="", n=n, good=good, error=error, half=half)
            for n in range(outcome.counted)
            for kind, error, half in FAULTS
            for good in (False, True)
            if kind == kinds
        ]

    def limits(self, scenario: str) -> list[Plan]:
        """Each length at which a scenario's file cannot grow: before a page, in its middle, and one byte short of it.

        Each once for a process that lives on and finds room again, once for one that ends meanwhile.
        """
        ((unharmed, outcome),) = self.act([self.unharmed(scenario, LIMIT)])
        step = _FRAME if scenario in ("single", "group") else _PAGE
        return [
            replace(unharmed, db="", log="", n=n, good=True, ends=ends)
            for start in range(0, outcome.counted, step)
            for n in (start, start + step // 2, start + step - 1)
            for ends in (False, True)
        ]

    def act(self, plans: Sequence[Plan]) -> Iterator[tuple[Plan, Outcome]]:
        """Each plan in a process and a folder of its own, which is gone afterwards."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        for plan in plans:
            placed = self._place(plan)
            self._process.stdin.write(json.dumps(asdict(placed)) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
            answer["told"] = [(name, what) for name, what in answer["told"]]
            yield placed, Outcome(**answer)
            shutil.rmtree(Path(placed.db).parent)

    def sweep(self, plans: Sequence[Plan]) -> Swept:
        """Act all of them out and judge each."""
        swept = Swept()
        for plan, outcome in self.act(plans):
            base = {} if plan.scenario == "opening" else {0: self.new_file}
            row = f"{plan.scenario}, {_NAMES[plan.kinds]}"
            swept.acted[row] += 1
            swept.hit[row] += outcome.counted > plan.n or plan.kinds == LIMIT
            swept.told.update(what for _, what in outcome.told)
            how = f"{row} n={plan.n} good={plan.good} errno={plan.error} half={plan.half} ends={plan.ends}"
            if outcome.broke:
                swept.broken.append(f"{how}: once the fault was over: {outcome.broke}")
                continue
            verdict = judge(plan, outcome, base, self._schema)
            swept.looked += verdict.looked
            swept.broken += [f"{how}: {what}" for what in verdict.broken]
        return swept

    def _place(self, plan: Plan) -> Plan:
        self._made += 1
        folder = self._folder / str(self._made)
        folder.mkdir()
        db = folder / "casebound.db"
        if plan.scenario != "opening":
            db.write_bytes(self.new_file)
        return replace(plan, db=str(db), log=str(folder / "log"))


def schema_of_new(folder: Path, new_file: bytes) -> list[str]:
    """What a store that is whole consists of."""
    path = folder / "schema.db"
    path.write_bytes(new_file)
    with closing(sqlite3.connect(path)) as conn:
        return schema_of(conn)
