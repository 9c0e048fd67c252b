"""What one run may use up. Reaching a limit hands the case to an operator with a note: never an endless loop."""

import sys

import pytest

from bot.settings import Settings
from bot.settings.sections import Limits
from bot.tools.results import CallResult
from casestore.models import Case
from casestore.states import GateState, Outcome, StepState, TurnState, WaitingOn
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, THREAD, Rig, checked
from tests.loop.scripted import calls, returned, says, unpaired

LOOK = ("look", {"at": "/"})
NOTE = ("note", {"text": "x"})
RESTART = ("svc.restart", {"service": "nginx"})
FIVE_MB = 5_000_000


async def reached(rig: Rig, case: Case, why: str, limit: str) -> None:
    """The run ended at a limit, an operator has the case and is told why; the next message is answered as ever."""
    run = (await rig.runs(case))[-1]
    assert (run.outcome, run.stop_reason, run.escalated) == (Outcome.LIMIT, why, True)
    assert run.error == f"limits.{limit} in the settings was reached."
    assert rig.posted()[-1] == f"I am handing {case.label} to an operator: {why}."
    assert (await rig.case(case)).waiting_on is WaitingOn.OPERATOR
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    await checked(rig.store, case)
    rig.model.then(says("Hello."))
    await rig.say("Hello?")
    await rig.work()
    assert rig.posted()[-1] == "Hello."
    assert unpaired(rig.model.sent[-1]) == []


@pytest.mark.parametrize(
    ("limits", "why", "limit", "answers"),
    [
        (Limits(model_calls=3), "too many model calls in one run", "model_calls", 3),
        (Limits(tokens=150), "too many tokens in one run", "tokens", 2),
        (Limits(cost_usd=0.0015), "the run cost more than it may", "cost_usd", 2),
    ],
)
async def test_a_model_that_goes_on_and_on_is_stopped(
    make_rig: MakeRig, limits: Limits, why: str, limit: str, answers: int
) -> None:
    rig = await make_rig(*[calls(LOOK)] * answers, settings=Settings(limits=limits))
    case = await rig.say("Help!")
    await rig.work()

    assert len(rig.model.sent) == answers
    await reached(rig, case, why, limit)


async def test_a_run_that_takes_too_long_is_stopped(make_rig: MakeRig) -> None:
    rig = await make_rig(calls(LOOK), settings=Settings(limits=Limits.model_validate({"wall": "5m"})))
    under_way = rig.effects.hold("look")
    case = await rig.say("Help!")
    working = rig.start(rig.work())
    await under_way.reached.wait()
    rig.clock.pass_by(6 * 60_000)
    under_way.release.set()
    await working

    await reached(rig, case, "the run took longer than it may", "wall")


async def test_the_time_a_person_takes_to_decide_is_none_of_the_run(rig: Rig) -> None:
    rig.model.then(calls(RESTART), says("It runs."))
    case = await rig.say("It hangs.")
    await rig.work()
    rig.clock.pass_by(20 * HOUR)
    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == ["restart nginx"]
    assert rig.posted()[-1] == "It runs."


async def test_past_the_limit_of_tool_calls_what_still_waits_is_not_asked(make_rig: MakeRig) -> None:
    """R7."""
    rig = await make_rig(calls(LOOK, LOOK, NOTE, RESTART), settings=Settings(limits=Limits(tool_calls=2)))
    case = await rig.say("Help!")
    await rig.work()

    assert rig.effects.made == ["look /", "look /"]
    kinds = [CallResult.load(step.result or "").kind for step in await rig.steps(case)]
    assert kinds == ["ok", "ok", "not_asked", "not_asked"]
    assert [gate.state for gate in await rig.gates(case) if gate.state is GateState.OPEN] == []
    await reached(rig, case, "too many tool calls in one run", "tool_calls")


async def test_a_call_that_was_decided_on_is_made_by_a_run_of_its_own_with_limits_of_its_own(make_rig: MakeRig) -> None:
    rig = await make_rig(calls(LOOK, RESTART), settings=Settings(limits=Limits(tool_calls=1)))
    case = await rig.say("Help!")
    await rig.work()
    rig.model.then(says("It runs."))
    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == ["look /", "restart nginx"]


