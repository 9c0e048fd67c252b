"""The model does not answer, refuses, or answers what is no answer: the case goes on or an operator gets it."""

import pytest
from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, ModelHTTPError, UnexpectedModelBehavior

from bot.settings import Settings
from bot.settings.sections import Limits, Model
from bot.tools.results import CallResult
from casestore import leases
from casestore.states import Outcome, StepState, TurnState, WaitingOn
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, MINUTE, Rig, checked
from tests.loop.scripted import ASKED, Held, Waits, calls, returned, said, says, unpaired

SECRET = "sk-do-not-show-this"
TRIES = 3


def http(status: int) -> ModelHTTPError:
    """What a provider's client raises; its body may hold anything."""
    return ModelHTTPError(status, ASKED, body={"error": {"message": f"bad key {SECRET}"}})


PASSING = [
    http(429), http(500), http(502), http(503), http(529), http(408), TimeoutError(),
    ModelAPIError(ASKED, "Connection error."), UnexpectedModelBehavior("no JSON"),
]  # fmt: skip
OVERLOADED = "The assistant's model does not answer just now. Your message is stored; I try again by myself."


@pytest.mark.parametrize("error", PASSING, ids=lambda error: f"{type(error).__name__} {error}"[:40])
async def test_what_passes_is_asked_again_in_the_same_run_and_every_attempt_is_journalled(
    rig: Rig, error: Exception
) -> None:
    rig.model.then(error, error, says("Here I am."))

    case = await rig.say("Help!")
    await rig.work()

    assert rig.posted() == ["Here I am."]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.error) == (Outcome.ANSWERED, None)
    tried = await rig.steps(case, tools_only=False)
    assert [step.state for step in tried] == [StepState.FAILED, StepState.FAILED, StepState.FINISHED]
    assert all(step.error for step in tried[:2])
    assert len({step.request_digest for step in tried}) == 1
    assert rig.model.sent[0] == rig.model.sent[1] == rig.model.sent[2]
    assert rig.conductor.model_trouble is None


async def test_a_model_that_stalls_past_its_deadline_has_not_answered(make_rig: MakeRig) -> None:
    settings = Settings(model=Model.model_validate({"timeout": "1ms"}))
    rig = await make_rig(Waits(Held(), says("Never.")), says("At last."), settings=settings)
    case = await rig.say("Help!")
    await rig.work()

    assert rig.posted() == ["At last."]
    stalled, answered = await rig.steps(case, tools_only=False)
    assert (stalled.state, answered.state) == (StepState.FAILED, StepState.FINISHED)


async def test_what_does_not_pass_in_time_is_put_off_the_person_is_told_once_and_it_goes_on_by_itself(
    rig: Rig,
) -> None:
    rig.model.then(*[http(529)] * TRIES)
    case = await rig.say("Help!")
    await rig.work()

    assert len(rig.model.sent) == TRIES
    assert rig.posted() == [OVERLOADED]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.error) == (Outcome.ERROR, "The model did not answer: the provider answered 529.")
    (turn,) = await rig.turns(case)
    assert (turn.state, turn.attempts) == (TurnState.QUEUED, 1)
    assert turn.not_before > rig.clock.now()
    assert (await rig.store.read(leases.of_case, case.id)).kind is None

    await rig.work()
    assert len(rig.model.sent) == TRIES  # not before its time

    rig.clock.ms = turn.not_before
    rig.model.then(*[http(429)] * TRIES)
    await rig.work()
    assert rig.posted() == [OVERLOADED]

    rig.clock.pass_by(HOUR)
    rig.model.then(says("Here I am."))
    await rig.work()
    assert rig.posted() == [OVERLOADED, "Here I am."]
    assert [run.outcome for run in await rig.runs(case)] == [Outcome.ERROR, Outcome.ERROR, Outcome.ANSWERED]
    assert said(rig.model.sent[-1]) == ["ann (requester): Help!"]
    await checked(rig.store, case)


async def test_a_message_that_comes_while_the_turn_is_put_off_is_in_view_when_it_goes_on(rig: Rig) -> None:
    rig.model.then(*[http(503)] * TRIES)
    case = await rig.say("Help!")
    await rig.work()
    await rig.say("Anybody?")
    await rig.work()
    assert len(rig.model.sent) == TRIES

    rig.clock.pass_by(HOUR)
    rig.model.then(says("Here I am."))
    await rig.work()

    assert said(rig.model.sent[-1]) == ["ann (requester): Help!", "ann (requester): Anybody?"]
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]


