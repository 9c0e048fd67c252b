"""The engine finds what has work, a bounded number at once, and nothing that fails makes it go round in circles."""

import asyncio
from collections.abc import Callable

import pytest

from bot.settings import Settings
from bot.settings.sections import Service
from bot.turns import advance
from bot.turns.instruct import Ended, Lost
from casestore import leases
from casestore.errors import StoreUnavailable
from casestore.models import CaseId
from casestore.states import LeaseKind, Outcome, TurnState
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, THREAD, Rig
from tests.loop.scripted import Held, Waits, calls, says


async def a_while() -> None:
    """Let everything that is ready go on, many times: whoever goes round in circles has gone round by then."""
    for _ in range(300):
        await asyncio.sleep(0)


async def test_what_was_stored_while_nobody_ran_is_worked_at_the_start(rig: Rig) -> None:
    cases = [await rig.say("Hello", at=THREAD.model_copy(update={"thread": f"t{n}"})) for n in range(5)]
    await rig.restart()
    rig.model.then(*[says("Hello.")] * 5)
    running = rig.start(rig.engine.run())
    while len(rig.model.sent) < 5:  # noqa: ASYNC110 - the engine comes by itself
        await asyncio.sleep(0)
    await rig.engine.stop(5)
    await running

    assert [await rig.texts(case) for case in cases] == [["Hello."]] * 5


async def test_no_more_cases_than_allowed_are_worked_at_once_and_the_others_come_after(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(service=Service(concurrency=2)))
    held = [Held() for _ in range(4)]
    rig.model.then(*(Waits(one, says("Hello.")) for one in held))
    rig.woken = rig.engine.wake
    running = rig.start(rig.engine.run())
    for number in range(4):
        await rig.say("Hello", at=THREAD.model_copy(update={"thread": f"t{number}"}))
    await held[1].reached.wait()
    await a_while()
    assert (rig.engine.working, len(rig.model.sent)) == (2, 2)

    for one in held:
        one.release.set()
    await held[3].reached.wait()
    await rig.engine.stop(5)
    await running
    assert len(rig.model.sent) == 4


async def test_a_case_that_is_spoken_to_again_and_again_does_not_pass_by_one_that_waits(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(service=Service(concurrency=1)))
    held = Held()
    rig.model.then(Waits(held, says("To the busy one.")), says("To the quiet one."), says("To the busy one again."))
    rig.woken = rig.engine.wake
    work = rig.conductor.work

    async def work_and_be_spoken_to_at_the_end(case_id: CaseId) -> Ended | Lost | None:
        rig.conductor.work = work
        ended = await work(case_id)
        rig.clock.ms += 1
        await rig.say("And another thing")
        return ended

    rig.conductor.work = work_and_be_spoken_to_at_the_end
    running = rig.start(rig.engine.run())
    busy = await rig.say("Hello")
    await held.reached.wait()
    quiet = await rig.say("Hello", at=THREAD.model_copy(update={"thread": "quiet"}))
    held.release.set()
    while len(rig.model.sent) < 3:  # noqa: ASYNC110 - the engine comes by itself
        await asyncio.sleep(0)
    await rig.engine.stop(5)
    await running

    assert await rig.texts(quiet) == ["To the quiet one."]
    assert await rig.texts(busy) == ["To the busy one.", "To the busy one again."]


