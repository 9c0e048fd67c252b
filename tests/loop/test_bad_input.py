"""Text that nobody should send, and that somebody sends: stored, shown, and given to the model (R23)."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot import intake
from casestore.models import Case, Principal
from casestore.states import Origin, Verb
from channels.storable import storable
from tests.loop.rig import Rig, checked
from tests.loop.scripted import calls, said, says

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
async def test_it_is_stored_shown_and_given_to_the_model(rig: Rig, text: str) -> None:
    rig.model.then(says(f"You said: {text}"), says("Anything else?"))

    case = await rig.say(text)
    await rig.work()
    await rig.restart()
    await rig.say("No.")
    await rig.work()

    asked, answered, *_ = await rig.messages(case)
    assert asked.text == storable(text)
    assert answered.text == storable(f"You said: {text}")
    assert said(rig.model.sent[0]) == [f"ann (requester): {storable(text)}"]
    assert rig.posted()[0].startswith("You said: ")
    assert not {"\0", "\x1b", "\u202e", "\ud800"} & set(rig.posted()[0])
    assert rig.posted()[-1] == "Anything else?"
    await checked(rig.store, case)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_it_may_come_from_the_command_line_too(rig: Rig, text: str) -> None:
    rig.model.then(says("Yes?"), says("Indeed."))
    ann = rig.people["ann"]

    case = await rig.store.write(intake.open_by, rig.clock.now(), ann, Origin.CLI, text, title=text)
    await rig.work()
    await rig.speak(case, text, by="ann")
    await rig.work()

    assert said(rig.model.sent[1]) == [f"ann (requester): {storable(text)}"] * 2
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

    assert said(rig.model.sent[1])[1] == f"kim (operator): {storable(text)}"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_it_may_be_the_argument_of_a_call_and_is_shown_as_what_it_is(rig: Rig, text: str) -> None:
    rig.model.then(calls(("svc.restart", {"service": text})), says("Well."))
    case = await rig.say("It hangs")
    await rig.work()

    gate = await rig.open_gate(case)
    if any("\ud800" <= character <= "\udfff" for character in text):
        assert gate is None  # no text at all: refused, and the model is told
    else:
        assert gate is not None
        assert not {"\0", "\x1b", "\u202e", "\n", "\r", "\u2028"} & set(gate.statement)
        assert not {"\0", "\x1b", "\u202e"} & set(rig.posted()[-1])
        await rig.decide(case, reason=text)
        await rig.work()
        assert rig.effects.made == [f"restart {text}"]
    assert rig.posted()[-1] == "Well."


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_it_may_be_the_reason_of_a_decision(rig: Rig, text: str) -> None:
    rig.model.then(calls(("svc.restart", {"service": "a"})), says("Well."))
    case = await rig.say("It hangs")
    await rig.work()
    assert (await rig.decide(case, Verb.DENY, reason=text)).taken
    await rig.work()

    (gate,) = await rig.gates(case)
    assert gate.reason == storable(text)
    assert rig.posted()[-1] == "Well."


async def test_a_megabyte_of_text_is_stored_whole_and_answered(rig: Rig) -> None:
    text = "0123456789abcdef" * 65_536
    rig.model.then(says("That is a lot."), says("Anything else?"))

    case = await rig.say(text)
    await rig.work()
    await rig.say("No.")
    await rig.work()

    assert (await rig.messages(case))[0].text == text
    assert (await rig.case(case)).title == text[:79] + "…"
    assert said(rig.model.sent[0]) == [f"ann (requester): {text}"]
    assert rig.posted() == ["That is a lot.", "Anything else?"]


async def test_a_megabyte_of_answer_is_said_in_pieces_and_none_is_lost(rig: Rig) -> None:
    text = "".join(f"line {number} of very many\n" for number in range(45_000))
    rig.model.then(says(text))
    case = await rig.say("Say it all")
    await rig.work(deliver=False)

    rows = await rig.outbox(case)
    assert len(rows) > 500
    assert "".join(row.body or "" for row in rows).replace("\n", "") == text.replace("\n", "")
    assert len({row.message_id for row in rows}) == 1


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
