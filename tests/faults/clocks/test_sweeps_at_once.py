"""Two sweeps at once, in one process or in two: each thing happens once (R6, R12, R27).

That a late answer is refused though no scheduler ever ran is in tests/store/test_expiry.py and
tests/schedule/test_what_comes_with_time.py.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot import schedule
from bot.people import closing
from bot.settings import Settings
from casestore import cases, gates, leases, outbox
from casestore.db import Store
from casestore.migrate import open_store
from casestore.states import OutboxKind
from casestore.tx import Tx
from tests.conftest import DAY, HOUR, World
from tests.store.processes import race

SETTINGS = Settings()
AT = "memory:S/R/T"


def expire(tx: Tx, now: int) -> int:
    return len(gates.expire_due(tx, now))


def remind(tx: Tx, now: int) -> int:
    return schedule.remind(tx, now, SETTINGS, None)


def close(tx: Tx, now: int) -> int:
    return schedule.auto_close(tx, now, SETTINGS.cases.auto_close)


def deliver(tx: Tx, now: int) -> int:
    return len(outbox.take_due(tx, now, ("memory",), boot="b", most=9))


def take(tx: Tx, now: int) -> int:
    """A lease that has run out."""
    found = leases.ready(tx, now, 9)
    return sum(leases.take(tx, now, case_id, holder="h", boot="b", ttl=HOUR) is not None for case_id in found)


async def due(world: World, what: str) -> None:
    """Bring it about that one thing is due in a week."""
    store, now = world.store, world.now
    if what in ("expire", "remind"):
        at = now + HOUR if what == "expire" else now + 30 * DAY
        await world.ask(expires_at=at, reminders=[now + 30 * 60_000])
    elif what == "remind a person":
        case = await world.case()
        await store.write(leases.seize, now, case, world.people.kim)
    elif what == "close":
        case = await world.case()
        await store.write(lambda tx: closing.resolve(tx, now, case, by="kim", why=""))
    elif what == "deliver":
        case = await world.case()
        await store.write(outbox.put, now, case.id, AT, OutboxKind.MESSAGE, body="b")
    else:
        await world.begin()


SWEEPS: dict[str, Callable[[Tx, int], int]] = {
    "expire": expire, "remind": remind, "remind a person": remind, "close": close, "deliver": deliver, "take": take,
}  # fmt: skip


@pytest.fixture
async def beside(store: Store, db: Path, nonce: Callable[[], str]) -> AsyncIterator[Store]:
    """The same file, opened as the CLI does beside a service."""
    opened = await open_store(db, nonce, serves=False)
    yield opened
    await opened.close()


@pytest.mark.parametrize("what", SWEEPS)
async def test_what_is_due_happens_once_however_many_look_for_it_at_once(
    world: World, store: Store, beside: Store, what: str
) -> None:
    await due(world, what)
    later = world.now + 7 * DAY
    looking: list[Awaitable[int]] = [each.write(SWEEPS[what], later) for each in (store, beside) for _ in range(4)]
    assert sorted(await asyncio.gather(*looking)) == [0] * 7 + [1]
    assert await store.write(SWEEPS[what], later) == 0


IN_A_PROCESS = """
from tests.faults.clocks.test_sweeps_at_once import SWEEPS

async def main():
    store = await open_store(DB, nonce, serves=False)
    wait_for_the_others()
    done = [await store.write(SWEEPS[ARGS["what"]], ARGS["now"]) for _ in range(3)]
    await store.close()
    return sum(done)

print(asyncio.run(main()))
"""


@pytest.mark.kill
@pytest.mark.parametrize(
    "what", [what if what in ("expire", "deliver") else pytest.param(what, marks=pytest.mark.slow) for what in SWEEPS]
)
async def test_what_is_due_happens_once_where_two_processes_look_for_it(
    world: World, store: Store, db: Path, what: str
) -> None:
    await due(world, what)
    args = {"what": what, "now": world.now + 7 * DAY}
    assert sorted(map(int, map(str, await asyncio.to_thread(race, IN_A_PROCESS, db, [args, args])))) == [0, 1]


@pytest.mark.parametrize("what", ["expire", "remind", "close", "deliver"])
async def test_what_has_happened_does_not_happen_again_where_the_clock_was_set_back_and_comes_by_once_more(
    world: World, store: Store, what: str
) -> None:
    await due(world, what)
    later = world.now + 7 * DAY
    assert await store.write(SWEEPS[what], later) == 1
    for now in (later - DAY, world.now - 7 * DAY, later, later + 7 * DAY):
        assert await store.write(SWEEPS[what], now) == 0


async def test_nothing_falls_due_by_a_clock_that_was_set_back(world: World, store: Store) -> None:
    for what in ("expire", "remind", "remind a person", "close"):
        await due(world, what)
    for sweep in (expire, remind, close):
        assert await store.write(sweep, world.now - 7 * DAY) == 0
    assert (await store.read(cases.counts))["closed"] == 0
