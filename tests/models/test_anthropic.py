"""What only Anthropic's client meets: thoughts that go back as they came, and an error in the midst of a stream."""

from typing import cast

from tests.models.rig import Asked
from tests.wire.scripted import Answer, Body, Cut, Fault, words

THOUGHT = ("The disk is probably full. Let me look.", "EqQBCgIYAhIM-signed")


async def test_a_thought_before_a_call_goes_back_whole_with_its_signature_as_anthropic_insists(
    anthropic: Asked,
) -> None:
    looks = Answer(None, (("look", '{"at": "/"}'),), "tool_calls", thought=THOUGHT)
    case = await anthropic.say("Is it full?", looks, words("It is."))

    sent = [block for message in anthropic.server.history() for block in _blocks(message["content"])]
    assert {"type": "thinking", "thinking": THOUGHT[0], "signature": THOUGHT[1]} in sent
    assert THOUGHT[0] not in "".join(anthropic.rig.posted())
    await anthropic.rig.restart()
    await anthropic.goes_on(case)


async def test_a_stream_that_breaks_off_is_asked_for_again_and_half_an_answer_is_never_said(anthropic: Asked) -> None:
    case = await anthropic.say("Help!", Cut(), words("Whole."))

    assert anthropic.server.sent[0]["stream"] is True
    assert anthropic.rig.posted() == ["Whole."]
    await anthropic.goes_on(case)


async def test_an_error_that_comes_within_the_stream_is_the_error_it_would_be_without_one(anthropic: Asked) -> None:
    case = await anthropic.say("Help!", Fault(200, "overloaded_error"), words("Whole."))

    assert anthropic.rig.posted() == ["Whole."]
    assert anthropic.rig.conductor.model_trouble is None
    await anthropic.goes_on(case)


async def test_credit_that_has_run_out_is_said_by_a_400_and_not_taken_for_a_bad_request(anthropic: Asked) -> None:
    case = await anthropic.say("Help!", Fault(400, says="Your credit balance is too low to access the Anthropic API."))

    assert "quota or credit is used up" in (anthropic.rig.conductor.model_trouble or "")
    await anthropic.goes_on(case)


def _blocks(content: object) -> list[Body]:
    return [] if isinstance(content, str) else cast("list[Body]", content)
