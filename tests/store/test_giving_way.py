"""A busy service lets another process write between its own commits (design, "Several processes")."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from casestore import db as store_db
from casestore.db import Store
from casestore.locks import FileLock
from casestore.migrate import open_store
from casestore.tx import Tx


def said(tx: Tx, name: str) -> None:
    tx.run("INSERT INTO positions (address, last_seen) VALUES (:name, '1')", name=name)


async def test_the_service_waits_while_another_process_holds_the_right_to_write(
    store: Store, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_db, "GIVE_WAY_MS", 20_000)
    another = FileLock(db)
    with another.held(1_000):
        writing = asyncio.create_task(store.write(said, "a"))
        for _ in range(50):  # each of them takes longer than a commit does
            await store.read(Tx.integer, "SELECT count(*) FROM positions")
        assert not writing.done()
    await writing
    another.close()


async def test_the_service_does_not_wait_for_ever(store: Store, db: Path) -> None:
    another = FileLock(db)
    with another.held(1_000):
        await store.write(said, "a")
    another.close()
    assert await store.read(Tx.integer, "SELECT count(*) FROM positions") == 1


async def test_another_process_gets_its_turn_beside_a_service_that_never_rests(
    store: Store, db: Path, nonce: Callable[[], str]
) -> None:
    done = asyncio.Event()

    async def never_rest(name: str) -> None:
        number = 0
        while not done.is_set():
            number += 1
            await store.write(said, f"{name}{number}")

    async with asyncio.TaskGroup() as group:
        for name in "abcd":
            group.create_task(never_rest(name))
        others = [await open_store(db, nonce, serves=False) for _ in range(4)]
        for number in range(5):
            await asyncio.gather(*(o.write(said, f"other{number}-{n}") for n, o in enumerate(others)))
        done.set()
        for other in others:
            await other.close()
    assert await store.read(Tx.integer, "SELECT count(*) FROM positions WHERE address LIKE 'other%'") == 20
