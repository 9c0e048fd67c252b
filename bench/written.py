"""What Casebound writes: for each commit, the bytes that each table was given. The floor writes the same.

Temporary triggers on the writer's connection measure every row that is inserted (all its values) and every row
that is updated (the values that changed), each value as long as SQLite stores it. Indexes, record headers and pages
are not counted: the floor pays its own.
"""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from casestore import db
from casestore.batch import Job, Result


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes of values that one commit inserted into a table, and changed in it."""

    table: str
    inserted: int
    changed: int


Commit = tuple[Written, ...]


@contextmanager
def recorded() -> Generator[list[Commit]]:
    """Every commit of every store of this process, as long as the block lasts; those that wrote nothing left out."""
    commits: list[Commit] = []
    original = db.commit_together

    def commit_together(conn: sqlite3.Connection, nonce: Callable[[], str], jobs: Sequence[Job]) -> list[Result]:
        _measure(conn)
        results = original(conn, nonce, jobs)
        if commit := _take(conn):
            commits.append(commit)
        return results

    with patch.object(db, "commit_together", commit_together):
        yield commits


def _measure(conn: sqlite3.Connection) -> None:
    if conn.execute("SELECT 1 FROM sqlite_temp_master WHERE name = 'bench_written'").fetchone():
        return
    conn.execute("CREATE TEMP TABLE bench_written (name TEXT, inserted INTEGER, changed INTEGER)")
    tables = [row[0] for row in conn.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
    for table in tables:
        columns = [row[1] for row in conn.execute(f"PRAGMA table_info({table})")]
        whole = " + ".join(_size(column) for column in columns)
        changed = " + ".join(f"(NEW.{column} IS NOT OLD.{column}) * ({_size(column)})" for column in columns)
        conn.execute(
            f"""CREATE TEMP TRIGGER bench_insert_{table} AFTER INSERT ON main.{table} BEGIN
                INSERT INTO bench_written VALUES ('{table}', {whole}, 0); END"""
        )
        conn.execute(
            f"""CREATE TEMP TRIGGER bench_update_{table} AFTER UPDATE ON main.{table} BEGIN
                INSERT INTO bench_written VALUES ('{table}', 0, {changed}); END"""
        )


def _size(column: str) -> str:
    new = f"NEW.{column}"
    return f"""CASE typeof({new}) WHEN 'null' THEN 0 WHEN 'real' THEN 8 WHEN 'integer' THEN
        CASE WHEN {new} IN (0, 1) THEN 0 WHEN abs({new}) < 128 THEN 1 WHEN abs({new}) < 32768 THEN 2
             WHEN abs({new}) < 2147483648 THEN 4 WHEN abs({new}) < 140737488355328 THEN 6 ELSE 8 END
        ELSE length(CAST({new} AS BLOB)) END"""


def _take(conn: sqlite3.Connection) -> Commit:
    rows = conn.execute(
        "SELECT name, sum(inserted), sum(changed) FROM bench_written GROUP BY name ORDER BY name"
    ).fetchall()
    conn.execute("DELETE FROM bench_written")
    return tuple(Written(name, inserted, changed) for name, inserted, changed in rows if inserted or changed)
