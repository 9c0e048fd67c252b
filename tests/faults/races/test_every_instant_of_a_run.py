"""Whatever happens in the very instant of whichever transaction of a run, right before it or right after it.

Each event is driven into every transaction of a turn that reads, has an effect, parks at a gate, is approved and is
answered. Afterwards the store is sound, no effect was made twice, and the case can be gone on with.
"""

from dataclasses import replace

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse

from bot.turns.conduct import Conductor
from casestore import cases, gates, leases, turns
from casestore.models import Case, CaseId
from casestore.scope import System
from casestore.states import GateKind, GateState, LeaseKind, Verb
from casestore.turns import Worker
from casestore.tx import Tx
from tests.faults.races.instant import Event, Instant, until_rest
from tests.faults.races.soundness import faults
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, THREAD, Rig
from tests.loop.scripted import calls, returned, said, says, unpaired

WANTED = (("look", {"at": "/"}), ("look", {"at": "/var"}), ("note", {"text": "x"}), ("svc.restart", {"service": "a"}))
TRANSACTIONS = [
    *("begin", "respond", "finished", "finished", "finished", "all_finished"),  # and is parked
    *("begin", "all_finished", "respond"),
]
"""What the loop does in a turn that nothing disturbs."""


def brain(messages: list[ModelMessage]) -> ModelResponse:
    """Calls tools first, and answers once it has their results."""
    return says("Done.") if returned(messages) else calls(*WANTED)


async def newest(rig: Rig) -> Case:
    return (await rig.store.read(cases.listing, System()))[0]


async def write_in_it(rig: Rig) -> None:
    await rig.say("two")


async def take_over(rig: Rig) -> None:
    await rig.take(await newest(rig))


async def resolve(rig: Rig) -> None:
    await rig.resolve(await newest(rig))


async def close(rig: Rig) -> None:
    await rig.close(await newest(rig))


async def sweep_days_later(rig: Rig) -> None:
    await rig.store.write(gates.expire_due, rig.clock.now() + 100 * HOUR)


async def approve(rig: Rig) -> None:
    if await rig.open_gate(case := await newest(rig)) is not None:
        await rig.decide(case)


async def withdraw(rig: Rig) -> None:
    if (gate := await rig.open_gate(await newest(rig))) is not None:
        await rig.store.write(gates.withdraw, rig.clock.now(), gate, by="principal:kim", reason="not now")


async def second_engine(rig: Rig) -> None:
    worker = replace(rig.desk.worker, holder="elsewhere", boot="boot-elsewhere")
    await Conductor(rig.store, replace(rig.desk, worker=worker), rig.model, rig.spool).work((await newest(rig)).id)


async def another_boot(rig: Rig) -> None:
    await rig.store.write(leases.void_earlier_boots, "boot-elsewhere")


async def another_has_it(rig: Rig) -> None:
    worker = replace(rig.desk.worker, holder="elsewhere", boot="boot-elsewhere")
    await rig.store.write(begin_elsewhere, rig.clock.now(), (await newest(rig)).id, worker)


def begin_elsewhere(tx: Tx, now: int, case_id: CaseId, worker: Worker) -> None:
    """Another service takes the case, begins, and is not heard of again before its lease has run out."""
    leases.void_earlier_boots(tx, worker.boot)
    turns.begin(tx, now, case_id, worker)


async def lose_the_thread(rig: Rig) -> None:
    await rig.channel.lose(THREAD)


EVENTS: list[Event] = [
    write_in_it, take_over, resolve, close, sweep_days_later, approve, withdraw, second_engine,
    another_boot, another_has_it, lose_the_thread,
]  # fmt: skip


async def settle(rig: Rig) -> bool:
    """A person answers what waits for one: hands the case back, approves, says that an unknown call was made."""
    case = await newest(rig)
    lease = await rig.store.read(leases.of_case, case.id)
    if lease.kind is LeaseKind.HUMAN:
        await rig.release(case)
        return True
    if (gate := await rig.open_gate(case)) is not None:
        await rig.decide(case, Verb.HAPPENED if gate.kind is GateKind.OUTCOME else Verb.APPROVE)
        return True
    turn = await rig.store.read(leases.has_work, case.id) or lease.kind is LeaseKind.RUN
    if turn and case.state not in cases.ENDED:  # it waits for a call that may still come back
        rig.clock.pass_by(HOUR)
    return turn


async def a_turn(rig: Rig) -> None:
    rig.model.then(*[brain] * 20)
    await rig.say("one")
    await until_rest(rig, settle)


async def test_the_transactions_of_a_turn_are_those_that_are_raced_with_here(make_rig: MakeRig) -> None:
    rig = await make_rig()
    instant = Instant(rig, 0, None, first=True)
    await a_turn(rig)
    assert instant.seen == TRANSACTIONS
    assert rig.effects.made == ["look /", "look /var", "note x", "restart a"]
    assert rig.posted()[-1] == "Done."


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("nth", [nth for nth in range(len(TRANSACTIONS)) if nth not in (3, 4)])  # they are like 2
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
async def test_in_any_instant_anything_may_happen_and_nothing_is_lost_or_made_twice(
    make_rig: MakeRig, event: Event, nth: int, first: bool
) -> None:
    rig = await make_rig()
    sound: list[str] = []

    async def checked_afterwards(rig: Rig) -> None:
        await event(rig)
        sound.extend(await rig.store.read(faults))

    instant = Instant(rig, nth, checked_afterwards, first=first)
    await a_turn(rig)

    assert sound == []
    if event not in (approve, withdraw, lose_the_thread):  # which find nothing to do in most instants
        assert (instant.order[0], "loop" in instant.order) == ("event" if first else "loop", True)
    assert await rig.store.read(faults, at_rest=True) == []
    await went_well(rig, event)
    await can_be_gone_on_with(rig)


async def went_well(rig: Rig, event: Event) -> None:
    """No effect twice; the held call only on an approval; what was to be done is done, unless somebody said no."""
    case = await newest(rig)
    note, restart = rig.effects.count("note"), rig.effects.count("restart")
    approved = [g for g in await rig.gates(case) if g.kind is GateKind.APPROVAL and g.state is GateState.APPROVED]
    assert (note <= 1, restart) == (True, len(approved))
    assert all(unpaired(sent) == [] for sent in rig.model.sent)
    if event in (write_in_it, approve, second_engine):
        assert (note, restart) == (1, 1)
    if event is write_in_it:
        assert sum("two" in text for text in said(rig.model.sent[-1])) == 1
        assert [message.text for message in await rig.messages(case)].count("two") == 1


async def can_be_gone_on_with(rig: Rig) -> None:
    """Somebody writes once more, and is answered once."""
    old, before = await newest(rig), len(rig.model.sent)
    await rig.say("Still there?")
    await until_rest(rig, settle)
    case = await newest(rig)
    assert (case.id, case.follows) in ((old.id, old.follows), (old.id + 1, old.id), (old.id + 1, None))
    assert len(rig.model.sent) > before
    assert said(rig.model.sent[-1])[-1] == "ann (requester): Still there?"
    assert (await rig.texts(case))[-1] == "Done."
    assert await rig.store.read(faults, at_rest=True) == []
