"""A checkpoint while a reader in another process stays in its snapshot: it says no, nobody waits, nothing is lost."""

import asyncio
import json
import logging
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from bot.schedule import Schedule
from casestore.check import check, damage
from casestore.db import Store
from casestore.files import wal_bytes
from casestore.migrate import open_store
from casestore.tx import Tx
from tests.loop.rig import Rig
from tests.store.processes import start

PUT = "INSERT INTO positions (address, last_seen) VALUES (:address, '')"
SEEN = "SELECT address FROM positions ORDER BY address"

STAYS = """
def stay(tx):
    before = tx.column("SELECT address FROM positions ORDER BY address")
    wait_for_the_others()
    return [before, tx.column("SELECT address FROM positions ORDER BY address")]

async def main():
    store = await open_store(DB, nonce, serves=False)
    print(json.dumps(await store.read(stay)), flush=True)
    await store.close()

asyncio.run(main())
"""

WRITES = """
async def main():
    store = await open_store(DB, nonce, serves=ARGS["serves"])
    put = lambda tx, address: tx.run("INSERT INTO positions (address, last_seen) VALUES (:a, '')", a=address)
    for address in ARGS["put"]:
        await store.write(put, address)
        print(json.dumps({"done": address, "emptied": ARGS["serves"] and await store.checkpoint()}), flush=True)
    wait_for_the_others()
    await store.close()

asyncio.run(main())
"""


@contextmanager
def reader(db: Path) -> Generator[Callable[[], object]]:
    """A process that reads, and stays in its snapshot; called, it leaves, and tells what it saw first and last."""
    process = start(STAYS, db, None)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def leave() -> object:
        out, err = process.communicate("go\n", timeout=50)
        assert (process.returncode, err) == (0, "")
        return json.loads(out)

    try:
        yield leave
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


@asynccontextmanager
async def opened(db: Path, *, serves: bool = True) -> AsyncGenerator[Store]:
    """The store, as the next service or a command opens it."""
    store = await open_store(db, lambda: "n", serves=serves)
    try:
        yield store
    finally:
        await store.close()


async def put(store: Store, *addresses: str) -> None:
    for address in addresses:
        assert await store.write(Tx.run, PUT, address=address) == 1


async def whole(store: Store, db: Path) -> list[object]:
    """What is in a file in which nothing is wrong."""
    assert ((await store.read(check)).problems, damage(db)) == ((), ())
    return await store.read(Tx.column, SEEN)


async def test_writes_go_on_and_the_wal_grows_until_the_reader_leaves(store: Store, db: Path) -> None:
    await put(store, "a")
    with reader(db) as leave:
        sizes = list[int]()
        for n in range(3):
            await put(store, f"s{n}")
            command = await asyncio.to_thread(start, WRITES, db, {"serves": False, "put": [f"c{n}"]})
            assert await asyncio.to_thread(command.communicate, "go\n", 50) == (
                f'{{"done": "c{n}", "emptied": false}}\nready\n',
                "",
            )
            assert not await store.checkpoint()
            sizes.append(wal_bytes(db))
        assert sizes == sorted(set(sizes)), "it grows"
        assert store.healthy, "a checkpoint that has to wait is no failure"
        assert await asyncio.to_thread(leave) == [["a"], ["a"]], "one snapshot, whatever was written meanwhile"
    assert await store.checkpoint()
    assert wal_bytes(db) == 0
    assert await whole(store, db) == ["a", "c0", "c1", "c2", "s0", "s1", "s2"]


async def test_nobody_waits_for_a_reader_that_stays(store: Store, db: Path) -> None:
    """Who writes while a checkpoint tries is done before the reader has left; so is the checkpoint."""
    await put(store, "a")
    with reader(db):
        await put(store, "b")
        tried = [asyncio.create_task(store.checkpoint()) for _ in range(3)]
        async with asyncio.timeout(30):
            await asyncio.gather(*(put(store, f"g{n}") for n in range(10)))
            assert await asyncio.gather(*tried) == [False] * 3
    assert await store.checkpoint()


async def test_the_log_says_how_much_could_not_be_moved(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="casebound")
    schedule = Schedule(rig.store, rig.clock, rig.settings, rig.engine, rig.delivery, None)
    await put(rig.store, "a")
    with reader(rig.db):
        await put(rig.store, "b")
        await schedule._checkpoint()  # pyright: ignore[reportPrivateUsage] - the tick, without its scheduler
        (told,) = [record for record in caplog.records if record.message == "checkpoint.incomplete"]
        assert getattr(told, "fields") == {"wal_bytes": wal_bytes(rig.db)}  # noqa: B009 - of our log alone
        assert wal_bytes(rig.db) > 0
    caplog.clear()
    await schedule._checkpoint()  # pyright: ignore[reportPrivateUsage]
    assert not caplog.records


@pytest.mark.parametrize("reader_too", [False, True])
async def test_a_service_killed_meanwhile_has_lost_nothing(db: Path, new_file: bytes, reader_too: bool) -> None:
    """Part of the WAL is in the file by then, and part is not: the reader's snapshot stands between."""
    db.write_bytes(new_file)
    async with opened(db) as store:
        await put(store, "a")
    with reader(db) as leave:
        service = await asyncio.to_thread(start, WRITES, db, {"serves": True, "put": ["b", "c", "d"]})
        assert await asyncio.to_thread(said, service, 3) == [{"done": each, "emptied": False} for each in "bcd"]
        service.send_signal(signal.SIGKILL)
        service.communicate()
        async with opened(db) as store:  # the next start finds the reader still there
            await put(store, "e")
            assert not await store.checkpoint()
            assert await whole(store, db) == ["a", "b", "c", "d", "e"]
            if not reader_too:
                assert await asyncio.to_thread(leave) == [["a"], ["a"]]
                assert await store.checkpoint()
                assert wal_bytes(db) == 0
    async with opened(db) as store:
        assert await store.checkpoint()
        assert wal_bytes(db) == 0
        assert await whole(store, db) == ["a", "b", "c", "d", "e"]


def said(process: "subprocess.Popen[str]", many: int) -> list[object]:
    """The next lines of a process."""
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(many)]
