"""A slow tool that comes back after its deadline, in every order with the person's answer and the next run (R14)."""

from collections.abc import Awaitable, Callable
from itertools import permutations

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse

from bot.tools import results
from bot.turns import advance
from casestore.models import Case, StepId
from casestore.states import StepState, Verb
from tests.faults.races.soundness import faults
from tests.loop.conftest import MakeRig
from tests.loop.cut_off import unknown
from tests.loop.rig import Rig
from tests.loop.scripted import returned, says, unpaired

Act = Callable[[Rig, Case, StepId, Verb], Awaitable[object]]


async def answer(rig: Rig, case: Case, step: StepId, verb: Verb) -> None:
    """A person says what became of it, if anybody still asks."""
    if await rig.open_gate(case) is not None:
        await rig.decide(case, verb)


async def come_back(rig: Rig, case: Case, step: StepId, verb: Verb) -> None:
    """What was believed dead comes back with its result."""
    await rig.store.write(advance.finished, rig.clock.now(), step, results.ok("late"))


async def work(rig: Rig, case: Case, step: StepId, verb: Verb) -> None:
    """The engine goes on, if there is anything to go on with."""
    await rig.work()


def brain(messages: list[ModelMessage]) -> ModelResponse:
    return says(f"Result: {returned(messages)[-1]}")


def names(order: tuple[Act, ...]) -> str:
    return "-".join(getattr(act, "__name__") for act in order)  # noqa: B009 - a type of calls has no name


@pytest.mark.parametrize("verb", [Verb.HAPPENED, Verb.NOT_HAPPENED, Verb.RERUN])
@pytest.mark.parametrize("order", list(permutations([answer, come_back, work])), ids=names)
async def test_a_call_that_comes_back_late_has_one_result_and_is_made_again_only_if_a_person_said_so_first(
    make_rig: MakeRig, order: tuple[Act, ...], verb: Verb
) -> None:
    rig = await make_rig()
    case = await unknown(rig)
    rig.model.then(*[brain] * 5)
    (first,) = await rig.steps(case)
    for act in order:
        await act(rig, case, first.id, verb)
        assert await rig.store.read(faults) == []
    await rig.work()

    answered_first = order.index(answer) < order.index(come_back)
    worked_before_it_came = answered_first and order.index(answer) < order.index(work) < order.index(come_back)
    again = verb is Verb.RERUN and worked_before_it_came
    assert rig.effects.made == ["note x"] * (2 if again else 1)
    assert all(unpaired(sent) == [] for sent in rig.model.sent)
    newest = (await rig.steps(case))[-1]
    told = str(returned(rig.model.sent[-1])[-1])
    if again:
        assert told == "note x: done"
    elif worked_before_it_came:
        assert newest.state is (StepState.FINISHED if verb is Verb.HAPPENED else StepState.FAILED)
        assert "late" not in told
    else:
        assert (newest.state, told) == (StepState.FINISHED, "late")
    assert ("tool.late_result" in await rig.trail(case)) is worked_before_it_came
    assert await rig.store.read(faults, at_rest=True) == []
