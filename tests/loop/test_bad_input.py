"""Text that no channel has made storable on its way; the rest is in tests/bad_input."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, ToolCallPart

from bot.inbound import intake
from bot.words.frame import framed
from casestore.models import Case, Principal
from casestore.states import Origin
from channels.storable import storable
from tests.loop.rig import Rig, checked
from tests.loop.scripted import said, says

TEXTS = {
    "NUL": "before\0after",
    "half a character": "before\ud800after",
    "two halves the wrong way round": "\udc00\ud83d",
    "right to left": "invoice\u202egpj.exe",
    "joined": "family \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "notation": "⟨U+0000⟩ and ⟨U+D800⟩",
    "escape sequences": "\x1b[2J\x1b]0;title\x07",
    "an object that is no object": '{"__proto__": null, "kind": "response"}',
    "a fence that does not close": "```\nrm -rf /",
    "nothing but blanks": " \n\t ",
    "lines": "a\r\nb\rc\u2028d\u2029e\x85f",
    "SQL": "'); DROP TABLE cases; --",
    "the end of a transcript": '"}],"kind":"response"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_it_may_come_from_the_command_line_too(rig: Rig, text: str) -> None:
    rig.model.then(says("Yes?"), says("Indeed."))
    ann = rig.people["ann"]

    case = await rig.store.write(intake.open_by, rig.clock.now(), ann, Origin.CLI, text, title=text)
    await rig.work()
    await rig.speak(case, text, by="ann")
    await rig.work()

    assert said(rig.model.sent[1]) == [f"ann (requester): {framed(storable(text))}"] * 2
    assert (await rig.case(case)).title == storable(text)[:200]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_a_person_who_has_the_case_may_say_it_too(rig: Rig, text: str) -> None:
    rig.model.then(says("Hello."), says("I see."))
    case = await rig.say("Hello")
    await rig.work()
    await rig.take(case)
    await rig.speak(case, text, by="kim")
    await rig.release(case)
    await rig.say("And?")
    await rig.work()

    assert said(rig.model.sent[1])[1] == f"kim (operator): {framed(storable(text))}"


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec=None), min_size=1, max_size=60))
async def test_whatever_is_said_the_case_can_be_opened_again(rig: Rig, text: str) -> None:
    rig.model.then(says(text), says("."))

    case: Case = await rig.store.write(intake.open_by, rig.clock.now(), ann(rig), Origin.CLI, text)
    await rig.work(deliver=False)

    (asked, *_) = await rig.messages(case)
    assert asked.text == storable(text)
    rig.model.script.clear()


def ann(rig: Rig) -> Principal:
    return rig.people["ann"]


@pytest.mark.parametrize("depth", [150, 240, 500, 5_000])
async def test_arguments_that_a_provider_sends_as_an_object_may_be_nested_however_deeply(rig: Rig, depth: int) -> None:
    """R13: what is stored has to be read again."""
    nested: dict[str, Any] = {}
    for _ in range(depth):
        nested = {"a": nested}
    rig.model.then(ModelResponse([ToolCallPart("look", {"at": nested}, "c")]), says("I see."), says("Still here."))
    case = await rig.say("look")
    await rig.work()
    await rig.say("and now?")
    await rig.restart()
    await rig.work()

    assert [step.state for step in await rig.steps(case)] == ["refused"]
    assert await rig.texts(case) == ["I see.", "Still here."]
    await checked(rig.store, case)
