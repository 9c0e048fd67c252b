"""Whatever a tool does, its call has one result that can be stored, shown and sent (R7)."""

from dataclasses import replace

import pytest
from pydantic_ai.messages import ToolCallPart

from bot.settings import Settings
from bot.settings.sections import Limits
from bot.tools.declare import ToolFailed
from bot.tools.results import CallResult
from casestore import trail
from casestore.canonical import decode
from casestore.models import Case
from casestore.scope import System
from casestore.states import Outcome, StepState
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig, checked
from tests.loop.scripted import calls, returned, says

LOOK = ("look", {"at": "/"})
NOTE = ("note", {"text": "x"})


async def looked(rig: Rig, answer: object) -> Case:
    """A case in which one call gave this answer, and the next message was answered too."""
    rig.effects.answer("look", answer)
    rig.model.then(calls(LOOK), says("Looked."), says("Still here."))
    case = await rig.say("Look")
    await rig.work()
    await rig.say("Hello?")
    await rig.work()
    assert rig.posted() == ["Looked.", "Still here."]
    return case


async def test_a_tool_that_fails_on_purpose_tells_the_model_why(rig: Rig) -> None:
    rig.model.then(calls(("broken", {})), says("The disk is gone."))
    case = await rig.say("Look")
    await rig.work()

    assert returned(rig.model.sent[1]) == ["the disk is gone"]
    assert [step.state for step in await rig.steps(case)] == [StepState.FAILED]
    assert "tool.failed" in await rig.trail(case)


