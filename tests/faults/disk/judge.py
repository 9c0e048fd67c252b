"""Whether a store kept its promise: in what its readers see, in its files, and in what a power cut leaves of them."""

import asyncio
import random
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from casestore.check import check, damage
from casestore.errors import StoreError
from casestore.migrate import open_store
from casestore.tx import Tx
from tests.faults.disk import power
from tests.faults.disk.acts import Outcome, Plan, names, put
from tests.faults.disk.limit import LIMIT

UNKNOWN = "StoreUnavailable"
"""What somebody was told of whom it is not promised that nothing is stored."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a file holds."""

    version: int
    names: frozenset[str]
    problems: tuple[str, ...]


def look(db: Path, schema: Sequence[str]) -> Look:
    """Open the file as it is, without any fault, and look at everything there is to be whole."""
    with closing(sqlite3.connect(db, isolation_level=None)) as conn:
        conn.execute("PRAGMA wal_autocheckpoint = 0")
        conn.execute("PRAGMA synchronous = OFF")  # it is thrown away
        damage = [str(line) for (line,) in conn.execute("PRAGMA integrity_check") if line != "ok"]
        version = conn.execute("PRAGMA user_version").fetchone()[0]
        found = schema_of(conn)
        if not version:
            return Look(0, frozenset(), (*damage, *(f"version 0 with {each}" for each in found)))
        if found != schema:
            damage.append("the schema is not whole")
        conn.execute("BEGIN")
        tx = Tx(conn, lambda: "n")
        checked = check(tx)
        whole = names(tx)
        parts = {"cases": "title", "prompts": "label"}
        for table, column in parts.items():
            if sorted(str(name) for name in tx.column(f"SELECT {column} FROM {table}")) != whole:
                damage.append(f"{table} has part of a transaction")
        return Look(version, frozenset(whole), (*damage, *checked.problems))


def schema_of(conn: sqlite3.Connection) -> list[str]:
    """Everything that was ever created."""
    return [str(sql) for (sql,) in conn.execute("SELECT sql FROM sqlite_master ORDER BY type, name")]


@dataclass(slots=True)
class Verdict:
    """How many states of the files were looked at, and every way in which the promise was broken."""

    looked: int = 0
    broken: list[str] = field(default_factory=list[str])


def judge(plan: Plan, outcome: Outcome, base: Mapping[int, bytes], schema: Sequence[str]) -> Verdict:
    """What everybody was told against what is there: at once, at the end, after a kill, and after every power cut."""
    verdict = Verdict()
    if plan.ends:
        verdict.looked += 1
        verdict.broken += _started_again(plan, outcome, look(Path(plan.db), schema))
        return verdict
    verdict.broken += _seen(outcome)
    left = look(Path(plan.db), schema)
    verdict.looked += 1
    if left.names != frozenset(outcome.seen_after) or left.problems:
        verdict.broken.append(f"after a kill: {sorted(left.names)}, before it {outcome.seen_after}; {left.problems}")
    if plan.kinds == LIMIT:
        return verdict
    acts, seen = power.read(Path(plan.log)), dict[tuple[tuple[int, bytes], ...], Look]()
    for cut in _moments(plan, acts):
        for how in (power.nothing, power.everything, power.some((plan.n, cut))):
            files = power.image(base, acts[:cut], how)
            key = tuple(sorted(files.items()))
            if key not in seen:
                seen[key] = _look_at(files, Path(plan.db).with_name("cut.db"), schema)
            verdict.looked += 1
            verdict.broken += _power_cut(outcome, acts[:cut], seen[key])
    return verdict


def _seen(outcome: Outcome) -> Iterator[str]:
    done = {name for name, what in outcome.told if what == "done"}
    restarted = outcome.healthy is None
    unknown = {name for name, what in outcome.told if what == UNKNOWN and restarted}
    before = done - {"after", "last"}
    if not before <= set(outcome.seen) <= before | unknown:
        yield f"after the fault a reader sees {outcome.seen}, done are {sorted(before)}"
    if outcome.after != "done" or not outcome.healthy_after:
        yield f"once the fault was over: told {outcome.after}, healthy {outcome.healthy_after}"
    if not outcome.emptied:
        yield "once the fault was over no checkpoint went through"
    if not done <= set(outcome.seen_after) <= done | unknown:
        yield f"at the end a reader sees {outcome.seen_after}, done are {sorted(done)}"
    last = [what for name, what in outcome.told if name not in ("after", "last")]
    if not restarted and outcome.healthy != (last[-1] != UNKNOWN):
        yield f"healthy is {outcome.healthy}, the last was told {last[-1]}"


def _started_again(plan: Plan, outcome: Outcome, left: Look) -> Iterator[str]:
    """The process has ended with no room left; the next start has room, and finds a file that is whole."""
    done = {name for name, what in outcome.told if what == "done"}
    possible = done | {name for name, what in outcome.told if what == UNKNOWN}
    if not done <= left.names <= possible or left.problems:
        yield f"after its end: {sorted(left.names)}, done {sorted(done)}, possible {sorted(possible)}; {left.problems}"
    try:
        seen, problems, emptied = asyncio.run(_goes_on(Path(plan.db)))
    except StoreError as error:
        yield f"the next start: {error}"
        return
    if frozenset(seen) != left.names | {"after"} or problems or not emptied:
        yield f"the next start sees {seen}, had {sorted(left.names)}, emptied {emptied}; {problems}"


async def _goes_on(db: Path) -> tuple[list[str], tuple[str, ...], bool]:
    """What `casebound db check` would say of it while a service writes on."""
    store = await open_store(db, lambda: "n", serves=True, create=True)
    try:
        await store.write(put, "after")
        emptied = await store.checkpoint()
        return await store.read(names), (*damage(db), *(await store.read(check)).problems), emptied
    finally:
        await store.close()


def _look_at(files: Mapping[int, bytes], db: Path, schema: Sequence[str]) -> Look:
    power.write(files, db)
    return look(db, schema) if db.exists() else Look(0, frozenset(), ())


def _power_cut(outcome: Outcome, acts: Sequence[power.Act], left: Look) -> Iterator[str]:
    told = {act.offset for act in acts if act.op == "m"}
    done = {name for n, (name, what) in enumerate(outcome.told) if what == "done" and n in told}
    possible = {name for name, what in outcome.told if what in ("done", UNKNOWN)}
    if not done <= left.names <= possible or left.problems:
        yield (
            f"power cut after {len(acts)}: {sorted(left.names)}, done are {sorted(done)}, "
            f"possible {sorted(possible)}; {left.problems}"
        )


def _moments(plan: Plan, acts: Sequence[power.Act]) -> list[int]:
    """After each answer, at the end of the fault, right after each failed sync, at the end, and a few at random."""
    told = [n + 1 for n, act in enumerate(acts) if act.op == "m" or (act.op == "s" and not act.ok)]
    chance = random.Random(f"{plan.scenario}{plan.n}{plan.kinds}")
    return sorted({*told, len(acts), *(chance.randrange(len(acts) + 1) for _ in range(3))})
