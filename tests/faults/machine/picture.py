"""What the file holds at one moment, read by plain SQL past every function of ours."""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from casestore.tx import Tx
from tests.store.rows import columns

Row = dict[str, Any]

_KEYS = {
    "principals": "id", "cases": "id", "bindings": "id", "messages": "id", "turns": "id", "runs": "id", "steps": "id",
    "gates": "id", "gate_roles": "gate_id || role", "leases": "case_id", "trail": "case_id * 1000000 + seq",
    "outbox": "id", "holds": "id", "cards": "id", "positions": "address", "ledger": "id",
    "transcript": "case_id * 1000000 + seq", "prompts": "version",
}  # fmt: skip

_NAMES: dict[str, list[str]] = {}


@dataclass(frozen=True, slots=True)
class Picture:
    """Every row of the tables that the rules speak of, by its key."""

    tables: dict[str, dict[Any, Row]]

    def all(self, table: str, **wanted: object) -> Iterator[Row]:
        """The rows with these values, in order of their keys."""
        for row in self.tables[table].values():
            if all(row[name] == value for name, value in wanted.items()):
                yield row

    def one(self, table: str, key: object) -> Row:
        """The row with this key."""
        return self.tables[table][key]

    def changed(self, since: "Picture", table: str) -> Iterator[tuple[Row | None, Row]]:
        """Rows that are new (with None) or differ (with what they were)."""
        old = since.tables[table]
        for key, row in self.tables[table].items():
            if (was := old.get(key)) != row:
                yield was, row

    def added(self, since: "Picture", table: str) -> Iterator[Row]:
        """Rows that were not there."""
        return (row for was, row in self.changed(since, table) if was is None)


@contextmanager
def snapshot(path: Path) -> Generator[Tx]:
    """The file as it is, on a connection of its own."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)) as conn:
        conn.execute("PRAGMA wal_autocheckpoint = 0")
        conn.execute("BEGIN")
        yield Tx(conn, lambda: "")


def take_picture(tx: Tx) -> Picture:
    """Read every row."""
    return Picture({table: _rows(tx, table, key) for table, key in _KEYS.items()})


def _rows(tx: Tx, table: str, key: str) -> dict[Any, Row]:
    if table not in _NAMES:
        _NAMES[table] = columns(tx, table)
    names = _NAMES[table]
    return {row[0]: dict(zip(names, row[1:], strict=True))
            for row in tx.tuples(f"SELECT {key}, * FROM {table} ORDER BY 1")}  # fmt: skip