async def test_a_tool_result_of_5_mb_goes_to_the_model_as_head_and_tail_and_is_whole_on_record(rig: Rig) -> None:
    whole = "A" * 1000 + "m" * FIVE_MB + "Z" * 1000
    rig.effects.answer("look", whole)
    rig.model.then(calls(LOOK), says("It is big."))
    case = await rig.say("Help!")
    await rig.work()

    (seen,) = returned(rig.model.sent[-1])
    assert isinstance(seen, str)
    assert len(seen) < rig.settings.limits.result_characters + 200
    assert seen.startswith("A" * 1000)
    assert seen.endswith("Z" * 1000)
    assert "characters left out" in seen
    (step,) = await rig.steps(case)
    assert CallResult.load(step.result or "").content == whole
    assert rig.posted() == ["It is big."]


async def test_a_large_result_that_is_no_text_is_bounded_too(rig: Rig) -> None:
    rows = [{"row": number, "text": "x" * 90} for number in range(50_000)]
    rig.effects.answer("look", rows)
    rig.model.then(calls(LOOK), says("It is big."))
    case = await rig.say("Help!")
    await rig.work()

    assert len(str(returned(rig.model.sent[-1])[0])) < rig.settings.limits.result_characters + 200
    assert CallResult.load((await rig.steps(case))[0].result or "").content == rows


async def test_an_answer_of_1_mb_is_said_in_pieces_of_which_none_is_lost(rig: Rig) -> None:
    rig.model.then(says("word " * 200_000))
    case = await rig.say("Everything, please.")
    await rig.work()

    assert "".join(rig.posted(THREAD)).count("word") == 200_000
    assert {row.state for row in await rig.outbox(case)} == {"sent"}


@pytest.mark.parametrize("error", [ValueError(f"password=hunter2 {'x' * 9000}"), KeyError(), OSError(28, "No space")])
async def test_a_tool_that_raises_has_failed_and_the_model_is_told_so_without_its_words(
    rig: Rig, error: Exception
) -> None:
    rig.effects.answer("look", error)
    rig.model.then(calls(LOOK), says("It failed."))
    case = await rig.say("Help!")
    await rig.work()

    assert returned(rig.model.sent[-1]) == [f"it failed unexpectedly ({type(error).__name__})"]
    (step,) = await rig.steps(case)
    assert step.state is StepState.FAILED
    assert "hunter2" not in f"{rig.posted()}{step.result}"
    assert rig.posted() == ["It failed."]


async def test_a_tool_that_says_what_is_wrong_is_heard(rig: Rig) -> None:
    rig.model.then(calls(("broken", {})), says("Oh."))
    await rig.say("Help!")
    await rig.work()

    assert returned(rig.model.sent[-1]) == ["the disk is gone"]


async def test_of_calls_made_at_once_one_that_raises_does_not_take_the_others_with_it(rig: Rig) -> None:
    rig.effects.answer("look", ValueError("x"), "fine")
    rig.model.then(calls(LOOK, LOOK, ("broken", {})), says("Done."))
    case = await rig.say("Help!")
    await rig.work()

    assert [CallResult.load(s.result or "").kind for s in await rig.steps(case)] == ["failed", "ok", "failed"]
    assert rig.posted() == ["Done."]


async def test_a_tool_that_only_looks_and_runs_out_of_time_has_failed(rig: Rig) -> None:
    rig.effects.answer("look", TimeoutError())
    rig.model.then(calls(LOOK), says("It hangs."))
    case = await rig.say("Help!")
    await rig.work()

    assert returned(rig.model.sent[-1]) == ["it did not come back within 30 seconds"]
    assert (await rig.steps(case))[0].state is StepState.FAILED


async def test_a_tool_with_an_effect_that_runs_out_of_time_is_asked_about(rig: Rig) -> None:
    """R14."""
    rig.effects.answer("note", TimeoutError())
    rig.model.then(calls(NOTE))
    case = await rig.say("Help!")
    await rig.work()

    assert (await rig.gate(case)).kind == "outcome"
    assert (await rig.steps(case))[0].state is StepState.UNKNOWN
    assert rig.effects.count("note") == 1


async def test_what_a_tool_prints_reaches_neither_the_model_nor_the_thread(
    rig: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    def talkative(_: object) -> None:
        print("printed")
        print("printed", file=sys.stderr)

    make = rig.effects.make

    async def printing(tool: str, what: str) -> object:
        talkative(tool)
        return await make(tool, what)

    rig.effects.make = printing
    rig.model.then(calls(LOOK), says("Done."))
    await rig.say("Help!")
    await rig.work()

    printed = capsys.readouterr()
    assert "printed" in printed.err
    assert "printed" not in printed.out
    assert returned(rig.model.sent[-1]) == ["look /: done"]
    assert "printed" not in "".join(rig.posted())
