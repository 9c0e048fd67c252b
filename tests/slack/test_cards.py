"""Every card comes to show the same, whoever decided, wherever, and whatever became of the message meanwhile (R28)."""

import asyncio
import re

import pytest

from bot.gates import gating
from casestore import principals, trail
from casestore.deciding import Decision
from casestore.scope import System
from casestore.states import GateState, Verb
from casestore.tx import Tx
from channels.slack import modals
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read, texts
from tests.wire.slack.rooms import Message

HOUR = 3_600_000


@pytest.fixture
async def asked(office: Office) -> tuple[Message, Message]:
    """A thread in which a restart waits for a decision, and its card."""
    office.answers(calls(("svc.restart", {"service": "shop"})), says("It is back."))
    thread = await office.asks()
    return thread, await office.card(thread)


async def test_of_two_presses_at_once_the_first_decides_and_the_other_hears_so(
    office: Office, asked: tuple[Message, Message]
) -> None:
    thread, card = asked
    await asyncio.gather(office.kim.presses(card, "gate_approve"), office.lee.presses(card, "gate_approve"))
    await office.shows(thread, "It is back.")
    assert office.effects.made == ["restart shop"]
    await office.until(
        lambda: [said for said in office.slack.whispers() if "already" in said.text] or None, "a refusal"
    )


async def test_one_press_that_comes_in_two_envelopes_decides_once(
    office: Office, asked: tuple[Message, Message]
) -> None:
    thread, card = asked
    pressed = await office.kim.presses(card, "gate_approve")
    await office.slack.again(pressed, as_retry=False)
    await office.slack.until(lambda: len(pressed.acks) == 2, what="two acknowledgements")
    await office.shows(thread, "It is back.")
    assert office.effects.made == ["restart shop"]
    entries = await office.service.store.read(trail.read, System(), (await office.gate()).case_id)
    assert [entry.kind for entry in entries].count("gate.approved") == 1


async def test_a_press_on_a_card_whose_time_is_over_is_refused_and_the_card_says_so(
    office: Office, asked: tuple[Message, Message]
) -> None:
    thread, card = asked
    office.clock.ms += 25 * HOUR
    await office.kim.presses(card, "gate_approve")
    await office.shows(thread, "nobody decided")
    assert (await office.gate()).state is GateState.EXPIRED
    assert office.effects.made == []
    assert buttons(card) == []


async def test_whoever_asked_takes_it_back_with_a_button_and_the_card_says_who_through_what(
    office: Office, asked: tuple[Message, Message]
) -> None:
    thread, card = asked
    await office.mallory.presses(card, "gate_withdraw")
    await office.whispered(office.mallory, "do not know you")
    assert (await office.gate()).state is GateState.OPEN
    await office.ann.presses(card, "gate_withdraw")
    await office.whispered(office.ann, 'Withdrawn, and not run: Restart "shop"')
    await office.until(lambda: "Withdrawn by ann via Slack" in read(card), "who took it back")
    await office.shows(thread, "It is back.")
    assert buttons(card) == []
    assert office.effects.made == []


async def test_whoever_asked_takes_it_back_by_a_command_in_the_thread(
    office: Office, asked: tuple[Message, Message]
) -> None:
    thread, card = asked
    await office.ann.mentions(office.ops, "/case withdraw", thread=thread)
    await office.until(lambda: "Withdrawn by ann via Slack" in read(card), "who took it back")
    await office.shows(thread, "It is back.")
    assert office.effects.made == []


async def test_a_press_after_a_restart_decides(office: Office, asked: tuple[Message, Message]) -> None:
    thread, card = asked
    await office.restart()
    await office.slack.connected()
    await office.kim.presses(card, "gate_approve")
    await office.shows(thread, "It is back.")
    assert office.effects.made == ["restart shop"]


async def test_an_approval_from_elsewhere_closes_the_open_card_and_a_late_press_hears_who_it_was(
    office: Office, asked: tuple[Message, Message]
) -> None:
    thread, card = asked
    gate = await office.gate()

    def approve(tx: Tx) -> gating.Reply:
        lee = principals.by_name(tx, "lee")
        return gating.decide(
            tx, office.clock.now(), lee, gate.id, Decision(Verb.APPROVE, gate.digest_shown, "cli"), None
        )

    await office.service.store.write(approve)
    office.service.engine.wake()
    office.service.delivery.wake()
    await office.shows(thread, "Approved by lee via the command line")
    await office.until(lambda: buttons(card) == [] or None, "a card without buttons")
    await office.kim.presses(card, "gate_approve", stale=True)
    await office.whispered(office.kim, "lee")
    await office.shows(thread, "It is back.")
    assert office.effects.made == ["restart shop"]


