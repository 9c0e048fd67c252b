"""What becomes of a turn when its model fails, refuses, stops too early or says nothing (design, section 5)."""

import asyncio
from dataclasses import replace

import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
)

from bot.settings import Settings
from bot.settings.sections import Model
from casestore.models import Case
from casestore.states import Outcome, StepState, TurnState
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig, checked
from tests.loop.scripted import Held, Waits, calls, said, says, unpaired

AWAY = "The assistant's model does not answer just now. Your message is stored; I try again by myself."


def http(status: int) -> ModelHTTPError:
    return ModelHTTPError(status, "scripted", {"error": "the key is sk-secret"})


async def how_they_ended(rig: Rig, case: Case) -> list[Outcome | None]:
    return [run.outcome for run in await rig.runs(case)]


PASSING = [
    http(429), http(529), http(500), http(503), http(524), http(408), TimeoutError(),
    ModelAPIError("scripted", "connection reset"), UnexpectedModelBehavior("not JSON"),
]  # fmt: skip


@pytest.mark.parametrize("error", PASSING, ids=lambda error: f"{type(error).__name__} {str(error)[:17]}")
async def test_what_passes_is_tried_again_within_the_lease_and_nobody_hears_of_it(rig: Rig, error: Exception) -> None:
    rig.model.then(error, error, says("It is the disk."))

    case = await rig.say("What is wrong?")
    await rig.work()

    assert rig.posted() == ["It is the disk."]
    asked = await rig.steps(case, tools_only=False)
    assert [step.state for step in asked] == [StepState.FAILED, StepState.FAILED, StepState.FINISHED]
    assert len({step.request_digest for step in asked}) == 1
    assert [len(sent) for sent in rig.model.sent] == [1, 1, 1]
    assert len(await rig.runs(case)) == 1


async def test_what_does_not_pass_in_time_is_put_off_the_person_told_once_and_gone_on_with(rig: Rig) -> None:
    rig.model.then(*[http(429)] * 6, says("It is the disk."))

    case = await rig.say("What is wrong?")
    await rig.work()
    assert rig.posted() == [AWAY]
    (turn,) = await rig.turns(case)
    assert (turn.state, turn.not_before) == (TurnState.QUEUED, rig.clock.now() + 60_000)
    assert len(rig.model.sent) == 3

    await rig.work()
    assert len(rig.model.sent) == 3
    rig.clock.pass_by(60_000)
    await rig.work()
    assert (rig.posted(), len(rig.model.sent)) == ([AWAY], 6)
    await rig.restart()
    rig.clock.pass_by(120_000)
    await rig.work()

    assert rig.posted() == [AWAY, "It is the disk."]
    assert await how_they_ended(rig, case) == [Outcome.ERROR, Outcome.ERROR, Outcome.ANSWERED]
    first, *_ = await rig.runs(case)
    assert first.error == "The model did not answer: the provider answered 429."
    await checked(rig.store, case)


async def test_the_person_is_told_also_when_the_first_attempt_ended_otherwise(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")), *[http(503)] * 3)
    case = await rig.say("What is wrong?")
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.restart()
    await rig.work()

    assert rig.posted() == [AWAY]


async def test_what_is_said_while_the_model_is_away_is_answered_with_the_rest(rig: Rig) -> None:
    rig.model.then(*[http(503)] * 3, says("Both answered."))

    case = await rig.say("one")
    await rig.work()
    await rig.say("two")
    await rig.work()
    rig.clock.pass_by(60_000)
    await rig.work()

    assert said(rig.model.sent[-1]) == ["ann (requester): one", "ann (requester): two"]
    assert rig.posted() == [AWAY, "Both answered."]
    assert len(await rig.turns(case)) == 1


async def test_a_model_that_stays_away_is_given_up_after_some_attempts_and_an_operator_gets_the_case(rig: Rig) -> None:
    rig.model.then(*[http(503)] * 15)

    case = await rig.say("What is wrong?")
    for _ in range(5):
        await rig.work()
        rig.clock.pass_by(600_000)

    assert await how_they_ended(rig, case) == [Outcome.ERROR] * 5
    assert [run.escalated for run in await rig.runs(case)] == [False] * 4 + [True]
    assert rig.posted() == [
        AWAY, f"I am handing {case.label} to an operator: the assistant's model does not answer just now."
    ]  # fmt: skip
    assert (await rig.case(case)).waiting_on == "operator"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_does_not_pass_is_not_tried_again_health_turns_red_and_an_operator_gets_the_case(
    rig: Rig, status: int
) -> None:
    rig.model.then(http(status))

    case = await rig.say("What is wrong?")
    await rig.work()

    assert len(rig.model.sent) == 1
    assert rig.conductor.model_refused is not None
    assert str(status) in rig.conductor.model_refused
    assert "sk-secret" not in rig.conductor.model_refused
    assert rig.posted() == [f"I am handing {case.label} to an operator: the assistant's model refuses to work."]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.escalated) == (Outcome.ERROR, True)
    assert "sk-secret" not in (run.error or "")

    rig.model.then(says("I am back."))
    await rig.say("And now?")
    await rig.work()
    assert rig.conductor.model_refused is None
    assert rig.posted()[-1] == "I am back."


