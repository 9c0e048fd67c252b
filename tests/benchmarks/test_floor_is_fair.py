"""The floor of the benchmark does what we do: as many durable points, and every byte of every value."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from bench.floor import Floor
from bench.installation import installed
from bench.speed import at_once, written_by_turns
from bench.written import Written, recorded
from casestore import cases
from casestore.cases import Opening
from casestore.db import Store
from casestore.states import Origin
from casestore.tx import Tx


def add_position(tx: Tx) -> None:
    tx.run("INSERT INTO positions (address, last_seen) VALUES ('memory:a/b/c', '12')")


def move_position(tx: Tx) -> None:
    tx.run("UPDATE positions SET last_seen = '1234' WHERE address = 'memory:a/b/c'")


def read_only(tx: Tx) -> None:
    tx.value("SELECT 1")


async def test_every_byte_that_is_inserted_or_changed_is_counted_commit_by_commit(store: Store) -> None:
    with recorded() as commits:
        await store.write(add_position)
        await store.write(read_only)
        await store.write(move_position)
    assert commits == [(Written("positions", len("memory:a/b/c") + len("12"), 0),), (Written("positions", 0, 4),)]


async def test_what_is_rolled_back_is_not_counted(store: Store) -> None:
    def fail(tx: Tx) -> None:
        add_position(tx)
        raise LookupError

    with recorded() as commits, pytest.raises(LookupError):
        await store.write(fail)
    assert commits == []


async def test_text_is_counted_in_bytes_and_over_all_tables(store: Store, now: int) -> None:
    async def written_by(title: str) -> dict[str, int]:
        with recorded() as commits:
            await store.write(cases.open_case, now, Opening("local", title, Origin.CLI), actor="test")
        (commit,) = commits
        return {written.table: written.inserted for written in commit}

    await written_by("the first, whose id takes no byte")
    plain, accented = await written_by("Uberlauf"), await written_by("Überlauf")
    assert plain.keys() == accented.keys() >= {"cases", "trail"}
    assert accented["cases"] == plain["cases"] + 1


async def test_the_floor_commits_as_often_and_writes_as_much(tmp_path: Path) -> None:
    turns = await written_by_turns(tmp_path)
    assert [len(commits) for commits in turns].count(5) == 4  # four plain turns
    assert max(len(commits) for commits in turns) == 8  # and a gated one
    db = tmp_path / "floor.db"
    with Floor(db, turns) as floor:
        floor.turns(len(turns))
        floor.checkpoint()
    inserted: dict[str, int] = {}
    for written in (written for commits in turns for commit in commits for written in commit):
        inserted[written.table] = inserted.get(written.table, 0) + written.inserted
    conn = sqlite3.connect(db)
    for table, size in inserted.items():
        assert conn.execute(f"SELECT coalesce(sum(length(written)), 0) FROM {table}").fetchone() == (size,)
    conn.close()


async def test_a_turn_of_the_benchmark_is_answered_and_a_fifth_of_them_is_decided(tmp_path: Path) -> None:
    async with asyncio.timeout(30), installed(tmp_path / "c.db") as installation:
        await at_once(installation, 3, 5)
        assert installation.turns == {"t0": 5, "t1": 5, "t2": 5}
        assert len(installation.deciding_ms) == 3
