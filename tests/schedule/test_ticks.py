"""The real scheduler: each tick comes at once, goes on after a failure, and stops without leaving anything behind."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import tzinfo
from functools import partial
from typing import cast

import pytest

from bot import schedule
from bot.clock import SystemClock
from bot.schedule import Schedule
from bot.settings import Settings
from casestore import gates
from casestore.db import Store
from casestore.errors import StoreUnavailable
from casestore.models import Gate
from casestore.tx import Tx
from channels.address import Address
from tests.loop.rig import HOUR, Rig
from tests.loop.scripted import calls


def schedule_of(rig: Rig) -> Schedule:
    """Of the machine's own time, which is later than any of the rig's."""
    return Schedule(rig.store, SystemClock(), rig.settings, rig.engine, rig.delivery, None)


async def until_written(rig: Rig, monkeypatch: pytest.MonkeyPatch, times: int, *, fail: BaseException | None) -> None:
    """Start the ticks and wait until this many transactions were asked for, the first of which fails."""
    reached, count = asyncio.Event(), 0
    real = cast("Callable[..., Awaitable[object]]", Store.write)

    async def write(store: Store, *args: object, **kwargs: object) -> object:
        nonlocal count
        count += 1
        if count >= times:
            reached.set()
        if count == 1 and fail is not None:
            raise fail
        return await real(store, *args, **kwargs)

    monkeypatch.setattr(Store, "write", write)
    ticks = schedule_of(rig)
    ticks.start()
    assert ticks.ticking
    await reached.wait()
    ticks.stop()
    await asyncio.sleep(0)
    assert not ticks.ticking
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    await asyncio.gather(*left, return_exceptions=True)


async def test_what_fell_due_while_nobody_ran_is_done_at_the_start(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.model.then(calls(("svc.restart", {"service": "nginx"})))
    case = await rig.say("nginx hangs")
    await rig.work()
    await until_written(rig, monkeypatch, 3, fail=None)
    assert (await rig.gates(case))[0].state == "expired"


@pytest.mark.parametrize(
    ("fail", "named"), [(StoreUnavailable("the disk is full"), "tick.failed"), (KeyError("a bug"), "tick.raised")]
)
async def test_a_tick_that_fails_is_logged_and_the_others_come_all_the_same(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fail: Exception, named: str
) -> None:
    with caplog.at_level(logging.INFO):
        await until_written(rig, monkeypatch, 2, fail=fail)
    assert named in [record.message for record in caplog.records]
    assert not [record for record in caplog.records if record.name.startswith("apscheduler.executors")
                and record.levelno >= logging.ERROR]  # fmt: skip


async def test_what_fell_due_in_great_numbers_is_done_by_one_tick_in_batches_that_others_can_write_between(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.model.then(*[calls(("svc.restart", {"service": "nginx"}))] * 5)
    waiting = [
        await rig.say(
            f"nginx hangs on {number}", at=Address(channel="memory", space="T1", room="C1", thread=f"t{number}")
        )
        for number in range(5)
    ]
    await rig.work()
    done = list[str]()
    expire, remind = partial(gates.expire_due, most=2), schedule.remind

    def expiring(tx: Tx, now: int) -> list[Gate]:
        expired = expire(tx, now)
        done.append(f"expired {len(expired)}")
        return expired

    def reminding(tx: Tx, now: int, settings: Settings, zone: tzinfo | None) -> int:
        done.append("reminded")
        return remind(tx, now, settings, zone)

    monkeypatch.setattr(gates, "expire_due", expiring)
    monkeypatch.setattr(schedule, "remind", reminding)
    await until_written(rig, monkeypatch, 8, fail=None)
    assert done[:5] == ["expired 2", "expired 2", "expired 1", "expired 0", "reminded"]
    assert [(await rig.gates(case))[0].state for case in waiting] == ["expired"] * 5


@pytest.mark.parametrize("most", [1, 3])
async def test_a_batch_of_reminders_takes_no_more_than_it_may_and_what_is_left_comes_with_the_next(
    rig: Rig, most: int
) -> None:
    rig.model.then(*[calls(("svc.restart", {"service": "nginx"}))] * 4)
    for number in range(4):
        await rig.say(
            f"nginx hangs on {number}", at=Address(channel="memory", space="T1", room="C1", thread=f"t{number}")
        )
    await rig.work()
    rig.clock.pass_by(13 * HOUR)  # past half of a day
    found = list[int]()
    while batch := await rig.store.write(gates.to_remind, rig.clock.now(), most):
        found += [gate.id for gate in batch]
        assert len(batch) <= most
    assert sorted(found) == sorted(set(found))
    assert len(found) == 4
