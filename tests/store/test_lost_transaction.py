"""Disk full, I/O error, out of memory: SQLite rolls back everything, and nobody may be told otherwise."""

import asyncio
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from casestore.db import Store
from casestore.errors import StoreUnavailable
from casestore.tx import Tx
from tests.store.inside import leave_pages, on_writer, watch

TOO_BIG = 1_000_000
"""Characters that need more pages than are left."""


def put(tx: Tx, name: str, size: int = 1) -> str:
    tx.run(
        "INSERT INTO prompts (version, label, text, tools, first_used_at) VALUES (:name, '', :text, '[]', 1)",
        name=name, text="x" * size,
    )  # fmt: skip
    return name


def put_and_go_on(tx: Tx, name: str, then: str) -> str:
    """A function that swallows the error and writes on, which no function should."""
    for attempt, size in ((name, TOO_BIG), (then, 1)):
        try:
            put(tx, attempt, size)
        except Exception:  # noqa: S112
            continue
    return "done"


def stored(tx: Tx) -> set[str]:
    return {str(version) for version in tx.column("SELECT version FROM prompts")}


@contextmanager
def no_file_grows_beyond(size: int) -> Generator[None]:
    """The operating system refuses to write past `size`, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("big", [0, 3, 7])
async def test_when_one_fills_the_disk_the_others_are_done_again_alone(store: Store, big: int) -> None:
    await leave_pages(store, 3)
    seen = await watch(store)
    answers = await asyncio.gather(
        *(store.write(put, f"p{n}", TOO_BIG if n == big else 1) for n in range(8)), return_exceptions=True
    )
    assert isinstance(answers.pop(big), StoreUnavailable)
    assert set(answers) == await store.read(stored) == {f"p{n}" for n in range(8) if n != big}
    assert seen.count("COMMIT") == 7, "each of the others in a transaction of its own"


async def test_a_full_disk_is_told_to_the_one_who_asked_and_makes_the_store_unhealthy(store: Store) -> None:
    await leave_pages(store, 0)
    with pytest.raises(StoreUnavailable, match="Try again"):
        await store.write(put, "p", TOO_BIG)
    assert not store.healthy
    await leave_pages(store, 100)
    await store.write(put, "p")
    assert store.healthy
    assert await store.read(stored) == {"p"}


@pytest.mark.parametrize("neighbours", [0, 3])
async def test_a_function_that_swallows_the_error_and_writes_on_commits_nothing_by_itself(
    store: Store, neighbours: int
) -> None:
    await leave_pages(store, 3)
    swallowing = store.write(put_and_go_on, "big", "afterwards")
    error, *others = await asyncio.gather(
        swallowing, *(store.write(put, f"n{n}") for n in range(neighbours)), return_exceptions=True
    )
    assert isinstance(error, StoreUnavailable)
    assert set(others) == await store.read(stored) == {f"n{n}" for n in range(neighbours)}
    assert not await on_writer(store, lambda conn: conn.in_transaction)


async def test_when_the_commit_itself_fails_nobody_is_told_done(store: Store, db: Path) -> None:
    await store.write(put, "before")
    wal = db.with_name(db.name + "-wal")
    with no_file_grows_beyond(wal.stat().st_size):
        answers = await asyncio.gather(*(store.write(put, f"p{n}") for n in range(4)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 4
    assert await store.read(stored) == {"before"}
    assert await store.write(put, "after") == "after"
    assert await store.read(stored) == {"before", "after"}


async def test_when_a_commit_for_all_fails_each_gets_one_of_its_own(store: Store, db: Path) -> None:
    """There is room for some of them, and they are told the truth one by one."""
    wal, frame = db.with_name(db.name + "-wal"), 4096 + 24
    await store.write(put, "before")
    with no_file_grows_beyond(wal.stat().st_size + 8 * frame):
        answers = await asyncio.gather(*(store.write(put, f"p{n}", 4000) for n in range(12)), return_exceptions=True)
    done = {answer for answer in answers if isinstance(answer, str)}
    assert 0 < len(done) < 12
    assert all(isinstance(answer, StoreUnavailable) for answer in answers if answer not in done)
    assert await store.read(stored) == {"before", *done}


async def test_a_transaction_refuses_to_run_a_statement_outside_of_one(store: Store) -> None:
    kept: list[Tx] = []
    await store.write(kept.append)
    with pytest.raises(StoreUnavailable):
        await on_writer(store, lambda _: kept[0].run("DELETE FROM prompts"))
