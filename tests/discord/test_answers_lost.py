"""What was pressed counts, whether or not Discord hears that it has arrived; and is answered where that can be."""

from __future__ import annotations

import logging

import pytest

from tests.discord.household import Household
from tests.discord.reading import buttons, read
from tests.loop.scripted import calls, says
from tests.wire.discord.messages import Message
from tests.wire.discord.places import Thread

_BAN = "<html>error code: 1015</html>"


async def asked(home: Household, service: str = "oven") -> tuple[Thread, Message]:
    """A thread in which a restart waits for a decision, and its card."""
    home.answers(calls(("svc.restart", {"service": service})), says("It is warm."))
    thread = await home.asks()
    return thread, await home.card(thread)


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged with one."""
    return [record.message for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("accepted", [False, True])
@pytest.mark.parametrize("how", ["500", "cut", "ban"])
async def test_a_press_whose_acknowledgement_goes_wrong_decides_all_the_same(
    home: Household, caplog: pytest.LogCaptureFixture, how: str, accepted: bool
) -> None:
    _, card = await asked(home)
    home.discord.fail_next(
        "answer_interaction", status=429 if how == "ban" else 500, body=_BAN if how == "ban" else None,
        cut=how == "cut", after_accepting=accepted,
    )  # fmt: skip
    home.kim.presses(card, "Approve")
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")
    assert "Approved by kim via Discord" in read(card)
    assert tracebacks(caplog) == []


async def test_a_command_whose_acknowledgement_was_accepted_and_not_heard_of_is_answered(home: Household) -> None:
    home.discord.fail_next("answer_interaction", after_accepting=True)
    home.kim.runs("gate list", where=home.kitchen)
    await home.whispered(home.kim, "Nothing")


@pytest.mark.parametrize("how", ["cut", "ban"])
async def test_a_press_whose_answer_is_lost_leaves_no_traceback(
    home: Household, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    thread, card = await asked(home)
    if how == "cut":
        home.discord.fail_next("follow_up", cut=True)
    else:
        home.discord.fail_next("follow_up", status=429, body=_BAN)
    home.kim.presses(card, "Approve")
    await home.shows(thread, "It is warm.")
    assert tracebacks(caplog) == []


@pytest.mark.parametrize("verb", ["deny", "revise"])
async def test_a_form_that_does_not_open_leaves_the_gate_open_and_no_traceback(
    home: Household, caplog: pytest.LogCaptureFixture, verb: str
) -> None:
    caplog.set_level(logging.INFO)
    _, card = await asked(home)
    home.discord.fail_next("answer_interaction", cut=True)
    home.kim.presses(card, next(name for name in buttons(card) if f":{verb}:" in name))
    await home.until(
        lambda: (
            [one for one in caplog.records if one.message in ("discord.not_opened", "discord.event_failed")] or None
        ),
        "a note in the log",
    )
    assert tracebacks(caplog) == []
    assert buttons(card) != []


@pytest.mark.parametrize(
    "service", ["`" * 4_000, "👨‍👩‍👧" * 600, "*_x" * 1_500], ids=["backquotes", "families", "marks"]
)
async def test_whatever_an_argument_is_made_of_it_can_be_viewed_to_its_end_and_approved(
    home: Household, service: str
) -> None:
    thread, card = await asked(home, service)
    home.kim.presses(card, "View all and decide…")
    shown = await home.whispered(home.kim, "That is all of it.")
    home.kim.presses(shown, "Approve")
    await home.shows(thread, "It is warm.")
    assert home.effects.made == [f"restart {service}"]


async def test_who_could_not_be_shown_all_of_it_is_not_offered_to_approve_it(home: Household) -> None:
    _, card = await asked(home, "x" * 4_000)
    home.discord.fail_next("follow_up", cut=True)
    home.kim.presses(card, "View all and decide…")
    await home.whispered(home.kim, "Not all of it could be shown")
    assert not any(buttons(said) for said in home.discord.whispers(home.kim))


async def test_a_button_with_a_verb_that_there_is_not_does_nothing(
    home: Household, caplog: pytest.LogCaptureFixture
) -> None:
    thread, card = await asked(home)
    (row,) = card.components
    name = str(row["components"][0]["custom_id"])
    row["components"][0]["custom_id"] = name.replace(":approve:", ":rule:")
    home.kim.presses(card, name.replace(":approve:", ":rule:"))
    row["components"][0]["custom_id"] = name
    home.kim.presses(card, "Approve")
    await home.shows(thread, "It is warm.")
    assert len(home.discord.whispers(home.kim)) == 1
    assert tracebacks(caplog) == []
