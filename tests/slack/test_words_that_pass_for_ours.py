"""What is to be decided on reads as what it is, whatever somebody has written into it (R23)."""

from __future__ import annotations

import pytest

from casestore import cases
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import read, texts

STRUCK = "~shop~ *mail*\n> `gone` :white_check_mark:"


@pytest.mark.parametrize("command", [("/gate", "list"), ("/gate", "show 1"), ("/case", "show C-1001")])
async def test_no_markup_in_what_waits_is_markup_in_the_answer_to_a_command(
    office: Office, command: tuple[str, str]
) -> None:
    """`~shop~` in mrkdwn is struck out: it would read as if the other thing were restarted."""
    office.answers(calls(("svc.restart", {"service": STRUCK})), says("Done."))
    await office.card(await office.asks(STRUCK))
    await office.kim.runs(*command, room=office.ops)
    told = await office.whispered(office.kim, "~shop~")
    assert [block["type"] for block in told.blocks] == ["rich_text"]
    assert 'Restart "~shop~ *mail*' in read(told)


async def test_no_direction_of_text_is_turned_in_an_answer(office: Office) -> None:
    """A paraphrase is the model's, and what it says may be anybody's words."""
    office.answers(says("Hello."))
    await office.shows(await office.asks(), "Hello.")
    case = await office.only_case()
    await office.service.store.write(cases.write_paraphrase, case.id, "paid \u202eon")
    await office.kim.runs("/case", "show C-1001", room=office.ops)
    told = await office.whispered(office.kim, "paid ")
    assert "\u202e" not in told.text + read(told)
    assert "U+202E" in read(told)


async def test_an_answer_that_is_longer_than_one_whisper_comes_whole_and_in_order(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": f"<{'&' * 9_000}>"})), says("Done."))
    await office.card(await office.asks())
    await office.kim.runs("/gate", "show 1", room=office.ops)
    await office.whispered(office.kim, "&gt;")
    whole = "".join(texts([block for said in office.slack.whispers(office.kim) for block in said.blocks]))
    assert f"&lt;{'&' * 9_000}>" in whole


async def test_a_long_value_does_not_pass_for_the_argument_after_it(office: Office) -> None:
    """A call shown whole is cut in frames: whoever wrote the value knows where, and what the next one begins with."""
    office.answers(calls(("svc.restart", {"service": f"shop{'.' * 2_887}{'service  nothing ' * 400}"})), says("Done."))
    card = await office.card(await office.asks())
    await office.kim.presses(card, "gate_view")
    frames = texts((await office.modal(office.kim)).blocks)[2:]
    assert len(frames) > 2
    assert frames[0].startswith("service  shop.")
    assert [frame.startswith("(the same line) … ") for frame in frames[1:]] == [True] * (len(frames) - 1)


async def test_a_frame_that_begins_with_a_line_says_nothing_of_that(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": f"a\n{'b' * 2_879}\n{'c' * 3_000}"})), says("Done."))
    card = await office.card(await office.asks())
    await office.kim.presses(card, "gate_view")
    frames = texts((await office.modal(office.kim)).blocks)[2:]
    assert [frame.startswith("(the same line) … ") for frame in frames] == [False, False, True]
