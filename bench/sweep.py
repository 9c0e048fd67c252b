"""What the schedule's ticks cost when the file is large: 100,000 cases, of which ten gates are due."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shutil import copy
from statistics import median

from bench.installation import CLOCK, installed
from bench.table import Finding, spread
from bot.ids import nonce
from bot.schedule import auto_close, remind
from bot.settings import Settings
from casestore import gates, leases, outbox
from casestore.db import Store
from casestore.migrate import open_store
from casestore.tx import Tx

DUE = 10
_APART_MS = 60_000
_WEEK_MS = 7 * 24 * 3_600_000
_OFFSET = 1_000_000
"""A clone's ids are those of its model, so much further on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many cases there are, and how often ten of them are due."""

    cases: int
    rounds: int


FULL = Plan(cases=100_000, rounds=10)
QUICK = Plan(cases=2_000, rounds=2)


async def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings: each tick on the large file, and on one that has nothing but the cases that are due."""
    small, large = folder / "few.db", folder / "many-cases.db"
    began = await _parked(small, plan)
    copy(small, large)
    with closing(sqlite3.connect(large)) as conn:
        _multiply(conn, plan, began)
    few, many = await _ticks(small, plan, began), await _ticks(large, plan, began)
    return [_finding(name, few[name], many[name], plan) for name in few]


async def _parked(db: Path, plan: Plan) -> int:
    """A file in which ten gates fall due a round, a minute apart; the time when the first do."""
    async with installed(db) as installation:
        for number in range(plan.rounds * DUE):
            await installation.park(f"t{5 * number + 4}")
        await installation.store.checkpoint()
    began = CLOCK.now() + _WEEK_MS // 7
    with closing(sqlite3.connect(db)) as conn, conn:
        conn.execute(
            f"""UPDATE gates SET reminders = '[]', remind_at = NULL,
                                 expires_at = ? + (id - 1) / {DUE} * {_APART_MS}""",
            (began,),
        )
    return began


def _multiply(conn: sqlite3.Connection, plan: Plan, began: int) -> None:
    """Clones of the first case: one in ten waits at a gate for another week, one is resolved, eight are closed.

    Those that wait have something to say that their platform does not take for as long, each in a thread of its own.

    What no tick reads (runs, steps, transcript, trail) is not cloned.
    """
    conn.execute("PRAGMA foreign_keys = OFF")
    clones = plan.cases - plan.rounds * DUE
    conn.execute("CREATE TEMP TABLE clone (n INTEGER PRIMARY KEY)")
    conn.executemany("INSERT INTO clone VALUES (?)", ((n,) for n in range(1, clones + 1)))
    for table, key in (("cases", "id"), *((table, "case_id") for table in _OF_A_CASE), ("gate_roles", "gate_id")):
        columns = [str(row[1]) for row in conn.execute(f"PRAGMA table_info({table})")]
        values = ", ".join(_cloned(column) for column in columns)
        conn.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}, clone WHERE {key} = 1")
    for statement in _OTHERWISE:
        conn.execute(statement, {"first": _OFFSET, "later": began + _WEEK_MS, "now": began})
    conn.execute("ANALYZE")
    conn.commit()
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


_OF_A_CASE = ("bindings", "messages", "turns", "gates", "leases", "outbox")
_SHIFTED = ("id", "number", "case_id", "turn_id", "message_id", "gate_id", "step_id")


def _cloned(column: str) -> str:
    if column in _SHIFTED:
        return f"{column} + clone.n * {_OFFSET}"
    return f"{column} || '-' || clone.n" if column == "address" else column


_NOT_LIVE = f"case_id > :first AND case_id / {_OFFSET} % 10 > 0"
_OTHERWISE = (
    "UPDATE gates SET expires_at = :later WHERE case_id > :first",
    f"UPDATE gates SET state = 'expired', decided_at = :now WHERE {_NOT_LIVE}",
    f"UPDATE turns SET state = 'settled', settled_at = :now WHERE {_NOT_LIVE}",
    f"UPDATE bindings SET state = 'ended', ended_at = :now WHERE {_NOT_LIVE}",
    "UPDATE outbox SET not_before = :later WHERE case_id > :first",
    f"UPDATE outbox SET state = 'sent' WHERE {_NOT_LIVE}",
    f"""UPDATE cases SET waiting_on = '', resolved_at = :now, closed_at = :now,
        state = CASE WHEN id / {_OFFSET} % 10 = 1 THEN 'resolved' ELSE 'closed' END
        WHERE {_NOT_LIVE.replace("case_id", "id")}""",
)


async def _ticks(db: Path, plan: Plan, began: int) -> dict[str, list[float]]:
    """Milliseconds of each tick, round by round, by its name."""
    took: dict[str, list[float]] = {}
    settings = Settings()
    store = await open_store(db, nonce, serves=True)
    try:
        for number in range(plan.rounds):
            now = began + number * _APART_MS
            for name, tick in _ALL.items():
                took.setdefault(name, []).append(await _timed(store, tick, now, settings))
    finally:
        await store.close()
    return took


async def _timed(store: Store, tick: Callable[[Tx, int, Settings], None], now: int, settings: Settings) -> float:
    began = time.perf_counter()
    await store.write(tick, now, settings)
    return (time.perf_counter() - began) * 1_000


def _expire(tx: Tx, now: int, _: Settings) -> None:
    if len(gates.expire_due(tx, now)) != DUE:
        raise RuntimeError(f"not {DUE} gates were due")


def _remind(tx: Tx, now: int, settings: Settings) -> None:
    remind(tx, now, settings, None)


def _close(tx: Tx, now: int, settings: Settings) -> None:
    auto_close(tx, now, settings.cases.auto_close)


def _look_for_work(tx: Tx, now: int, settings: Settings) -> None:
    if len(leases.ready(tx, now, settings.service.concurrency)) < DUE:
        raise RuntimeError("the cases whose gates expired have no work")


def _look_for_what_is_to_be_said(tx: Tx, now: int, _: Settings) -> None:
    outbox.take_due(tx, now, ("memory",), boot="bench", most=DUE)


_ALL: dict[str, Callable[[Tx, int, Settings], None]] = {
    f"expire {DUE} gates that are due": _expire,
    "look for reminders": _remind,
    "look for cases to close": _close,
    "look for cases with work": _look_for_work,
    "look for what is to be said": _look_for_what_is_to_be_said,
}


def _finding(name: str, few: Sequence[float], many: Sequence[float], plan: Plan) -> Finding:
    ratio = median(many) / median(few)
    return Finding(
        f"ms to {name}, {plan.cases:,} cases", spread(many), spread(few), f"to {plan.rounds * DUE} cases {ratio:.2f}",
        n=f"{plan.rounds}",
    )  # fmt: skip
