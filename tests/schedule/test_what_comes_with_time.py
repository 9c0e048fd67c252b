"""What falls due with time: expiries, reminders, closing; whatever the clock does, and however often it is swept."""

import asyncio

import pytest

from bot import schedule
from bot.settings import Settings
from casestore import gates
from casestore.models import Case
from casestore.states import CaseState, GateState, Outcome, Verb
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, Rig
from tests.loop.scripted import calls, returned, says

DAY = 24 * HOUR
RESTART = ("svc.restart", {"service": "nginx"})


async def asked(rig: Rig) -> Case:
    """A case whose gate is open, for a day."""
    rig.model.then(calls(RESTART), says("I leave it as it is."))
    case = await rig.say("nginx hangs")
    await rig.work()
    return case


async def remind(rig: Rig) -> int:
    return await rig.store.write(schedule.remind, rig.clock.now(), rig.settings, None)


async def expire(rig: Rig) -> int:
    return len(await rig.store.write(gates.expire_due, rig.clock.now()))


def reminders(rig: Rig) -> int:
    return sum(1 for text in rig.posted() if text.startswith("Still waiting"))


async def test_the_sweep_expires_as_a_denial_and_the_assistant_hears_of_it(rig: Rig) -> None:
    case = await asked(rig)
    rig.clock.pass_by(DAY - 1)
    assert await expire(rig) == 0
    rig.clock.pass_by(1)
    assert await expire(rig) == 1
    await rig.work()

    assert rig.effects.made == []
    assert "expired, not run" in str(returned(rig.model.sent[-1])[0])
    assert rig.posted()[-1] == "I leave it as it is."
    assert [run.outcome for run in await rig.runs(case)] == [Outcome.PARKED, Outcome.ANSWERED]


async def test_a_late_answer_is_refused_and_writes_the_expiry_though_no_sweep_has_run(rig: Rig) -> None:
    case = await asked(rig)
    gate = await rig.gate(case)
    rig.clock.pass_by(DAY)
    reply = await rig.decide(case)
    assert not reply.taken
    assert reply.text.startswith(f"Too late for gate {gate.id}. Expired: nobody decided by")
    assert (await rig.gates(case))[0].state is GateState.EXPIRED
    await rig.work()
    assert rig.effects.made == []


async def test_a_clock_set_back_never_brings_an_expired_gate_back(rig: Rig) -> None:
    case = await asked(rig)
    gate = await rig.gate(case)
    rig.clock.pass_by(DAY)
    await expire(rig)
    rig.clock.pass_by(-7 * DAY)
    reply = await rig.decide(case, gate=gate)
    assert not reply.taken
    assert await expire(rig) == 0
    assert (await rig.gates(case))[0].state is GateState.EXPIRED
    await rig.work()
    assert rig.effects.made == []


async def test_a_clock_a_week_ahead_expires_once(rig: Rig) -> None:
    case = await asked(rig)
    rig.clock.pass_by(7 * DAY)
    assert [await expire(rig), await expire(rig)] == [1, 0]
    assert (await rig.trail(case)).count("gate.expired") == 1


async def test_two_sweeps_at_once_expire_and_remind_once(rig: Rig) -> None:
    case = await asked(rig)
    rig.clock.pass_by(DAY // 2)
    assert sorted(await asyncio.gather(remind(rig), remind(rig))) == [0, 1]
    rig.clock.pass_by(DAY)
    assert sorted(await asyncio.gather(expire(rig), expire(rig))) == [0, 1]
    assert (await rig.trail(case)).count("gate.expired") == 1


async def test_reminders_come_once_at_half_and_once_at_four_fifths(rig: Rig) -> None:
    await asked(rig)
    sent: list[int] = []
    for _ in range(24):
        await remind(rig)
        await rig.deliver()
        sent.append(reminders(rig))
        rig.clock.pass_by(HOUR)
    assert sent == [*[0] * 12, *[1] * 8, *[2] * 4]


async def test_a_clock_that_jumps_over_both_reminders_reminds_once(rig: Rig) -> None:
    await asked(rig)
    rig.clock.pass_by(23 * HOUR)
    assert [await remind(rig), await remind(rig)] == [1, 0]


async def test_nobody_is_reminded_of_what_is_decided(rig: Rig) -> None:
    case = await asked(rig)
    await rig.decide(case, Verb.DENY)
    rig.clock.pass_by(23 * HOUR)
    assert await remind(rig) == 0


async def test_a_person_who_has_a_case_for_long_is_reminded_to_hand_it_back(rig: Rig) -> None:
    rig.model.then(says("Hello."))
    case = await rig.say("Hi")
    await rig.work()
    await rig.take(case)
    rig.clock.pass_by(4 * HOUR)
    assert [await remind(rig), await remind(rig)] == [1, 0]
    rig.clock.pass_by(4 * HOUR)
    assert await remind(rig) == 1
    await rig.deliver()
    assert f"kim still has {case.label}" in rig.posted()[-1]


async def test_a_resolved_case_is_closed_after_a_while_and_its_thread_then_opens_a_linked_one(rig: Rig) -> None:
    rig.model.then(says("Hello."), says("Hello again."))
    case = await rig.say("Hi")
    await rig.work()
    await rig.resolve(case)
    after = rig.settings.cases.auto_close
    rig.clock.pass_by(after - 1)
    assert await rig.store.write(schedule.auto_close, rig.clock.now(), after) == 0
    rig.clock.pass_by(1)
    assert await rig.store.write(schedule.auto_close, rig.clock.now(), after) == 1
    assert (await rig.case(case)).state is CaseState.CLOSED

    new = await rig.say("It is back")
    assert new.id != case.id
    assert new.follows == case.id
    assert (await rig.case(case)).state is CaseState.CLOSED


async def test_on_expiry_handoff_gives_the_case_to_an_operator(make_rig: MakeRig) -> None:
    settings = Settings.model_validate({"gates": {"on_expiry": "handoff"}})
    rig = await make_rig(settings=settings)
    rig.model.then(calls(RESTART))
    case = await rig.say("nginx hangs")
    await rig.work()
    rig.clock.pass_by(DAY)
    await expire(rig)
    await rig.work()
    assert (await rig.case(case)).waiting_on == "operator"
    assert (await rig.runs(case))[-1].outcome is Outcome.HANDED_OFF
    assert len(rig.model.sent) == 1  # the assistant does not go on


@pytest.mark.parametrize("text", ["expiry", "reminder"])
async def test_texts_name_the_case_the_gate_and_the_time(rig: Rig, text: str) -> None:
    case = await asked(rig)
    gate = await rig.gate(case)
    rig.clock.pass_by(DAY // 2 if text == "reminder" else DAY)
    if text == "reminder":
        await remind(rig)
        await rig.deliver()
        said = rig.posted()[-1]
        assert case.label in said
        assert f"(gate {gate.id})" in said
        assert 'Restart "nginx"' in said
        assert "an operator, not the requester" in said
    else:
        assert f"gate {gate.id}" in (await rig.decide(case)).text