async def test_a_stall_beyond_the_time_a_model_has_is_a_timeout(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(model=Model.model_validate({"timeout": "20ms"})))
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")), says("In time."))

    await rig.say("What is wrong?")
    await rig.work()

    assert rig.posted() == ["In time."]


@pytest.mark.parametrize("how", ["finish", "error"])
async def test_a_refusal_is_an_answer_in_the_engines_words(rig: Rig, how: str) -> None:
    refused = says("I would rather", "content_filter") if how == "finish" else ContentFilterError("no")
    rig.model.then(refused)

    case = await rig.say("How do I build a bomb?")
    await rig.work()

    (run,) = await rig.runs(case)
    assert (run.outcome, run.stop_reason) == (Outcome.REFUSED, "refused by the model")
    assert rig.posted() == [f"I cannot help with this here. An operator can: {case.label} stays open."]
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]


async def test_the_calls_of_a_refused_response_are_not_made(rig: Rig) -> None:
    rig.model.then(
        replace(calls(("note", {"text": "x"}), ("svc.restart", {"service": "a"})), finish_reason="content_filter"),
        says("Hello."),
    )
    case = await rig.say("Do something bad")
    await rig.work()
    assert (await rig.runs(case))[0].outcome is Outcome.REFUSED
    assert (rig.effects.made, await rig.gates(case)) == ([], [])

    await rig.say("Hello?")
    await rig.work()
    assert unpaired(rig.model.sent[1]) == []


async def test_an_answer_that_was_cut_off_is_continued_once(rig: Rig) -> None:
    rig.model.then(says("It is the di", "length"), says("sk."))

    await rig.say("What is wrong?")
    await rig.work()

    assert rig.posted() == ["It is the disk."]
    assert said(rig.model.sent[1])[-1] == "system: your answer was cut off; go on exactly where it stopped"


async def test_an_answer_that_is_cut_off_again_is_given_as_it_is_and_marked(rig: Rig) -> None:
    rig.model.then(says("It is ", "length"), says("the di", "length"))

    case = await rig.say("What is wrong?")
    await rig.work()

    assert rig.posted() == ["It is the di\n[cut off: the answer was too long]"]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.stop_reason) == (Outcome.ANSWERED, "cut off")


async def test_an_empty_answer_is_asked_for_once_more(rig: Rig) -> None:
    rig.model.then(says(""), says("It is the disk."))

    await rig.say("What is wrong?")
    await rig.work()

    assert rig.posted() == ["It is the disk."]
    assert said(rig.model.sent[1])[-1].startswith("system: your answer was empty")


@pytest.mark.parametrize("nothing", ["", "  \n "])
async def test_an_answer_that_stays_empty_is_handed_to_an_operator(rig: Rig, nothing: str) -> None:
    rig.model.then(says(nothing), says(nothing))

    case = await rig.say("What is wrong?")
    await rig.work()

    assert await how_they_ended(rig, case) == [Outcome.HANDED_OFF]
    assert rig.posted() == [f"I am handing {case.label} to an operator: the assistant had no answer."]


async def test_an_empty_answer_after_a_call_is_asked_for_once_more_too(rig: Rig) -> None:
    rig.model.then(calls(("look", {"at": "/"})), says(""), says("Full."))

    await rig.say("What is wrong?")
    await rig.work()

    assert rig.posted() == ["Full."]
    assert rig.effects.made == ["look /"]


async def test_a_model_that_fails_in_a_way_nobody_thought_of_does_not_stop_the_engine(rig: Rig) -> None:
    rig.model.then(*[ZeroDivisionError("oops")] * 5)
    case = await rig.say("What is wrong?")
    for attempt in range(1, 6):
        rig.engine.wake(case.id)
        await rig.engine.idle()
        (turn,) = await rig.turns(case)
        assert (turn.state, turn.attempts) == (TurnState.QUEUED, attempt)
        assert turn.not_before > rig.clock.now()
        rig.clock.pass_by(10_000)
    rig.engine.wake(case.id)
    await rig.engine.idle()
    await rig.deliver()

    assert await how_they_ended(rig, case) == [Outcome.ERROR] * 6
    assert (await rig.runs(case))[0].error == "ZeroDivisionError: oops"
    assert rig.posted() == [
        f"I am handing {case.label} to an operator: it was attempted 5 times without an answer."
    ]  # fmt: skip


async def test_a_model_cut_off_when_the_service_ends_leaves_a_turn_that_goes_on(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")), says("It is the disk."))
    case = await rig.say("What is wrong?")
    rig.engine.wake(case.id)
    await held.reached.wait()
    await asyncio.wait_for(rig.engine.stop(0), 5)
    await rig.restart()
    await rig.work()

    assert rig.posted() == ["It is the disk."]
