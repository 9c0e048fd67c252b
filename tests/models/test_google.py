"""What only Google's client meets: signatures on calls, calls without ids, a blocked prompt, waits within an error."""

from typing import cast

import pytest

from casestore.states import Outcome
from tests.loop.rig import HOUR
from tests.models.rig import Asked
from tests.wire.google.server import GoogleServer
from tests.wire.scripted import Answer, Body, Fault, calls, words

HELD = (("svc__restart", '{"service": "nginx"}'), ("look", '{"at": "/"}'))


def of_the_model(asked: Asked) -> list[Body]:
    """The parts of the last request that the model has said itself."""
    said = [content for content in asked.server.history() if content["role"] == "model"]
    return [part for content in said for part in cast("list[Body]", content["parts"])]


@pytest.mark.parametrize("ids", [(), ("has a blank", "x")])
async def test_the_signature_of_a_call_goes_back_with_it_hours_later_from_another_process(
    google: Asked, ids: tuple[str, ...]
) -> None:
    """R8: Google refuses a call that comes back without it."""
    case = await google.say("It hangs.", calls(*HELD, ids=ids))
    await google.rig.restart()
    google.rig.clock.pass_by(20 * HOUR)
    await google.rig.decide(case)
    google.server.then(words("It runs."))
    await google.rig.work()

    restart, look = (part for part in of_the_model(google) if "functionCall" in part)
    assert [restart["thoughtSignature"]] == cast("GoogleServer", google.server).signed
    assert "thoughtSignature" not in look
    assert google.server.refused == []
    assert google.rig.effects.count("restart") == 1
    await google.goes_on(case)


async def test_calls_without_ids_get_their_own_results_each(google: Asked) -> None:
    twice = calls(("look", '{"at": "/a"}'), ("look", '{"at": "/b"}'))
    case = await google.say("Look.", twice, words("I see."))

    assert [result for _, result in google.server.results()] == ["| look /a: done", "| look /b: done"]
    assert len({call_id for call_id, _ in google.server.results()}) == 2
    await google.goes_on(case)


async def test_what_was_thought_before_a_call_is_not_said_and_is_taken_back(google: Asked) -> None:
    thought = Answer(None, (("look", '{"at": "/"}'),), "tool_calls", thought=("Probably full.", "signed"))
    case = await google.say("Is it full?", thought, words("It is."))

    assert {"text": "Probably full.", "thought": True} in of_the_model(google)
    assert google.rig.posted() == ["It is."]
    await google.goes_on(case)


async def test_a_prompt_that_google_blocks_is_a_refusal_and_the_case_stays_open(google: Asked) -> None:
    case = await google.say("Something forbidden.", Answer(None, refusal="blocked"))

    assert google.rig.posted() == [f"I cannot help with this here. An operator can: {case.label} stays open."]
    assert (await google.rig.runs(case))[0].outcome is Outcome.REFUSED
    await google.goes_on(case)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "OTHER"])
async def test_an_answer_that_went_wrong_is_asked_for_once_more_and_nothing_of_it_is_said(
    google: Asked, reason: str
) -> None:
    case = await google.say("Look.", Answer(None, finish=reason), words("Here."))

    assert google.rig.posted() == ["Here."]
    await google.goes_on(case)


async def test_the_wait_that_google_asks_for_within_its_error_is_given(google: Asked) -> None:
    case = await google.say("Help!", Fault(429, "7s"), words("Here I am."))

    assert google.rig.waited == [7.0]
    assert google.rig.posted() == ["Here I am."]
    await google.goes_on(case)
