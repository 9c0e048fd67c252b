"""The real scheduler: each tick comes at once, goes on after a failure, and stops without leaving anything behind."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from bot.clock import SystemClock
from bot.schedule import Schedule
from casestore.db import Store
from casestore.errors import StoreUnavailable
from tests.loop.rig import Rig
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
    schedule = schedule_of(rig)
    schedule.start()
    assert schedule.ticking
    await reached.wait()
    schedule.stop()
    await asyncio.sleep(0)
    assert not schedule.ticking
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
