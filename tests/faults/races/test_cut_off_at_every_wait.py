"""The service is cut off at every place where it waits, and the next one goes on from what is stored (R8, R13, R14).

One coroutine receives a message, works it, delivers, takes the decision, works on and delivers: begin, respond,
finish, park, decide, spend, settle and deliver are all in it. It is cancelled at the n-th of its waits, for every n.
"""

import asyncio
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse

from bot.outbound.delivery import Delivery
from casestore import bindings, leases, outbox
from casestore.models import Case
from casestore.states import GateKind, StepState, Verb
from casestore.tx import Tx
from tests.faults.races.cut_at import CutAt, When
from tests.faults.races.soundness import faults
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, THREAD, Rig
from tests.loop.scripted import calls, returned, said, says, unpaired

WANTED = (("look", {"at": "/"}), ("look", {"at": "/var"}), ("note", {"text": "x"}), ("svc.restart", {"service": "a"}))
SHARES = 6
"""Tests that share the waits among them, so that two workers have something to do."""


def brain(messages: list[ModelMessage]) -> ModelResponse:
    """Calls tools first, and answers once it has their results."""
    return says("Done.") if returned(messages) else calls(*WANTED)


async def a_day(rig: Rig) -> None:
    """What the service does for one message."""
    case = await rig.say("Do it", platform_id="p1")
    await rig.conductor.work(case.id)
    await rig.deliver()
    await rig.decide(case)
    await rig.conductor.work(case.id)
    await rig.deliver()


async def cut_off(rig: Rig, nth: int | None, when: When) -> CutAt:
    """The day, up to there."""
    rig.model.script[:] = [brain] * 30
    day = CutAt(a_day(rig), nth, when)

    async def lived() -> None:
        await day

    (ended,) = await asyncio.gather(rig.start(lived()), return_exceptions=True)
    if isinstance(ended, Exception):
        raise ended
    return day


async def go_on(rig: Rig) -> Case:
    """The platform delivers again what was not acknowledged; people answer what they are asked; to the end."""
    await rig.delivery.reconcile()
    case = await rig.say("Do it", platform_id="p1")
    for _ in range(10):
        await rig.work()
        gate = await rig.open_gate(case)
        if gate is not None:
            happened = Verb.HAPPENED if rig.effects.count(gate.tool.rpartition(".")[2]) else Verb.RERUN
            await rig.decide(case, happened if gate.kind is GateKind.OUTCOME else Verb.APPROVE)
        elif await rig.store.read(leases.has_work, case.id) or (await rig.store.read(outbox.counts))["due"]:
            rig.clock.pass_by(HOUR)  # it waits for a call that may still come back, or to say something again
        else:
            return case
    raise AssertionError("it never comes to an end")


async def all_is_done_once(rig: Rig, case: Case) -> None:
    assert (rig.effects.count("note"), rig.effects.count("restart")) == (1, 1)
    assert rig.posted().count("Done.") == 1
    assert [rig.posted().count(text) for text in await rig.texts(case)] == [1] * len(await rig.texts(case))
    assert [message.text for message in await rig.messages(case)].count("Do it") == 1
    assert all(unpaired(sent) == [] for sent in rig.model.sent)
    assert said(rig.model.sent[-1])[0] == "ann (requester): Do it"
    newest = {(step.model_step, step.position): step for step in await rig.steps(case)}
    assert [step.state for step in newest.values()] == [StepState.FINISHED] * 4
    assert await rig.store.read(faults, at_rest=True) == []


async def waits_of_a_day(make_rig: MakeRig) -> int:
    rig = await make_rig()
    day = await cut_off(rig, None, When.WAITING)
    assert not day.cut
    await all_is_done_once(rig, (await rig.store.read(bindings.case_at, str(THREAD))) or await go_on(rig))
    return day.waits


async def test_a_day_that_nobody_disturbs_waits_in_many_places(make_rig: MakeRig) -> None:
    assert await waits_of_a_day(make_rig) > 15


@pytest.mark.parametrize(
    ("when", "afterwards"),
    [(When.WAITING, "another boot"), (When.ARRIVED, "another boot"), (When.WAITING, "the lease runs out")],
)
@pytest.mark.parametrize("share", range(SHARES))
async def test_cut_off_at_any_wait_the_work_is_gone_on_with_and_nothing_is_done_twice(
    make_rig: MakeRig, tmp_path: Path, new_file: bytes, when: When, share: int, afterwards: str
) -> None:
    every = await waits_of_a_day(make_rig)
    for made, nth in enumerate(range(share, every, SHARES), start=1):
        (tmp_path / f"{made}.db").write_bytes(new_file)
        rig = await make_rig()
        day = await cut_off(rig, nth, when)
        assert day.cut
        if afterwards == "another boot":
            await rig.restart()
        else:
            await rig.store.write(Tx.value, "SELECT 1")  # what was asked for before it was cut off is done by now
            rig.clock.pass_by(2 * rig.settings.leases.ttl)
            rig.delivery = Delivery(rig.store, rig.clock, {"memory": rig.channel}, "boot-elsewhere", None)
        assert await rig.store.read(faults) == [], f"at wait {nth}"
        case = await go_on(rig)
        await all_is_done_once(rig, case)
