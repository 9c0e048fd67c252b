"""Stored messages as every provider takes them: a call keeps its result, and the rest is left as it was."""

import re

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bot.models.acceptable import acceptable
from tests.loop.scripted import returned, unpaired

NAMES = st.one_of(st.sampled_from(["look", "svc__restart", "", "a.b", "no such", "x" * 65, "9"]), st.text(max_size=5))
IDS = st.one_of(st.sampled_from(["a", "b", "", "x" * 41, "c d", "call_1"]), st.text(max_size=5))
ROUNDS = st.lists(st.lists(st.tuples(NAMES, IDS), max_size=4), max_size=5)


def history(rounds: list[list[tuple[str, str]]]) -> list[ModelMessage]:
    """A response with these calls and a request with their results, again and again; each result says which it is."""
    found: list[ModelMessage] = [ModelRequest([UserPromptPart("Help!")])]
    for number, called in enumerate(rounds):
        found.append(ModelResponse([ToolCallPart(name, "{}", tool_call_id=call_id) for name, call_id in called]))
        results = [
            ToolReturnPart(name.replace(".", "__"), f"{number} {place}", tool_call_id=call_id)
            for place, (name, call_id) in enumerate(called)
        ]
        found.append(ModelRequest([*results, UserPromptPart("And?")]))
    return found


@given(ROUNDS)
def test_each_call_keeps_its_own_result_under_a_name_and_an_id_that_every_provider_takes(
    rounds: list[list[tuple[str, str]]],
) -> None:
    sent = acceptable(history(rounds))

    assert unpaired(sent) == []
    called = [part for message in sent for part in message.parts if isinstance(part, ToolCallPart)]
    results = [part for message in sent for part in message.parts if isinstance(part, ToolReturnPart)]
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", part.tool_name) for part in called)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", part.tool_call_id) for part in called)
    assert len({part.tool_call_id for part in called}) == len(called)
    assert [(part.tool_name, part.tool_call_id) for part in results] == [
        (part.tool_name, part.tool_call_id) for part in called
    ]
    assert returned(sent) == returned(history(rounds))


@given(ROUNDS)
def test_the_same_messages_are_sent_the_same_and_a_longer_history_begins_with_them(
    rounds: list[list[tuple[str, str]]],
) -> None:
    whole = history(rounds)
    timeless = [repr(message.parts) for message in acceptable(whole)]

    assert [repr(message.parts) for message in acceptable(whole)] == timeless
    assert [repr(message.parts) for message in acceptable(whole[:3])] == timeless[:3]


def test_what_can_be_sent_is_the_very_message_that_is_stored() -> None:
    stored = history([[("look", "a"), ("svc__restart", "b")], [("look", "c")]])

    assert all(one is other for one, other in zip(acceptable(stored), stored, strict=True))


def test_words_that_are_nothing_but_blanks_are_left_out_and_thoughts_are_not() -> None:
    thought = ThinkingPart("Hm.", signature="signed")
    (sent,) = acceptable([ModelResponse([thought, TextPart(" \n"), TextPart("Yes.")])])

    assert sent.parts == [thought, TextPart("Yes.")]
