"""Calls whose answer is lost, or is not Slack's: what is said is said once, and nothing is given up (R27)."""

from collections.abc import Mapping

import pytest

from casestore import outbox
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read

RESTART = ("svc.restart", {"service": "shop"})
PAGE = "<html>Access denied by your company.</html>"
LOST: dict[str, dict[str, object]] = {
    "cut before": {"cut_before": True},
    "cut after it was taken": {"cut_after_accepting": True},
    **{f"{status}": {"status": status} for status in (500, 502, 503)},
    **{f"{status} after it was taken": {"status": status, "accepted": True} for status in (500, 502, 503)},
    "a proxy's page": {"body": PAGE},
    "a proxy's page after it was taken": {"body": PAGE, "accepted": True},
    "a proxy's page that refuses": {"body": PAGE, "status": 403},
    "a proxy's page that calls itself JSON": {"body": PAGE, "content_type": "application/json", "accepted": True},
    "a proxy's plain words": {"body": "Denied.", "content_type": "text/plain", "accepted": True},
    "nothing at all": {"body": "", "accepted": True},
    "JSON that is no object": {"body": "[1]", "content_type": "application/json"},
    "JSON that says nothing": {"body": "{}", "content_type": "application/json", "accepted": True},
}


async def none_given_up(office: Office) -> None:
    """Until everything is said; nothing was taken for undeliverable."""
    await office.until_so(lambda: all_said(office))
    assert (await office.service.store.read(outbox.counts)).get("dead", 0) == 0


async def all_said(office: Office) -> bool:
    counts = await office.service.store.read(outbox.counts)
    return counts.get("due", 0) == counts.get("sending", 0) == 0


def fails(office: Office, method: str, how: Mapping[str, object], times: int = 1) -> None:
    """The next call of a method goes wrong in one of these ways."""
    office.slack.fail_next(method, times=times, **how)  # pyright: ignore[reportArgumentType] - see LOST


@pytest.mark.parametrize("how", LOST)
async def test_a_post_whose_answer_is_lost_stands_there_once(office: Office, how: str) -> None:
    fails(office, "chat.postMessage", LOST[how])
    office.answers(says("Only once."))
    asked = await office.asks()
    await office.slack.called("conversations.replies")
    await office.in_time(lambda: office.slack.posts(asked) or None, "the answer")
    await none_given_up(office)
    assert [read(post) for post in office.slack.posts(asked)] == ["Only once."]
    taken = "cut_after_accepting" in LOST[how] or "accepted" in LOST[how]
    assert len(office.slack.calls("chat.postMessage")) == (1 if taken else 2)


@pytest.mark.parametrize("how", LOST)
async def test_a_card_whose_edit_was_lost_is_edited_again(office: Office, how: str) -> None:
    """R28"""
    office.answers(calls(RESTART), says("It is back."))
    asked = await office.asks()
    card = await office.card(asked)
    fails(office, "chat.update", LOST[how])
    await office.kim.presses(card, "gate_approve")
    await office.until(lambda: office.slack.calls("chat.update") or None, "an edit")
    await office.in_time(lambda: (buttons(card) == [] and "Ran " in read(card)) or None, "the card as it is in the end")
    await office.in_time(lambda: len(office.slack.posts(asked)) == 2 or None, "the answer behind it")
    await none_given_up(office)
    assert office.effects.made == ["restart shop"]


@pytest.mark.parametrize("how", ["a proxy's page", "a proxy's page that calls itself JSON", "a proxy's plain words"])
async def test_while_a_proxy_answers_in_slacks_place_we_only_ask_and_post_once_it_is_gone(
    office: Office, how: str
) -> None:
    for method in ("chat.postMessage", "conversations.replies"):
        fails(office, method, {**LOST[how], "accepted": False}, times=3)
    office.answers(says("Only once."))
    asked = await office.asks()
    await office.in_time(lambda: len(office.slack.calls("conversations.replies")) >= 3 or None, "questions")
    await office.in_time(lambda: office.slack.posts(asked) or None, "the answer")
    await none_given_up(office)
    assert [read(post) for post in office.slack.posts(asked)] == ["Only once."]


async def test_where_a_proxy_answers_at_the_start_health_says_so_and_it_is_tried_again(office: Office) -> None:
    await office.close()
    fails(office, "auth.test", LOST["a proxy's page"])
    await office.open()
    assert "perhaps a proxy" in (await office.health() or "")
    await office.slack.connected()
    await office.until_so(lambda: well(office))


async def well(office: Office) -> bool:
    return await office.health() is None


@pytest.mark.parametrize("how", ["a proxy's page that calls itself JSON", "a proxy's plain words"])
async def test_a_modal_that_a_proxy_keeps_shut_is_told_of(office: Office, how: str) -> None:
    office.answers(calls(RESTART))
    card = await office.card(await office.asks())
    fails(office, "views.open", {**LOST[how], "accepted": False})
    await office.kim.presses(card, "gate_deny")
    await office.whispered(office.kim, "press again now")
    await office.kim.presses(card, "gate_deny")
    await office.modal(office.kim)