async def test_an_earlier_boots_leases_are_void_at_the_start_and_a_persons_are_not(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")))
    worked = await rig.say("Hello")
    rig.start(rig.conductor.work(worked.id))
    await held.reached.wait()
    taken = await rig.say("Hello", at=THREAD.model_copy(update={"thread": "t2"}))
    await rig.take(taken)
    await rig.restart()

    assert (await rig.store.read(leases.of_case, worked.id)).kind is None
    assert (await rig.store.read(leases.of_case, taken.id)).kind is LeaseKind.HUMAN


async def test_the_engine_does_not_wait_out_what_an_earlier_boot_held(rig: Rig) -> None:
    """R10: nobody but this service works, so whoever had the case is gone."""
    case = await rig.say("Hello")
    rig.model.then(says("Hello."))
    await rig.store.write(leases.take, rig.clock.now(), case.id, holder="engine boot-0", boot="boot-0", ttl=HOUR)
    running = rig.start(rig.engine.run())
    async with asyncio.timeout(20):
        while not rig.model.sent:  # noqa: ASYNC110 - the engine comes by itself
            await asyncio.sleep(0)
    await rig.engine.stop(5)
    await running

    assert await rig.texts(case) == ["Hello."]


async def test_a_bug_in_a_run_leaves_alone_a_case_that_a_person_has_taken_meanwhile(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def taken_and_broken(*_: object) -> object:
        await rig.take(case)
        raise ZeroDivisionError("a bug")

    case = await rig.say("Hello")
    rig.model.then(calls(("look", {"at": "/"})))
    monkeypatch.setattr("bot.turns.conduct.Conductor._run_calls", taken_and_broken)
    rig.engine.wake(case.id)
    await rig.engine.idle()

    assert (await rig.store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN
    assert [turn.not_before for turn in await rig.turns(case)] == [0]


async def test_a_bug_in_a_run_leaves_alone_a_case_that_was_closed_meanwhile(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def closed_and_broken(*_: object) -> object:
        await rig.say("And another thing")
        await rig.close(case)
        raise ZeroDivisionError("a bug")

    case = await rig.say("Hello")
    rig.model.then(calls(("look", {"at": "/"})))
    monkeypatch.setattr("bot.turns.conduct.Conductor._run_calls", closed_and_broken)
    rig.engine.wake(case.id)
    await rig.engine.idle()

    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]


async def test_a_bug_in_the_middle_of_a_run_ends_it_on_record_and_puts_the_turn_off(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = await rig.say("Hello")
    rig.model.then(calls(("look", {"at": "/"})))
    monkeypatch.setattr("bot.turns.conduct.Conductor._run_calls", _broken)
    rig.engine.wake(case.id)
    await rig.engine.idle()

    (run,) = await rig.runs(case)
    assert (run.outcome, run.error) == (Outcome.ERROR, "ZeroDivisionError")
    (turn,) = await rig.turns(case)
    assert (turn.state, turn.not_before > rig.clock.now()) == (TurnState.QUEUED, True)
    assert (await rig.store.read(leases.of_case, case.id)).kind is None

    monkeypatch.undo()
    rig.model.then(says("Found."))
    rig.clock.pass_by(60_000)
    await rig.work()
    assert rig.posted() == ["Found."]


async def _broken(*_: object) -> object:
    raise ZeroDivisionError("a bug")


async def test_a_bug_at_the_very_beginning_of_a_run_is_tried_a_few_times_and_then_an_operator_gets_the_case(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of such a run could be stored; it must not be started again at once and for ever."""
    case = await rig.say("Hello")
    tried = 0

    def broken(*_: object, **__: object) -> bool:
        nonlocal tried
        tried += 1
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("bot.turns.window.compose", broken)
    running = rig.start(rig.engine.run())
    for attempt in range(1, 6):
        rig.engine.wake(case.id)
        while tried < attempt:  # noqa: ASYNC110 - the engine comes by itself
            await asyncio.sleep(0)
        await rig.engine.idle()
        await a_while()
        assert tried == attempt
        rig.clock.pass_by(60_000)
    rig.engine.wake(case.id)
    await rig.engine.idle()
    await rig.engine.stop(5)
    await running
    await rig.deliver()

    assert rig.posted() == [
        f"I am handing {case.label} to an operator: it was attempted 5 times without an answer."
    ]  # fmt: skip
    assert (await rig.runs(case))[-1].escalated


async def test_a_store_that_cannot_be_written_is_not_asked_again_and_again(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    case = await rig.say("Hello")
    rig.model.then(says("Hello."))
    write, tried, failed = rig.store.write, 0, asyncio.Event()

    async def failing(fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        nonlocal tried
        if fn is advance.begin:
            tried += 1
            failed.set()
            raise StoreUnavailable("The disk is full. Try again.")
        return await write(fn, *args, **kwargs)

    setattr(rig.store, "write", failing)  # noqa: B010 - see Rig.die
    running = rig.start(rig.engine.run())
    await failed.wait()
    await a_while()
    assert tried == 1
    assert "run.store_unavailable" in caplog.text
    await rig.engine.stop(0)
    await running

    await rig.standby.idle()
    setattr(rig.store, "write", write)  # noqa: B010 - the disk is empty again
    await rig.standby.settle()
    await rig.work()
    assert await rig.texts(case) == ["Hello."]


async def test_an_engine_that_could_not_look_for_work_looks_again(rig: Rig) -> None:
    """Whatever went wrong: a service without its engine would look alive and do nothing."""
    await rig.say("Hello")
    rig.model.then(says("Hello."))
    read, failures = rig.store.read, [StoreUnavailable("busy"), ZeroDivisionError("a bug")]

    async def failing(fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        if fn is leases.ready and failures:
            raise failures.pop()
        return await read(fn, *args, **kwargs)

    setattr(rig.store, "read", failing)  # noqa: B010 - see Rig.die
    running = rig.start(rig.engine.run())
    while not rig.model.sent:
        rig.engine.wake()
        await asyncio.sleep(0)
    await rig.engine.stop(5)
    await running

    assert failures == []
