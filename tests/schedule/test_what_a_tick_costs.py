"""A tick reads what is due, not what is there: counted in instructions of SQLite's machine, with few cases and many."""

from collections.abc import Callable

import pytest

from bot import schedule
from bot.settings import Settings
from casestore import gates, leases
from casestore.db import Store
from casestore.tx import Tx
from tests.conftest import DAY, HOUR, World
from tests.store.inside import on_writer

SETTINGS = Settings()
TICKS: dict[str, Callable[[Tx, int], object]] = {
    "expire": gates.expire_due,
    "remind": lambda tx, now: schedule.remind(tx, now, SETTINGS, None),
    "close": lambda tx, now: schedule.auto_close(tx, now, SETTINGS.cases.auto_close),
    "look for work": lambda tx, now: leases.ready(tx, now, 64),
}


@pytest.mark.parametrize("name", TICKS)
async def test_a_tick_costs_the_same_however_many_cases_wait(name: str, world: World, store: Store) -> None:
    await _cases_that_wait(world, 2)
    with_few = await _instructions(store, TICKS[name], world.now)
    await _cases_that_wait(world, 30)
    assert await _instructions(store, TICKS[name], world.now) <= with_few


async def _cases_that_wait(world: World, number: int) -> None:
    """At a gate that has reminders to come, and with a person who has just taken them; as many of each."""
    for _ in range(number):
        await world.ask(expires_at=world.now + DAY, reminders=[world.now + HOUR])
        await world.store.write(leases.seize, world.now, await world.case(), world.people.kim)


async def _instructions(store: Store, tick: Callable[[Tx, int], object], now: int) -> int:
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    await on_writer(store, lambda conn: conn.set_progress_handler(count, 1))
    await store.write(tick, now)
    await on_writer(store, lambda conn: conn.set_progress_handler(None, 0))
    return counted
