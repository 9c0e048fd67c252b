"""What a person beside the service could see to act on, read by the driver itself: no thread, and nothing left open."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class OpenGate:
    """A gate that waits, and the key of the call that it holds."""

    id: int
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Open gates; cases that are live and whether a person has them."""

    gates: tuple[OpenGate, ...] = ()
    free: tuple[int, ...] = ()
    taken: tuple[tuple[int, str], ...] = ()
    unsettled: int = 0


def look(db: Path) -> Standing:
    """Read it. The connection is closed again before anybody forks: SQLite's may not be carried into a child."""
    with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True, timeout=5, isolation_level=None)) as conn:
        conn.execute("BEGIN")
        gates = conn.execute("SELECT id, kind, args FROM gates WHERE state = 'open' ORDER BY id").fetchall()
        cases = conn.execute(
            """SELECT c.id, l.kind, l.holder FROM cases c JOIN leases l ON l.case_id = c.id
               WHERE c.state NOT IN ('closed', 'cancelled') ORDER BY c.id"""
        ).fetchall()
        unsettled = conn.execute("SELECT count(*) FROM turns WHERE state NOT IN ('settled', 'failed')").fetchone()[0]
        conn.execute("ROLLBACK")
    return Standing(
        tuple(OpenGate(number, kind, str(json.loads(args).get("key"))) for number, kind, args in gates),
        tuple(case for case, kind, _ in cases if kind != "human"),
        tuple((case, holder) for case, kind, holder in cases if kind == "human"),
        unsettled,
    )
