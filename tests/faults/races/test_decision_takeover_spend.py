"""A decision, a takeover, an end and the next run that would spend the approval, in every order (R9, R12).

The effect is made exactly where the approval came first and the run that spends it came before the person, the sweep
or the end; and there once.
"""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import permutations

import pytest

from bot.gates import gating
from bot.turns import advance
from bot.turns.instruct import RunCalls
from casestore import gates, leases
from casestore.deciding import Decision
from casestore.models import Case, Gate
from casestore.states import GateState, LeaseKind, StepState, Verb
from tests.faults.races.soundness import faults
from tests.loop import hands
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, THREAD, Rig
from tests.loop.scripted import calls, returned, says, unpaired

Act = Callable[[Rig, Case, Gate], Coroutine[object, object, object]]
RESTART = calls(("svc.restart", {"service": "a"}), ids=["c1"])


async def decide(rig: Rig, case: Case, gate: Gate) -> object:
    decision = Decision(Verb.APPROVE, gate.digest_shown, "cli")
    return await rig.store.write(gating.decide, rig.clock.now(), rig.people["kim"], gate.id, decision, None)


async def take(rig: Rig, case: Case, gate: Gate) -> object:
    return await rig.store.write(hands.take, rig.clock.now(), case.id, rig.people["lee"])


async def sweep(rig: Rig, case: Case, gate: Gate) -> object:
    return await rig.store.write(gates.expire_due, rig.clock.now() + 100 * HOUR)


async def resolve(rig: Rig, case: Case, gate: Gate) -> object:
    return await rig.store.write(hands.resolve, rig.clock.now(), case.id, rig.people["lee"])


async def begin(rig: Rig, case: Case, gate: Gate) -> object:
    """The next run's first transaction, in which an approval is spent."""
    return await rig.store.write(advance.begin, rig.clock.now(), rig.desk, case.id)


def names(order: tuple[Act, ...]) -> str:
    return "-".join(act.__name__ for act in order)


def spent_by(order: tuple[Act, ...]) -> bool:
    """Whether the approval is spent in this order."""
    return order.index(decide) < order.index(begin) and all(
        order.index(begin) < order.index(act) or (act is sweep and order.index(decide) < order.index(sweep))
        for act in order
        if act not in (decide, begin)
    )


@pytest.mark.parametrize("together", [False, True], ids=["one after another", "in one commit"])
@pytest.mark.parametrize(
    "order", list(permutations([decide, take, begin, sweep])), ids=lambda o: "-".join(a.__name__ for a in o)
)
async def test_decision_takeover_spend_and_sweep_in_every_order(
    make_rig: MakeRig, order: tuple[Act, ...], together: bool
) -> None:
    rig = await make_rig(RESTART, says("I see."), says("Hello."))
    await raced(rig, order, together)


@pytest.mark.parametrize("together", [False, True], ids=["one after another", "in one commit"])
@pytest.mark.parametrize("order", list(permutations([decide, resolve, begin])), ids=names)
async def test_decision_end_of_the_case_and_spend_in_every_order(
    make_rig: MakeRig, order: tuple[Act, ...], together: bool
) -> None:
    rig = await make_rig(RESTART, says("I see."), says("Hello."))
    await raced(rig, order, together)


async def raced(rig: Rig, order: tuple[Act, ...], together: bool) -> None:
    case = await rig.say("Restart it")
    await rig.work()
    gate = await rig.gate(case)
    if together:
        said = await asyncio.gather(*(act(rig, case, gate) for act in order))
    else:
        said = [await act(rig, case, gate) for act in order]

    assert await rig.store.read(faults) == []
    begun = said[order.index(begin)]
    spent = isinstance(begun, RunCalls) and any(call.tool.name == "svc.restart" for call in begun.calls)
    assert spent is spent_by(order)
    (step,) = await rig.steps(case)
    assert (step.gate_id == gate.id, step.state is StepState.STARTED) == (spent, spent)
    if isinstance(begun, RunCalls):  # the run was under way when the person came: it makes what it has journalled
        await rig.conductor._run_calls(begun)  # pyright: ignore[reportPrivateUsage]
    rig.clock.pass_by(2 * rig.settings.leases.ttl)  # and whatever else it was doing is over
    await goes_on(rig, case)

    ended = await rig.store.read(gates.by_id, gate.id)
    assert rig.effects.made == (["restart a"] if spent else [])
    assert spent <= (ended.state is GateState.APPROVED)
    assert all(unpaired(sent) == [] for sent in rig.model.sent)
    assert sum(len(returned(sent)) for sent in rig.model.sent[-1:]) == 1  # the call has its one result
    assert await rig.store.read(faults, at_rest=True) == []


async def goes_on(rig: Rig, case: Case) -> None:
    """The person hands it back, somebody writes, and is answered."""
    if (await rig.store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN:
        await rig.release(case)
    await rig.say("And now?", at=THREAD)
    await rig.work()
    assert await rig.open_gate(case) is None