async def test_a_tool_that_raises_tells_the_model_that_it_failed_and_nothing_secret(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    case = await looked(rig, RuntimeError("password=hunter2"))

    (step,) = await rig.steps(case)
    assert (step.state, CallResult.load(step.result or "").kind) == (StepState.FAILED, "failed")
    assert returned(rig.model.sent[1]) == ["it failed unexpectedly (RuntimeError)"]
    assert "hunter2" not in str(await rig.messages(case))
    assert "tool.raised" in caplog.text


async def test_one_that_fails_does_not_keep_the_others_of_its_response_from_their_results(rig: Rig) -> None:
    rig.effects.answer("look", ToolFailed("no such place"), "found")
    rig.model.then(calls(("look", {"at": "/a"}), ("broken", {}), ("look", {"at": "/b"})), says("Looked."))
    await rig.say("Look")
    await rig.work()

    assert returned(rig.model.sent[1]) == ["no such place", "the disk is gone", "found"]


async def test_a_read_only_tool_that_does_not_come_back_has_failed(rig: Rig) -> None:
    rig.tools["look"] = replace(rig.tools["look"], timeout_ms=20)
    await rig.restart()
    rig.effects.hold("look")
    rig.model.then(calls(LOOK, ("broken", {})), says("It did not answer."))
    case = await rig.say("Look")
    await rig.work()

    assert returned(rig.model.sent[1])[0] == "it did not come back within 0 seconds"
    assert [step.state for step in await rig.steps(case)] == [StepState.FAILED] * 2
    assert await rig.gates(case) == []


async def test_a_result_that_is_too_long_is_shown_by_its_head_and_tail_and_kept_whole(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(limits=Limits(result_characters=400)))
    whole = "head" + "x" * 5_000_000 + "tail"
    case = await looked(rig, whole)

    (shown,) = returned(rig.model.sent[1])
    assert isinstance(shown, str)
    assert len(shown) < 500
    assert shown.startswith("headxxx")
    assert shown.endswith("xxxtail")
    assert f"{5_000_010 - 400} characters left out" in shown
    (step,) = await rig.steps(case)
    assert CallResult.load(step.result or "").content == whole


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        ("half \ud800 a character", "half ⟨U+D800⟩ a character"),
        ({"\udfff": ["\ud800"]}, {"⟨U+DFFF⟩": ["⟨U+D800⟩"]}),
        ("nul \0 in it", "nul \0 in it"),
        ({1: "a", "b": 2}, {"1": "a", "b": 2}),
        ({None: 1, True: 2}, {"null": 1, "true": 2}),
        (("a", 1), ["a", 1]),
        (float("nan"), "nan"),
        (b"bytes", "b'bytes'"),
        (None, "(nothing)"),
        ({"a": None, "b": [None]}, {"a": None, "b": [None]}),
        ({"at": object}, "{'at': <class 'object'>}"),
        (ToolFailed("\ud800 is not there"), "⟨U+D800⟩ is not there"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_result_of_any_kind_is_stored_and_sent_and_the_case_goes_on(
    rig: Rig, answer: object, seen: object
) -> None:
    case = await looked(rig, answer)

    assert returned(rig.model.sent[1]) == [seen]
    await checked(rig.store, case)


async def test_a_result_nested_beyond_reason_is_stored_and_sent_as_words(rig: Rig) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    await looked(rig, deep)

    assert returned(rig.model.sent[1]) == ["(a list nested too deeply to be kept)"]


@pytest.mark.parametrize(
    "raw",
    ['{"at": ', "[1, 2]", '"/"', '{"at": 1}', '{"at": "/", "more": 1}', "{}", '{"at": "\\ud800"}', "\ud800", "\0"],
    ids=ascii,
)
async def test_arguments_that_do_not_fit_are_a_result_that_says_so(rig: Rig, raw: str) -> None:
    rig.model.then(calls(("look", raw)), says("Sorry."))
    case = await rig.say("Look")
    await rig.work()

    (step,) = await rig.steps(case)
    result = CallResult.load(step.result or "")
    assert (step.state, result.kind) == (StepState.REFUSED, "invalid")
    assert str(result.content).startswith(("look cannot be called", "The arguments of look"))
    assert rig.effects.made == []
    assert rig.posted() == ["Sorry."]


async def test_arguments_cannot_pass_for_something_else_than_what_is_shown(rig: Rig) -> None:
    """The journal marks arguments that it keeps as written; a model that writes that mark gains nothing by it."""
    rig.model.then(calls(("svc.restart", {"as written": '{"service": "db"}'})), says("Sorry."))
    case = await rig.say("It hangs")
    await rig.work()

    assert await rig.gates(case) == []
    (step,) = await rig.steps(case)
    assert CallResult.load(step.result or "").kind == "invalid"


@pytest.mark.parametrize("name", ["no.such", "svc.restart", "\ud800", "a" * 300, ""], ids=ascii)
async def test_a_tool_that_was_not_offered_under_that_name_is_a_result_that_says_so(rig: Rig, name: str) -> None:
    """Also the dotted name of one that was: the model is held to what it was offered."""
    answer = calls(("x", {}))
    answer.parts = [ToolCallPart(name, {"service": "a"}, tool_call_id="call")]
    rig.model.then(answer, says("Sorry."))
    case = await rig.say("Do it")
    await rig.work()

    (step,) = await rig.steps(case)
    result = CallResult.load(step.result or "")
    assert (step.state, result.kind) == (StepState.REFUSED, "invalid")
    assert "there is no tool" in str(result.content)
    assert "look" in str(result.content)
    assert await rig.gates(case) == []
    assert rig.posted() == ["Sorry."]


async def test_invalid_calls_are_answered_at_most_three_times_in_a_row(rig: Rig) -> None:
    rig.model.then(*[calls(("no.such", {}))] * 3)
    case = await rig.say("Do it")
    await rig.work()

    (run,) = await rig.runs(case)
    assert (run.outcome, run.escalated) == (Outcome.HANDED_OFF, True)
    assert rig.posted() == [
        f"I am handing {case.label} to an operator: the assistant kept calling tools in ways that do not work."
    ]
    assert len(rig.model.sent) == 3


async def test_a_call_that_works_between_invalid_ones_starts_the_count_anew(rig: Rig) -> None:
    bad = calls(("no.such", {}))
    rig.model.then(bad, bad, calls(LOOK), bad, bad, says("Got there."))
    await rig.say("Do it")
    await rig.work()

    assert rig.posted() == ["Got there."]


async def test_the_arguments_a_call_was_made_with_are_on_the_trail(rig: Rig) -> None:
    rig.model.then(calls(NOTE), says("Noted."))
    case = await rig.say("Note it")
    await rig.work()

    entries = await rig.store.read(trail.read, System(), case.id)
    (started,) = [entry for entry in entries if entry.kind == "tool.started"]
    assert decode(started.content or "{}") == {"args": {"text": "x"}}
