"""Group commit: one COMMIT serves everybody who waits, and a function that raises loses only itself."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from casestore import prompts
from casestore.batch import Failed, commit_together
from casestore.db import MOST_PER_COMMIT, Store
from casestore.errors import ConstraintBroken, StoreUnavailable
from casestore.migrate import migrate
from casestore.tx import Tx
from tests.store.inside import watch


def keep(tx: Tx, name: str) -> str:
    return prompts.keep(tx, 1, text=name, tools="[]", label=name)


def keep_then_raise(tx: Tx, name: str, error: BaseException) -> None:
    keep(tx, name)
    raise error


def labels(tx: Tx) -> set[str]:
    return {str(label) for label in tx.column("SELECT label FROM prompts")}


async def statements_of(store: Store, names: list[str]) -> list[str]:
    seen = await watch(store)
    await asyncio.gather(*(store.write(keep, name) for name in names))
    return seen


async def test_one_caller_gets_what_the_function_returned_and_another_connection_sees_the_row(
    store: Store,
) -> None:
    version = await store.write(keep, "a")
    assert version == prompts.version("a", "[]")
    assert await store.read(labels) == {"a"}


async def test_sixty_four_callers_share_one_commit(store: Store) -> None:
    seen = await statements_of(store, [f"p{n}" for n in range(64)])
    assert seen.count("COMMIT") == 1
    assert len(await store.read(labels)) == 64


async def test_more_callers_than_fit_one_commit_are_served_by_the_next(store: Store) -> None:
    seen = await statements_of(store, [f"p{n}" for n in range(MOST_PER_COMMIT + 1)])
    assert seen.count("COMMIT") == 2
    assert len(await store.read(labels)) == MOST_PER_COMMIT + 1


async def test_those_who_come_while_a_commit_is_under_way_get_the_next_one(store: Store) -> None:
    first = asyncio.create_task(store.write(keep, "first"))
    await asyncio.sleep(0)
    second = asyncio.create_task(store.write(keep, "second"))
    await asyncio.gather(first, second)
    assert await store.read(labels) == {"first", "second"}


async def test_twenty_coroutines_at_once_make_twenty_rows(store: Store) -> None:
    await asyncio.gather(*(store.write(keep, f"c{n}") for n in range(20)))
    assert await store.read(labels) == {f"c{n}" for n in range(20)}


async def test_each_caller_gets_its_own_result_in_whatever_order_it_asked(store: Store) -> None:
    names = [f"r{n}" for n in range(30)]
    assert await asyncio.gather(*(store.write(keep, name) for name in names)) == [
        prompts.version(name, "[]") for name in names
    ]


@pytest.mark.parametrize("alone", [True, False])
async def test_a_function_that_raises_loses_only_itself(store: Store, alone: bool) -> None:
    others = [] if alone else [store.write(keep, f"o{n}") for n in range(10)]
    raising = store.write(keep_then_raise, "lost", LookupError("no"))
    *kept, error = await asyncio.gather(*others, raising, return_exceptions=True)
    assert isinstance(error, LookupError)
    assert await store.read(labels) == {f"o{n}" for n in range(len(kept))}


@pytest.mark.parametrize("alone", [True, False])
async def test_a_function_that_raises_stop_iteration_still_answers_everybody(store: Store, alone: bool) -> None:
    raising = store.write(keep_then_raise, "lost", StopIteration("an iterator ran dry"))
    others = [] if alone else [store.write(keep, "kept")]
    error, *_ = await asyncio.wait_for(asyncio.gather(raising, *others, return_exceptions=True), 10)
    assert isinstance(error, RuntimeError)
    assert await store.read(labels) == (set() if alone else {"kept"})


async def test_a_read_that_raises_stop_iteration_answers_its_caller(store: Store) -> None:
    with pytest.raises(RuntimeError):
        await asyncio.wait_for(store.read(lambda tx: next(iter(tx.column("SELECT 1 FROM prompts")))), 10)


async def test_a_broken_constraint_is_a_bug_and_does_not_take_its_neighbours_along(store: Store) -> None:
    broken = store.write(Tx.run, "INSERT INTO prompts (version) VALUES ('v')")
    error, _ = await asyncio.gather(broken, store.write(keep, "kept"), return_exceptions=True)
    assert isinstance(error, ConstraintBroken)
    assert await store.read(labels) == {"kept"}
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.run, "INSERT INTO prompts (version) VALUES ('v')")
    assert store.healthy, "a bug is not a storage error"


async def test_nobody_is_told_done_before_the_commit(store: Store) -> None:
    seen = await watch(store)
    await store.write(keep, "a")
    assert seen[-1] == "COMMIT"


async def test_a_later_function_of_the_batch_sees_what_an_earlier_one_wrote(store: Store) -> None:
    seen = await watch(store)
    _, found = await asyncio.gather(store.write(keep, "a"), store.write(labels))
    assert found == {"a"}
    assert seen.count("BEGIN IMMEDIATE") == 1


def test_a_locked_file_is_waited_for_once_and_not_once_for_each_of_a_batch(db: Path) -> None:
    migrate(db)
    holder, writer = (sqlite3.connect(db, isolation_level=None, timeout=0) for _ in range(2))
    holder.execute("BEGIN IMMEDIATE")
    ran: list[int] = []
    results = commit_together(writer, lambda: "n", [lambda _, n=n: ran.append(n) for n in range(3)])
    assert [type(result.error) for result in results if isinstance(result, Failed)] == [StoreUnavailable] * 3
    assert ran == []
    holder.close()
    writer.close()