async def test_a_turn_that_was_attempted_often_enough_is_for_an_operator(make_rig: MakeRig) -> None:
    """R13."""
    rig = await make_rig(settings=Settings(limits=Limits(attempts=3)))
    case = await rig.say("Help!")
    for _ in range(3):
        rig.model.then(*[http(500)] * TRIES)
        await rig.work()
        rig.clock.pass_by(HOUR)
    await rig.work()

    assert len(rig.model.sent) == 3 * TRIES
    assert rig.posted() == [
        OVERLOADED, f"I am handing {case.label} to an operator: the assistant's model does not answer just now."
    ]  # fmt: skip
    assert (await rig.case(case)).waiting_on is WaitingOn.OPERATOR
    last = (await rig.runs(case))[-1]
    assert (last.outcome, last.escalated) == (Outcome.ERROR, True)
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_does_not_pass_is_not_asked_again_an_operator_gets_the_case_and_health_says_so(
    rig: Rig, status: int
) -> None:
    rig.model.then(http(status))
    case = await rig.say("Help!")
    await rig.work()

    assert len(rig.model.sent) == 1
    refused = rig.conductor.model_trouble or ""
    assert refused.startswith(f"The model cannot be used: the provider answered {status}")
    assert refused.endswith(". Correct [model] in the settings and restart.")
    assert rig.posted() == [f"I am handing {case.label} to an operator: the assistant's model refuses to work."]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.escalated, run.error) == (Outcome.ERROR, True, refused)
    assert (await rig.case(case)).waiting_on is WaitingOn.OPERATOR

    rig.model.then(says("I am back."))
    await rig.say("And now?")
    await rig.work()
    assert rig.conductor.model_trouble is None
    assert rig.posted()[-1] == "I am back."


async def test_nothing_that_a_provider_says_of_a_key_is_kept_or_shown(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.model.then(*[http(500)] * TRIES)
    case = await rig.say("Help!")
    await rig.work()
    rig.clock.pass_by(HOUR)
    rig.model.then(http(401))
    await rig.work()

    runs, steps = await rig.runs(case), await rig.steps(case, tools_only=False)
    assert SECRET not in f"{runs}{steps}{rig.posted()}{rig.conductor.model_trouble}{caplog.text}"


async def test_a_failure_in_the_middle_of_a_turn_does_not_make_its_calls_again(rig: Rig) -> None:
    rig.model.then(calls(("note", {"text": "once"})), *[http(500)] * TRIES)
    await rig.say("Note it.")
    await rig.work()
    rig.clock.pass_by(HOUR)
    rig.model.then(says("Noted."))
    await rig.work()

    assert rig.effects.made == ["note once"]
    assert returned(rig.model.sent[-1]) == ["note once: done"]
    assert rig.posted()[-1] == "Noted."


@pytest.mark.parametrize("raised", [False, True])
async def test_a_refusal_settles_the_turn_with_a_sentence_of_the_engine(rig: Rig, raised: bool) -> None:
    rig.model.then(ContentFilterError("blocked") if raised else says("I won't, becau", "content_filter"))
    case = await rig.say("Something forbidden.")
    await rig.work()

    assert rig.posted() == [f"I cannot help with this here. An operator can: {case.label} stays open."]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.stop_reason) == (Outcome.REFUSED, "refused by the model")
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    assert (await rig.case(case)).is_live


async def test_the_calls_of_a_refused_answer_are_not_made(rig: Rig) -> None:
    response = calls(("note", {"text": "x"}), ("svc.restart", {"service": "nginx"}))
    response.finish_reason = "content_filter"
    rig.model.then(response)
    case = await rig.say("Something forbidden.")
    await rig.work()

    assert rig.effects.made == []
    assert await rig.gates(case) == []
    assert [CallResult.load(step.result or "").kind for step in await rig.steps(case)] == ["not_asked", "not_asked"]
    rig.model.then(says("Hello."))
    await rig.say("Hello?")
    await rig.work()
    assert unpaired(rig.model.sent[-1]) == []


async def test_an_answer_that_was_cut_off_is_continued_once_and_said_as_one(rig: Rig) -> None:
    rig.model.then(says("First you ", "length"), says("open the lid."))
    case = await rig.say("How?")
    await rig.work()

    assert rig.posted() == ["First you open the lid."]
    assert len(rig.model.sent) == 2
    assert "go on exactly where it stopped" in said(rig.model.sent[-1])[-1]
    assert (await rig.runs(case))[0].stop_reason == "answered"


async def test_an_answer_that_is_cut_off_again_is_said_as_it_is_and_marked(rig: Rig) -> None:
    rig.model.then(says("First you ", "length"), says("open ", "length"))
    case = await rig.say("How?")
    await rig.work()

    assert rig.posted() == ["First you open \n[cut off: the answer was too long]"]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.stop_reason) == (Outcome.ANSWERED, "cut off")


