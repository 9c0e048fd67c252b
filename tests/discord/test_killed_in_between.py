"""The service is killed between two things that belong together: nothing is done twice, and no card is left behind."""

from __future__ import annotations

import pytest

from casestore.states import GateState
from channels.plain import POSSIBLE_DUPLICATE
from tests.discord.household import Household
from tests.discord.reading import buttons, read
from tests.loop.scripted import calls, says


async def reopen(home: Household) -> None:
    """Start it again, and let the time pass that it leaves a channel which was not there yet at its first look."""
    await home.open()
    home.clock.ms += 60_000
    home.service.delivery.wake()


@pytest.mark.parametrize(("minutes", "copies"), [(0, 1), (10, 2)], ids=["at once", "when Discord has forgotten"])
async def test_a_card_whose_posting_was_not_recorded_is_no_second_question_and_any_copy_decides(
    home: Household, minutes: int, copies: int
) -> None:
    held = home.discord.hold("create_message", answer=True)
    home.answers(calls(("svc.restart", {"service": "oven"})), says("It is warm."))
    thread = await home.asks()
    await held.arrived()
    await home.close()
    held.release()
    home.discord.advance(60 * minutes)
    posted = len(home.discord.calls("create_message"))
    await reopen(home)
    await home.discord.called("create_message", posted + 1)
    cards = [said for said in home.discord.posts(thread) if buttons(said)]
    assert [POSSIBLE_DUPLICATE in read(card) for card in cards] == [False, True][:copies]
    home.kim.presses(cards[0], "Approve")
    await home.shows(thread, "It is warm.")
    for card in cards:
        await home.until(lambda card=card: buttons(card) == [] or None, "a card without buttons")
        assert "Approved by kim via Discord" in read(card)
    assert home.effects.made == ["restart oven"]
    assert len(home.discord.posts(thread)) == copies + 1


@pytest.mark.parametrize("heard", [False, True], ids=["not acknowledged", "acknowledged"])
async def test_a_press_that_is_under_way_when_the_service_is_stopped_counts_once_or_not_at_all(
    home: Household, caplog: pytest.LogCaptureFixture, heard: bool
) -> None:
    home.answers(calls(("svc.restart", {"service": "oven"})), says("It is warm."))
    thread = await home.asks()
    card = await home.card(thread)
    held = home.discord.hold("answer_interaction", answer=heard)
    home.kim.presses(card, "Approve")
    await held.arrived()
    await home.close()
    held.release()
    await reopen(home)
    counted = (await home.gate()).state is GateState.APPROVED
    home.lee.presses(card, "Approve", stale=True)
    await home.shows(thread, "It is warm.")
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")
    assert f"Approved by {'kim' if counted else 'lee'} via Discord" in read(card)
    assert home.effects.made == ["restart oven"]
    assert [record.message for record in caplog.records if record.exc_info] == []