async def test_a_press_on_a_card_that_somebody_deleted_decides_all_the_same(
    office: Office, asked: tuple[Message, Message]
) -> None:
    """R8: a deleted card is no decision, and what stands on a screen still can be one."""
    thread, card = asked
    await office.kim.deletes(card)
    assert (await office.gate()).state is GateState.OPEN
    await office.kim.presses(card, "gate_approve", stale=True)
    await office.shows(thread, "It is back.")
    assert office.effects.made == ["restart shop"]


async def test_a_card_says_when_it_ends_by_the_readers_clock_and_afterwards_how_long_it_took(
    office: Office, asked: tuple[Message, Message]
) -> None:
    thread, card = asked
    gate = await office.gate()
    line = next(line for line in read(card).split("\n") if line.startswith("If nobody"))
    assert line.endswith(f"denied; the requester is told   Where you are: &lt;{gate.expires_at // 1_000}>")
    office.clock.ms += 25 * 60_000
    await office.kim.presses(card, "gate_approve")
    await office.shows(thread, "It is back.")
    await office.until(lambda: "Ran " in read(card), "what came of it")
    *_, approved, ran = read(card).split("\n")
    assert re.fullmatch(r"Approved by kim via Slack, \w{3} \d\d:\d\d UTC \(after 25 min\)", approved)
    assert re.fullmatch(r"Ran \w{3} \d\d:\d\d:\d\d UTC, 0 ms: restart shop: done", ran)


async def test_of_the_assistants_words_three_lines_are_shown_and_that_there_are_more(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"}), text="It hangs.\n\nI looked.\nTwice.\nAnd more."))
    card = await office.card(await office.asks())
    assert "It hangs.\nI looked.\nTwice. …\n" in read(card)
    assert "And more" not in read(card)


async def test_revising_needs_words_and_the_assistant_gets_them(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), says("Then the blue one."))
    thread = await office.asks()
    await office.kim.presses(await office.card(thread), "gate_revise")
    await office.kim.submits(await office.modal(office.kim), reason="only the blue one, please")
    await office.shows(thread, "Then the blue one.")
    assert any("only the blue one, please" in str(message) for message in office.model.sent[-1])
    assert office.effects.made == []


async def test_what_does_not_fit_on_the_card_is_opened_before_it_can_be_approved(office: Office) -> None:
    facts = {f"fact_{number}": "x" * 200 for number in range(200)}
    office.answers(calls(("svc.restart", {"service": str(facts)})), says("It is back."))
    thread = await office.asks("y" * 3_000)
    card = await office.card(thread)
    assert "first and last part of" in read(card)
    assert buttons(card) == ["gate_view", "gate_deny", "gate_revise", "gate_withdraw"]
    await office.kim.presses(card, "gate_view")
    whole = await office.modal(office.kim)
    assert str(facts) in "".join(text.removeprefix(modals.GOES_ON) for text in texts(whole.blocks))
    await office.kim.submits(whole)
    await office.shows(thread, "It is back.")
    assert len(office.effects.made) == 1


@pytest.mark.parametrize("action", ["gate_deny", "gate_revise"])
@pytest.mark.parametrize("who", ["mallory", "ann"])
async def test_who_may_not_decide_hears_so_at_the_press_and_is_asked_for_no_reason(
    office: Office, asked: tuple[Message, Message], who: str, action: str
) -> None:
    _, card = asked
    member = {"mallory": office.mallory, "ann": office.ann}[who]
    await member.presses(card, action)
    await office.whispered(member, "do not know you" if who == "mallory" else "an operator, not the requester may")
    assert member.modal is None
    assert (await office.gate()).state is GateState.OPEN


@pytest.mark.parametrize("action", ["gate_deny", "gate_revise"])
async def test_who_presses_once_it_is_decided_hears_by_whom_and_is_asked_for_no_reason(
    office: Office, asked: tuple[Message, Message], action: str
) -> None:
    thread, card = asked
    await office.lee.presses(card, "gate_deny")
    await office.lee.submits(await office.modal(office.lee), reason="no")
    await office.shows(thread, "It is back.")
    await office.until(lambda: buttons(card) == [] or None, "a card without buttons")
    await office.kim.presses(card, action, stale=True)
    await office.whispered(office.kim, "already decided: Denied by lee")
    assert office.kim.modal is None


async def test_a_stranger_is_shown_nothing_of_what_does_not_fit(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "x" * 5_000})))
    card = await office.card(await office.asks())
    await office.mallory.presses(card, "gate_view")
    await office.whispered(office.mallory, "do not know you")
    assert office.mallory.modal is None


async def test_what_is_too_long_even_for_a_modal_is_not_approved_here(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "x" * 100_000})))
    card = await office.card(await office.asks())
    await office.kim.presses(card, "gate_view")
    whole = await office.modal(office.kim)
    assert "casebound gate show 1" in "".join(texts(whole.blocks))
    assert "submit" not in whole.content