@pytest.mark.parametrize("nothing", ["", "  \n "])
async def test_an_empty_answer_is_asked_for_once_more_and_then_an_operator_gets_the_case(
    rig: Rig, nothing: str
) -> None:
    rig.model.then(says(nothing), says("Here."))
    await rig.say("Help!")
    await rig.work()
    assert rig.posted() == ["Here."]
    assert "your answer was empty" in said(rig.model.sent[-1])[-1]

    rig.model.then(says(nothing), says(nothing))
    case = await rig.say("And?")
    await rig.work()
    assert rig.posted()[-1] == f"I am handing {case.label} to an operator: the assistant had no answer."
    assert (await rig.runs(case))[-1].outcome is Outcome.HANDED_OFF


async def test_an_empty_answer_after_calls_is_asked_for_once_more_too(rig: Rig) -> None:
    rig.model.then(calls(("look", {"at": "/"})), says(""), says("It is full."))
    await rig.say("Help!")
    await rig.work()

    assert rig.posted() == ["It is full."]


async def test_words_beside_calls_are_no_answer_yet_and_the_calls_are_made(rig: Rig) -> None:
    rig.model.then(calls(("look", {"at": "/"}), text="Let me look."), says("It is full."))
    await rig.say("Help!")
    await rig.work()

    assert rig.effects.made == ["look /"]
    assert rig.posted() == ["It is full."]


@pytest.mark.parametrize(
    "wanted",
    [("look", '{"at": '), ("look", "[1, 2]"), ("look", {"at": 3}), ("look", {}), ("look", {"at": "/", "x": 1}),
     ("look", '{"at": NaN}'), ("look", ""), ("no.such_tool", {}), ("", {}), ("x" * 5000, {"y": "z" * 5000})],
)  # fmt: skip
async def test_a_call_that_cannot_be_made_is_answered_with_why_and_nothing_is_run(
    rig: Rig, wanted: tuple[str, dict[str, object] | str]
) -> None:
    rig.model.then(calls(wanted), says("I see."))
    case = await rig.say("Help!")
    await rig.work()

    assert rig.effects.made == []
    (step,) = await rig.steps(case)
    assert CallResult.load(step.result or "").kind == "invalid"
    assert unpaired(rig.model.sent[-1]) == []
    assert rig.posted() == ["I see."]


async def test_three_calls_in_a_row_that_cannot_be_made_hand_the_case_to_an_operator(rig: Rig) -> None:
    rig.model.then(calls(("nope", {})), calls(("look", "{")), calls(("look", {"where": 1})))
    case = await rig.say("Help!")
    await rig.work()

    assert len(rig.model.sent) == 3
    assert (await rig.runs(case))[0].outcome is Outcome.HANDED_OFF
    assert "kept calling tools in ways that do not work" in rig.posted()[-1]
    rig.model.then(says("Hello."))
    await rig.say("Hello?")
    await rig.work()
    assert unpaired(rig.model.sent[-1]) == []


async def test_a_call_that_works_between_them_starts_the_count_anew(rig: Rig) -> None:
    bad = calls(("nope", {}))
    rig.model.then(bad, bad, calls(("look", {"at": "/"})), bad, bad, says("There."))
    await rig.say("Help!")
    await rig.work()

    assert rig.posted() == ["There."]


async def test_a_bug_in_a_run_is_recorded_and_the_turn_is_tried_again_and_not_lost(rig: Rig) -> None:
    rig.model.then(ValueError("a bug"))
    case = await rig.say("Help!")
    rig.engine.wake(case.id)
    await rig.engine.idle()

    (run,) = await rig.runs(case)
    assert (run.outcome, run.error) == (Outcome.ERROR, "ValueError")
    assert (await rig.store.read(leases.of_case, case.id)).kind is None
    (turn,) = await rig.turns(case)
    assert turn.state is TurnState.QUEUED
    assert rig.posted() == []

    rig.clock.pass_by(MINUTE)
    rig.model.then(says("Here I am."))
    await rig.work()
    assert rig.posted() == ["Here I am."]
    assert [one.outcome for one in await rig.runs(case)] == [Outcome.ERROR, Outcome.ANSWERED]


async def test_a_bug_that_stays_hands_the_case_to_an_operator(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(limits=Limits(attempts=2)))
    case = await rig.say("Help!")
    for _ in range(2):
        rig.model.then(ValueError("a bug"))
        rig.engine.wake(case.id)
        await rig.engine.idle()
        rig.clock.pass_by(HOUR)
    await rig.work()

    assert rig.posted() == [f"I am handing {case.label} to an operator: it was attempted 2 times without an answer."]
    assert (await rig.case(case)).waiting_on is WaitingOn.OPERATOR
    assert "a bug" not in "".join(rig.posted())
