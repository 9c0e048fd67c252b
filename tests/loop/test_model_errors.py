"""Which failures of a model pass and which do not (design, section 5; what follows is in tests/model_errors)."""

import asyncio

import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
)

from casestore.states import Outcome, StepState, TurnState
from tests.loop.rig import Rig
from tests.loop.scripted import Held, Waits, says

AWAY = "The assistant's model does not answer just now. Your message is stored; I try again by myself."


def http(status: int) -> ModelHTTPError:
    return ModelHTTPError(status, "scripted", {"error": "the key is sk-secret"})


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


async def test_the_person_is_told_also_when_the_first_attempt_ended_otherwise(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")), *[http(503)] * 3)
    case = await rig.say("What is wrong?")
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.restart()
    await rig.work()

    assert rig.posted() == [AWAY]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_does_not_pass_is_not_tried_again_health_turns_red_and_an_operator_gets_the_case(
    rig: Rig, status: int
) -> None:
    rig.model.then(http(status))

    case = await rig.say("What is wrong?")
    await rig.work()

    assert len(rig.model.sent) == 1
    assert rig.conductor.model_trouble is not None
    assert str(status) in rig.conductor.model_trouble
    assert "sk-secret" not in rig.conductor.model_trouble
    assert rig.posted() == [f"I am handing {case.label} to an operator: the assistant's model refuses to work."]
    (run,) = await rig.runs(case)
    assert (run.outcome, run.escalated) == (Outcome.ERROR, True)
    assert "sk-secret" not in (run.error or "")

    rig.model.then(says("I am back."))
    await rig.say("And now?")
    await rig.work()
    assert rig.conductor.model_trouble is None
    assert rig.posted()[-1] == "I am back."


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


@pytest.mark.parametrize("status", [503, 401])
async def test_a_model_that_fails_in_a_case_a_person_has_taken_meanwhile_says_nothing_in_it(
    rig: Rig, status: int
) -> None:
    """R10: neither that it is away nor that an operator gets the case is the assistant's to say any more."""
    held = Held()
    rig.model.then(*[http(status)] * (2 if status == 503 else 0), Waits(held, http(status)))
    case = await rig.say("What is wrong?")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.take(case)
    held.release.set()
    await working
    await rig.deliver()

    assert rig.posted() == [f"kim has taken over {case.label}. I stay silent until it is handed back."]
    assert [run.outcome for run in await rig.runs(case)] == [Outcome.LEASE_LOST]
    assert [turn.not_before for turn in await rig.turns(case)] == [0]
