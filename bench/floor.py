"""The floor: the same bytes with the same durable points, by plain statements of `sqlite3` on one thread.

One transaction for each of our commits, and in it, for each table that we wrote, at most one INSERT and one
UPDATE, of values as long as all that we wrote there. It keeps no index but the key, checks nothing, reads nothing,
knows beforehand what it will write, and holds one connection: nobody who has to do the work can be faster like this.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.written import Commit

_INSERT, _UPDATE = "INSERT INTO {} (case_id, written) VALUES (?, ?)", "UPDATE {} SET changed = ? WHERE id = ?"


class Floor:
    """A file of its own, with one table for each of ours."""

    def __init__(self, db: Path, turns: Sequence[Sequence[Commit]]) -> None:
        self._conn = sqlite3.connect(db, isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0"):
            self._conn.execute(f"PRAGMA {pragma}")
        tables = sorted({written.table for commits in turns for commit in commits for written in commit})
        for table in tables:
            self._conn.execute(
                f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, case_id INTEGER NOT NULL, written TEXT, changed TEXT)"
            )
        # a row to change where a table is changed before anything is inserted into it
        self._newest = {table: self._insert(_INSERT.format(table), "") for table in tables}
        self._turns = [[_statements(commit) for commit in commits] for commits in turns]
        self._next = 0

    def turns(self, number: int) -> None:
        """Write what the next turns write, one after the other."""
        for _ in range(number):
            self._turn()

    def _turn(self) -> None:
        execute = self._conn.execute
        for commit in self._turns[self._next % len(self._turns)]:
            execute("BEGIN IMMEDIATE")
            for table, insert, inserted, update, changed in commit:
                if insert:
                    self._newest[table] = self._insert(insert, inserted)
                if update:
                    execute(update, (changed, self._newest[table]))
            execute("COMMIT")
        self._next += 1

    def one_row(self) -> None:
        """Commit one row of 100 bytes: what a durable point costs here, whatever is written."""
        self._conn.execute("CREATE TABLE IF NOT EXISTS one_row (id INTEGER PRIMARY KEY, written TEXT)")
        self._conn.execute("INSERT INTO one_row (written) VALUES (?)", ("x" * 100,))

    def checkpoint(self) -> None:
        """Move the WAL into the file."""
        self._conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _insert(self, insert: str, inserted: str) -> int:
        return self._conn.execute(insert, (1, inserted)).lastrowid or 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._conn.close()


def _statements(commit: Commit) -> list[tuple[str, str, str, str, str]]:
    """(table, INSERT, its text, UPDATE, its text), empty where there is nothing to insert or to change."""
    return [
        (
            written.table,
            _INSERT.format(written.table) if written.inserted else "",
            "x" * written.inserted,
            _UPDATE.format(written.table) if written.changed else "",
            "x" * written.changed,
        )
        for written in commit
    ]
