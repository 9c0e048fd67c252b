"""Migrations: pairs whose sum is `schema.sql`, each of which happens as a whole or not at all."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest

from casestore import migrate
from casestore.db import Store
from casestore.errors import StoreUnavailable, StoreUnusable
from casestore.migrate import APPLICATION_ID, Migration
from tests.store.schema_of import shape_of_file, shape_of_schema_sql

ADD_COLOUR = Migration(
    migrate.newest() + 1, "add_colour",
    "ALTER TABLE cases ADD COLUMN colour TEXT;\n", "ALTER TABLE cases DROP COLUMN colour;\n",
)  # fmt: skip


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Migration], None]:
    """The code knows one more migration from now on."""
    known = migrate.migrations()
    return lambda further: monkeypatch.setattr(migrate, "migrations", lambda: (*known, further))


def test_the_sum_of_all_migrations_is_schema_sql(db: Path) -> None:
    migrate.migrate(db)
    assert shape_of_file(db) == shape_of_schema_sql()


def test_down_to_nothing_leaves_nothing_and_up_again_the_same(db: Path) -> None:
    assert migrate.migrate(db) == (0, migrate.newest())
    first = shape_of_file(db)
    for version in reversed(range(migrate.newest())):
        migrate.migrate(db, version)
    assert shape_of_file(db) == {}
    assert migrate.migrate(db) == (0, migrate.newest())
    assert shape_of_file(db) == first


def test_every_step_down_and_up_again_leaves_the_same(db: Path) -> None:
    for version in range(1, migrate.newest() + 1):
        migrate.migrate(db, version)
        reached = shape_of_file(db)
        migrate.migrate(db, version - 1)
        migrate.migrate(db, version)
        assert shape_of_file(db) == reached


def test_every_migration_is_a_pair_with_a_verb_and_an_object() -> None:
    names = sorted(entry.name for entry in (resources.files("casestore") / "migrations").iterdir())
    ups = [name.removesuffix(".up.sql") for name in names if name.endswith(".up.sql")]
    downs = [name.removesuffix(".down.sql") for name in names if name.endswith(".down.sql")]
    assert ups == downs
    assert len(ups) + len(downs) == len(names), "nothing else lies there"
    assert [int(stem[:4]) for stem in ups] == list(range(1, len(ups) + 1)), "no gap, no double"
    assert all(re.fullmatch(r"\d{4}_[a-z]+(_[a-z]+)+", stem) for stem in ups)


def test_every_migration_ends_with_its_last_statement() -> None:
    for step in migrate.migrations():
        for sql in (step.up, step.down):
            rest = sql.removeprefix("".join(migrate.statements(sql)))
            assert re.sub(r"--[^\n]*", "", rest).strip() == ""


def test_a_migration_is_marked_as_ours_and_with_its_version(db: Path) -> None:
    migrate.migrate(db)
    conn = sqlite3.connect(db)
    assert conn.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert conn.execute("PRAGMA user_version").fetchone() == (migrate.newest(),)
    conn.close()
    assert migrate.version_of(db) == migrate.newest()


def test_migrating_twice_changes_nothing(db: Path) -> None:
    migrate.migrate(db)
    before = shape_of_file(db)
    assert migrate.migrate(db) == (migrate.newest(), migrate.newest())
    assert shape_of_file(db) == before


def test_several_steps_are_taken_back_in_the_opposite_order(db: Path, newer: Callable[[Migration], None]) -> None:
    newer(ADD_COLOUR)
    assert migrate.migrate(db) == (0, ADD_COLOUR.version)
    assert migrate.migrate(db, 0) == (ADD_COLOUR.version, 0)
    assert shape_of_file(db) == {}


async def test_the_rows_survive_a_migration_up_and_down(
    store: Store, db: Path, newer: Callable[[Migration], None], nonce: Callable[[], str]
) -> None:
    await store.write(lambda tx: tx.run("INSERT INTO positions VALUES ('a', 'b')"))
    await store.close()
    newer(ADD_COLOUR)
    assert migrate.migrate(db) == (ADD_COLOUR.version - 1, ADD_COLOUR.version)
    assert "colour TEXT" in shape_of_file(db)["table cases"]
    assert migrate.migrate(db, ADD_COLOUR.version - 1) == (ADD_COLOUR.version, ADD_COLOUR.version - 1)
    assert shape_of_file(db) == shape_of_schema_sql()
    conn = sqlite3.connect(db)
    assert conn.execute("SELECT * FROM positions").fetchall() == [("a", "b")]
    conn.close()


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_migration_that_fails_half_way_changes_nothing(
    db: Path, newer: Callable[[Migration], None], way: str
) -> None:
    broken = "CREATE TABLE half (x TEXT) STRICT;\nDROP TABLE no_such_table;\n"
    fine = "SELECT 1;\n"
    up, down = (broken, fine) if way == "up" else (fine, broken)
    newer(Migration(ADD_COLOUR.version, "break_half", up, down))
    start, target = (ADD_COLOUR.version - 1, ADD_COLOUR.version)[:: 1 if way == "up" else -1]
    migrate.migrate(db, start)
    before = shape_of_file(db)
    with pytest.raises(StoreUnavailable, match="nothing was changed"):
        migrate.migrate(db, target)
    assert shape_of_file(db) == before
    assert migrate.version_of(db) == start


def test_a_version_nobody_knows_is_refused(db: Path) -> None:
    with pytest.raises(StoreUnusable, match="There is no version"):
        migrate.migrate(db, migrate.newest() + 1)
    assert not db.exists()


async def test_a_file_older_than_the_code_is_refused_with_the_command_that_helps(
    db: Path, newer: Callable[[Migration], None], nonce: Callable[[], str]
) -> None:
    migrate.migrate(db)
    newer(ADD_COLOUR)
    with pytest.raises(StoreUnusable, match="casebound db migrate"):
        await migrate.open_store(db, nonce, serves=True)


def test_a_start_that_fails_at_its_last_step_leaves_no_older_version_behind(
    db: Path, newer: Callable[[Migration], None]
) -> None:
    newer(Migration(migrate.newest() + 1, "break_it", "CREATE TABLE a (b);\nINSERT INTO nothing VALUES (1);\n", ""))
    with pytest.raises(StoreUnavailable, match="nothing was changed"):
        migrate.migrate(db)
    assert migrate.version_of(db) == 0
    assert shape_of_file(db) == {}


def test_reminders_that_came_and_that_are_to_come_survive_the_second_migration_and_the_way_back(db: Path) -> None:
    migrate.migrate(db, 1)
    with closing(sqlite3.connect(db)) as conn, conn:
        conn.execute("PRAGMA foreign_keys = OFF")
        for reminded in range(3):
            conn.execute(
                """INSERT INTO gates (case_id, turn_id, step_id, kind, tenant, tool, tool_version, tier, reversible,
                                      args, statement, digest_shown, four_eyes, on_expiry, reminders, reminded,
                                      state, asked_at, expires_at)
                   VALUES (?, 1, 1, 'approval', 'local', 't', '1', 'routine', 0,
                           '{}', 's', 'd', 0, 'tell', '[50,80]', ?, 'open', 0, 100)""",
                (reminded, reminded),
            )
    migrate.migrate(db, 2)
    assert _column(db, "remind_at") == [50, 80, None]
    migrate.migrate(db, 1)
    assert _column(db, "reminded") == [0, 1, 2]


def _column(db: Path, name: str) -> list[object]:
    with closing(sqlite3.connect(db)) as conn:
        return [row[0] for row in conn.execute(f"SELECT {name} FROM gates ORDER BY id")]
