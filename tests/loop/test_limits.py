"""What one run may use up: reaching a limit hands the case to an operator, never an endless loop."""

import pytest

from bot.settings import Settings
from bot.settings.sections import Limits
from bot.tools.results import CallResult
from casestore.models import Case
from casestore.states import Outcome
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says, unpaired

LOOK = ("look", {"at": "/"})


async def handed_off(rig: Rig, case: Case, why: str) -> None:
    """The case was given to an operator for this reason, and the next message is answered all the same."""
    run = (await rig.runs(case))[-1]
    assert (run.outcome, run.stop_reason, run.escalated) == (Outcome.LIMIT, why, True)
    assert (await rig.case(case)).waiting_on == "operator"
    assert rig.posted()[-1] == f"I am handing {case.label} to an operator: {why}."
    rig.model.script.clear()
    rig.model.then(says("Hello again."))
    await rig.say("Hello?")
    await rig.work()
    assert rig.posted()[-1] == "Hello again."
    assert unpaired(rig.model.sent[-1]) == []


async def test_a_run_makes_so_many_tool_calls_however_many_are_asked_for_at_once(make_rig: MakeRig) -> None:
    rig = await make_rig(calls(*[LOOK] * 9), settings=Settings(limits=Limits(tool_calls=4)))
    case = await rig.say("Look")
    await rig.work()

    assert rig.effects.count("look") == 4
    assert [CallResult.load(step.result or "").kind for step in await rig.steps(case)] == ["ok"] * 4 + ["not_asked"] * 5
    await handed_off(rig, case, "too many tool calls in one run")


@pytest.mark.parametrize("tool", ["note", "case"])
async def test_the_limit_of_tool_calls_holds_for_every_sort_and_over_several_responses(
    make_rig: MakeRig, tool: str
) -> None:
    call = ("note", {"text": "x"}) if tool == "note" else ("case.set_title", {"title": "x"})
    rig = await make_rig(*[calls(call, call)] * 9, settings=Settings(limits=Limits(tool_calls=5)))
    case = await rig.say("Look")
    await rig.work()

    assert (await rig.runs(case))[0].tool_calls == 5
    await handed_off(rig, case, "too many tool calls in one run")


async def test_exactly_as_many_tool_calls_as_are_allowed_are_no_reason_to_stop(make_rig: MakeRig) -> None:
    rig = await make_rig(calls(LOOK, LOOK), says("Looked twice."), settings=Settings(limits=Limits(tool_calls=2)))
    await rig.say("Look")
    await rig.work()

    assert rig.posted() == ["Looked twice."]


async def test_a_run_uses_so_many_tokens(make_rig: MakeRig) -> None:
    rig = await make_rig(*[calls(LOOK)] * 9, settings=Settings(limits=Limits(tokens=300)))
    case = await rig.say("Look")
    await rig.work()

    assert len(rig.model.sent) == 3
    await handed_off(rig, case, "too many tokens in one run")


async def test_a_run_costs_so_much(make_rig: MakeRig) -> None:
    rig = await make_rig(*[calls(LOOK)] * 9, settings=Settings(limits=Limits(cost_usd=0.0015)))
    case = await rig.say("Look")
    await rig.work()

    assert len(rig.model.sent) == 2
    await handed_off(rig, case, "the run cost more than it may")


async def test_a_case_that_was_resolved_and_then_handed_off_is_on_an_operators_list(rig: Rig) -> None:
    rig.model.then(calls(("case.resolve", {"note": "done"}), ("case.hand_off", {"reason": "but look at it"})))
    case = await rig.say("Hi")
    await rig.work()
    now = await rig.case(case)
    assert (now.state, now.waiting_on) == ("in_progress", "operator")
