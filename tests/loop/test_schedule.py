"""Ticks over the truth: expiry, reminders, closing by itself; each may come at any time, and twice (R6, R12)."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from bot.clock import SystemClock
from bot.schedule import Schedule, auto_close, remind
from bot.settings import Settings
from bot.settings.sections import Gates
from casestore import gates
from casestore.errors import StoreUnavailable
from casestore.models import Case
from casestore.states import GateState
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, MINUTE, Rig
from tests.loop.scripted import calls, returned, says

RESTART = ("svc.restart", {"service": "a"})
DAY = 24 * HOUR


async def asked(rig: Rig) -> Case:
    rig.model.then(calls(RESTART))
    case = await rig.say("It hangs")
    await rig.work()
    return case


async def tick(rig: Rig) -> int:
    """What the scheduler runs every few seconds; how many were expired or reminded of."""
    now = rig.clock.now()
    expired = await rig.store.write(gates.expire_due, now)
    return len(expired) + await rig.store.write(remind, now, rig.settings, rig.settings.service.zone)


async def close_by_itself(rig: Rig) -> int:
    return await rig.store.write(auto_close, rig.clock.now(), rig.settings.cases.auto_close)


async def test_the_tick_denies_what_nobody_decided_and_the_assistant_is_told(rig: Rig) -> None:
    case = await asked(rig)
    rig.model.then(says("Nobody let me."))
    rig.clock.pass_by(DAY - 1)
    await tick(rig)
    assert (await rig.gate(case)).state is GateState.OPEN
    rig.clock.pass_by(1)
    await asyncio.gather(tick(rig), tick(rig))
    await rig.work()

    assert returned(rig.model.sent[1]) == ["expired, not run: nobody decided in time, which counts as a denial"]
    assert (await rig.trail(case)).count("gate.expired") == 1
    assert rig.effects.made == []
    assert rig.posted()[-1] == "Nobody let me."


async def test_a_late_answer_is_refused_and_writes_the_expiry_without_any_tick(rig: Rig) -> None:
    case = await asked(rig)
    gate = await rig.gate(case)
    rig.model.then(says("Nobody let me."))
    rig.clock.pass_by(DAY + 1)

    late = await rig.decide(case)
    assert (late.taken, late.text.startswith(f"Too late for gate {gate.id}. Expired: nobody decided by")) == (
        False,
        True,
    )
    rig.clock.pass_by(-2 * DAY)
    again = await rig.decide(case, gate=gate)
    await rig.work()

    assert (again.taken, rig.effects.made) == (False, [])
    assert [gate.state for gate in await rig.gates(case)] == [GateState.EXPIRED]
    assert rig.posted()[-1] == "Nobody let me."


async def test_each_reminder_comes_once_and_points_to_the_gate(rig: Rig) -> None:
    case = await asked(rig)
    gate = await rig.gate(case)
    for at, expected in ((0.4, 0), (0.5, 1), (0.6, 1), (0.8, 2), (0.9, 2)):
        rig.clock.ms = gate.asked_at + int(DAY * at)
        await asyncio.gather(tick(rig), tick(rig))
        await rig.deliver()
        reminders = [text for text in rig.posted() if text.startswith("Still waiting")]
        assert len(reminders) == expected
    assert f"gate {gate.id}" in reminders[0]
    assert case.label in reminders[0]


async def test_reminders_that_were_missed_while_nobody_ran_come_as_one(rig: Rig) -> None:
    case = await asked(rig)
    await rig.restart()
    rig.clock.pass_by(int(DAY * 0.95))
    assert (await tick(rig), await tick(rig)) == (1, 0)
    assert [text for text in await rig.texts(case) if text.startswith("Still waiting")] != []


async def test_of_a_gate_that_is_decided_nobody_is_reminded(rig: Rig) -> None:
    case = await asked(rig)
    rig.model.then(says("Restarted."))
    await rig.decide(case)
    await rig.work()
    rig.clock.pass_by(int(DAY * 0.6))
    assert await tick(rig) == 0


async def test_a_gate_lives_as_long_as_the_settings_said_when_it_was_asked(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(gates=Gates.model_validate({"ttl": "1h", "reminders": [0.5]})))
    case = await asked(rig)
    gate = await rig.gate(case)
    assert (gate.expires_at - gate.asked_at, gate.reminders) == (HOUR, [gate.asked_at + 30 * MINUTE])


async def test_whoever_has_a_case_for_long_is_reminded_of_it_now_and_then(rig: Rig) -> None:
    rig.model.then(says("Hello."))
    case = await rig.say("It hangs")
    await rig.work()
    await rig.take(case)
    for hours, expected in ((3, 0), (1, 1), (1, 1), (3, 2)):
        rig.clock.pass_by(hours * HOUR)
        await asyncio.gather(tick(rig), tick(rig))
        await rig.deliver()
        assert len([text for text in rig.posted() if text.startswith("kim still has")]) == expected

    await rig.release(case)
    rig.clock.pass_by(DAY)
    assert await tick(rig) == 0


async def resolved(rig: Rig) -> Case:
    rig.model.then(calls(("case.resolve", {"note": "done"})), says("Done."))
    case = await rig.say("It hangs")
    await rig.work()
    return case


async def test_a_case_resolved_for_long_enough_closes_by_itself_once(rig: Rig) -> None:
    case = await resolved(rig)
    rig.clock.pass_by(3 * DAY - 1)
    assert await close_by_itself(rig) == 0
    rig.clock.pass_by(1)
    assert sorted(await asyncio.gather(close_by_itself(rig), close_by_itself(rig))) == [0, 1]
    assert (await rig.case(case)).state == "closed"
    assert (await rig.trail(case)).count("case.closed") == 1


async def test_a_message_that_waits_to_be_read_keeps_its_case_from_closing(rig: Rig) -> None:
    """After days of downtime the first tick comes before the first turn."""
    case = await resolved(rig)
    rig.clock.pass_by(10 * DAY)
    await rig.say("It hangs again")
    assert await close_by_itself(rig) == 0

    rig.model.then(says("Again, then."))
    await rig.work()
    assert (await rig.case(case)).state == "in_progress"
    assert rig.posted()[-1] == "Again, then."


async def test_a_tick_that_fails_does_not_end_the_ticking(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    schedule = Schedule(rig.store, rig.clock, rig.settings, rig.engine, rig.delivery, None)
    broken, ticked = asyncio.Event(), asyncio.Event()
    write = rig.store.write

    async def failing(fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        if fn is gates.expire_due and not broken.is_set():
            broken.set()
            raise StoreUnavailable("The disk is full. Try again.")
        ticked.set()
        return await write(fn, *args, **kwargs)

    setattr(rig.store, "write", failing)  # noqa: B010 - see Rig.die
    rig.clock.ms = SystemClock().now()  # the scheduler has no other
    caplog.set_level(logging.WARNING)
    schedule.start()
    try:
        await asyncio.wait_for(broken.wait(), 10)
        await asyncio.wait_for(ticked.wait(), 10)
        assert schedule.ticking
        assert "tick.failed" in caplog.text
    finally:
        schedule.stop()


async def test_what_fell_due_while_nobody_ran_is_done_at_once_at_the_start(rig: Rig) -> None:
    rig.clock.ms = SystemClock().now() - 2 * DAY
    case = await asked(rig)
    await rig.restart()
    rig.clock.pass_by(2 * DAY)  # the scheduler has no other clock than the machine's
    schedule = Schedule(rig.store, rig.clock, rig.settings, rig.engine, rig.delivery, None)
    rig.model.then(says("Nobody let me."))
    schedule.start()
    running = rig.start(rig.engine.run())
    try:
        while not rig.model.sent[1:]:  # noqa: ASYNC110 - it is the scheduler that comes, and nothing says when
            await asyncio.sleep(0.01)
    finally:
        schedule.stop()
        await rig.engine.stop(5)
        await running
    assert [gate.state for gate in await rig.gates(case)] == [GateState.EXPIRED]
