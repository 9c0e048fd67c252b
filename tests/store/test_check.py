"""Is the file whole? What `check` and `damage` find, and that they find nothing where nothing is wrong."""

import sqlite3
from pathlib import Path

import pytest

from casestore.check import check, damage
from casestore.db import Store
from casestore.errors import StoreUnavailable
from casestore.tx import Tx
from tests.conftest import World
from tests.store.rows import everything


def meddle(db: Path, *statements: str) -> None:
    """What a program that is not ours does to the file."""
    conn = sqlite3.connect(db, isolation_level=None)
    for statement in statements:
        conn.execute(statement)
    conn.close()


async def test_a_file_that_is_whole_has_no_problems_and_is_not_changed_by_looking(
    world: World, store: Store, db: Path
) -> None:
    asked = await world.approved()
    before = await store.read(everything)
    checked = await store.read(check)
    assert (checked.problems, damage(db)) == ((), ())
    assert [number for number, _ in checked.trails] == [asked.case.number]
    assert await store.read(everything) == before


async def test_a_row_that_refers_to_nothing_is_found(world: World, store: Store, db: Path) -> None:
    await world.case()
    meddle(db, "INSERT INTO leases (case_id, fence) VALUES (99, 0)")
    (problem,) = (await store.read(check)).problems
    assert "leases" in problem
    assert "cases" in problem


async def test_a_trail_that_was_changed_is_found_and_its_case_named(world: World, store: Store) -> None:
    """R18"""
    await world.case()
    case = await world.case()
    await store.write(Tx.run, "DROP TRIGGER trail_is_append_only")
    await store.write(Tx.run, "UPDATE trail SET actor = 'lee' WHERE case_id = :id", id=case.id)
    assert (await store.read(check)).problems == (f"{case.label}: entry 1 was changed",)


async def test_a_row_that_breaks_a_constraint_is_found(world: World, db: Path) -> None:
    await world.case()
    meddle(db, "PRAGMA ignore_check_constraints = ON", "UPDATE cases SET state = 'merged'")
    (found,) = damage(db)
    assert "cases" in found


async def test_an_index_that_does_not_fit_its_table_is_found(world: World, db: Path) -> None:
    await world.case()
    await world.ask()
    meddle(
        db, "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'case_id', 'turn_id') WHERE name = 'gates_by_case'",
    )  # fmt: skip
    assert "gates_by_case" in str(damage(db))


def test_what_is_no_database_is_said_in_our_words(db: Path) -> None:
    db.write_bytes(b"no database at all, but long enough to be one" * 100)
    with pytest.raises(StoreUnavailable):
        damage(db)
