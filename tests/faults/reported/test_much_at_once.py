"""What brought others down by its size or its number, with the inputs as reported (docs/faults.md)."""

import asyncio
import json
import resource
import sys
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from bot.alerts import alertmanager
from bot.clock import SystemClock
from bot.schedule import Schedule, remind
from casestore import episodes, gates
from casestore.db import Store
from casestore.migrate import open_store
from casestore.tx import Tx
from tests.alerts.conftest import Intake
from tests.alerts.notifications import alert, body
from tests.loop.rig import Rig

WRITERS, EACH = 8, 500


def add_one(tx: Tx, name: str) -> int:
    """Reads and then writes: what breaks where a transaction is upgraded half-way."""
    seen = tx.integer("SELECT count(*) FROM positions")
    tx.run("INSERT INTO positions (address, last_seen) VALUES (:name, :seen)", name=name, seen=str(seen))
    return seen


async def test_eight_writers_with_a_connection_each_write_five_hundred_times_without_one_error(
    store: Store, db: Path
) -> None:
    """jentic/jentic-one#529."""
    nonces = count(1)
    others = [await open_store(db, lambda: f"w{next(nonces)}", serves=False) for _ in range(WRITERS - 1)]
    try:
        writes = [
            one.write(add_one, f"{number}/{nth}") for nth in range(EACH) for number, one in enumerate([store, *others])
        ]
        seen = await asyncio.gather(*writes)
    finally:
        for other in others:
            await other.close()
    assert sorted(seen) == list(range(WRITERS * EACH))


async def test_twenty_thousand_alerts_with_a_label_of_64_kib_and_more_left_out_are_one_small_case(
    alerts: Intake,
) -> None:
    """prometheus/alertmanager#2274: what is kept does not grow with what is sent, and what is missing is said."""
    members = [alert(f"host-{n:05}") for n in range(20_000)]
    cast("dict[str, object]", members[0]["labels"])["huge"] = "x" * 65_536
    sent = body(*members, truncatedAlerts=7)
    before = most_memory()
    case = await alerts.open(alertmanager.read(sent, alerts.now))
    (message,) = await alerts.messages(case.id)
    assert len(await alerts.all_cases()) == 1
    assert len(await alerts.store.read(episodes.known, case.id)) == 20_000
    assert "left out 7 more alerts" in message.text
    assert len(json.dumps(message.body)) < 30_000
    assert most_memory() - before < 40 * len(sent)


def most_memory() -> int:
    """The most this process has ever had at once, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


async def test_sixty_missed_ticks_are_run_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """agronholm/apscheduler#463 and Abilityai/trinity#158: neither dropped nor replayed."""
    clock, run = SystemClock(), cast("list[object]", [])

    async def write(store: Store, fn: Callable[..., object], *_: object) -> object:
        run.append(fn)
        return []

    monkeypatch.setattr(Store, "write", cast("Callable[..., Awaitable[object]]", write))
    schedule = Schedule(rig.store, Late(clock), rig.settings, rig.engine, rig.delivery, None)
    schedule.start()
    for _ in range(500):  # no transaction leaves the loop, so whatever was to be run has been by then
        await asyncio.sleep(0)
    schedule.stop()
    await asyncio.sleep(0)
    monkeypatch.undo()
    assert [run.count(gates.expire_due), run.count(remind)] == [1, 1]


class Late:
    """When the first of sixty ticks was due, of one every five seconds; the last was two seconds and a half ago."""

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock

    def now(self) -> int:
        return self._clock.now() - 59 * 5_000 - 2_500
