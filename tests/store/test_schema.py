"""What the schema says, and what the code repeats of it: neither may know something the other does not."""

import re
import sqlite3
from collections.abc import Generator
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from itertools import permutations
from pathlib import Path

import pytest

from casestore import migrate, models, states
from casestore.models import Row
from casestore.retention import TABLES
from tests.store.schema_of import shape_of_schema_sql

VOCABULARIES: dict[str, type[StrEnum]] = {
    "principals.role": states.Role,
    "gate_roles.role": states.Role,
    "link_codes.state": states.LinkState,
    "cases.state": states.CaseState,
    "cases.waiting_on": states.WaitingOn,
    "cases.origin": states.Origin,
    "bindings.state": states.BindingState,
    "messages.direction": states.Direction,
    "messages.provenance": states.Provenance,
    "files.state": states.FileState,
    "turns.cause": states.Cause,
    "turns.state": states.TurnState,
    "runs.outcome": states.Outcome,
    "steps.kind": states.StepKind,
    "compactions.made_by": states.MadeBy,
    "steps.state": states.StepState,
    "steps.tier": states.Tier,
    "gates.kind": states.GateKind,
    "gates.tier": states.Tier,
    "gates.on_expiry": states.OnExpiry,
    "gates.state": states.GateState,
    "gates.verb": states.Verb,
    "leases.kind": states.LeaseKind,
    "outbox.kind": states.OutboxKind,
    "outbox.state": states.OutboxState,
    "episodes.state": states.EpisodeState,
}
WITHOUT_AN_ENUM = {"cases.priority", "transcript.kind"}

ROWS: dict[str, type[Row]] = {
    "principals": models.Principal,
    "accounts": models.Account,
    "link_codes": models.LinkCode,
    "cases": models.Case,
    "bindings": models.Binding,
    "messages": models.Message,
    "files": models.File,
    "turns": models.Turn,
    "runs": models.Run,
    "steps": models.Step,
    "gates": models.Gate,
    "cards": models.CardRow,
    "leases": models.LeaseRow,
    "trail": models.TrailEntry,
    "outbox": models.OutboxRow,
    "transcript": models.TranscriptRow,
    "episodes": models.Episode,
    "holds": models.Hold,
}


@pytest.fixture
def conn(db: Path) -> Generator[sqlite3.Connection]:
    """A migrated file, seen by SQLite alone."""
    migrate.migrate(db)
    opened = sqlite3.connect(db)
    yield opened
    opened.close()


def tables(conn: sqlite3.Connection) -> list[str]:
    return [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


@dataclass(frozen=True)
class Index:
    table: str
    name: str
    unique: bool
    columns: tuple[str, ...]
    where: str


def indexes(conn: sqlite3.Connection) -> list[Index]:
    found: list[Index] = []
    for table in tables(conn):
        for name, unique in conn.execute('SELECT name, "unique" FROM pragma_index_list(?)', (table,)).fetchall():
            columns = [column for (column,) in conn.execute("SELECT name FROM pragma_index_info(?)", (name,))]
            (sql,) = conn.execute("SELECT coalesce(sql, '') FROM sqlite_master WHERE name = ?", (name,)).fetchone()
            found.append(Index(table, name, bool(unique), tuple(columns), sql.partition(" WHERE ")[2]))
    return found


def checks() -> dict[str, set[str]]:
    """Each `CHECK (column IN (…))` of the schema: the values, by table and column."""
    found: dict[str, set[str]] = {}
    for name, parts in shape_of_schema_sql().items():
        for part in parts:
            for column, values in re.findall(r"CHECK\((\w+) IN\(('[^)]*')\)\)", part):
                if part.startswith(column + " "):
                    found[f"{name.removeprefix('table ')}.{column}"] = set(re.findall(r"'([^']*)'", values))
    return found


def test_every_vocabulary_of_the_code_is_the_one_of_the_schema() -> None:
    expected = {column: {str(value) for value in enum} for column, enum in VOCABULARIES.items()}
    assert {column: values for column, values in checks().items() if column not in WITHOUT_AN_ENUM} == expected


def test_every_vocabulary_is_used_by_a_column() -> None:
    enums = {kind for kind in vars(states).values() if isinstance(kind, type) and issubclass(kind, StrEnum)}
    assert enums - {StrEnum} == set(VOCABULARIES.values())


def test_every_table_says_how_long_it_is_kept(conn: sqlite3.Connection) -> None:
    """R25"""
    assert set(tables(conn)) == set(TABLES)


@pytest.mark.parametrize("table", sorted(ROWS))
def test_every_row_has_exactly_the_columns_of_its_table(conn: sqlite3.Connection, table: str) -> None:
    columns = [name for (name,) in conn.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    assert list(ROWS[table].model_fields) == columns


def test_every_table_is_strict(conn: sqlite3.Connection) -> None:
    loose = [name for _, name, _, _, _, strict in conn.execute("PRAGMA table_list") if not strict]
    assert {name for name in loose if not name.startswith("sqlite_")} == set()


def test_no_index_is_the_beginning_of_another_on_the_same_table(conn: sqlite3.Connection) -> None:
    """One that covers fewer rows stands for itself: `longer` has to find at least the rows of `shorter`."""
    doubled = [
        (shorter.name, longer.name)
        for shorter, longer in permutations(indexes(conn), 2)
        if shorter.table == longer.table
        and longer.where in ("", shorter.where)
        and longer.columns[: len(shorter.columns)] == shorter.columns
        and (len(longer.columns) > len(shorter.columns) or shorter.where == longer.where)
        and not (shorter.unique and shorter.where)  # a constraint, not a way to find something
    ]
    assert doubled == []


def test_the_schema_explains_itself() -> None:
    """A reason stands above each table."""
    text = resources.files("casestore").joinpath("schema.sql").read_text()
    for table in re.findall(r"CREATE TABLE (\w+)", text):
        above = text[: text.index(f"CREATE TABLE {table} ")].rstrip().rsplit("\n", 1)[-1]
        assert above.startswith("--"), f"nothing is said above {table}"
