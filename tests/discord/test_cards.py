"""Every card comes to show the same, whoever decided, wherever, and however late (R5, R28)."""

from __future__ import annotations

import asyncio

import pytest

from bot.gates import gating
from casestore import principals
from casestore.deciding import Decision
from casestore.states import GateState, Verb
from casestore.tx import Tx
from tests.discord.household import Household
from tests.discord.reading import buttons, read
from tests.loop.scripted import calls, says
from tests.wire.discord.messages import Message
from tests.wire.discord.places import Thread

HOUR = 3_600_000


@pytest.fixture
async def asked(home: Household) -> tuple[Thread, Message]:
    """A thread in which a restart waits for a decision, and its card."""
    home.answers(calls(("svc.restart", {"service": "oven"})), says("It is warm."))
    thread = await home.asks()
    return thread, await home.card(thread)


async def test_of_two_presses_at_once_the_first_decides_and_the_other_hears_so(
    home: Household, asked: tuple[Thread, Message]
) -> None:
    thread, card = asked
    home.kim.presses(card, "Approve")
    home.lee.presses(card, "Approve")
    await home.shows(thread, "It is warm.")
    assert home.effects.made == ["restart oven"]
    await home.until(lambda: [said for said in home.discord.whispers() if "already" in read(said)] or None, "a refusal")


async def test_a_card_says_when_it_ends_by_the_clock_of_who_reads_it(
    home: Household, asked: tuple[Thread, Message]
) -> None:
    _, card = asked
    assert f"\nEnds  <t:{(await home.gate()).expires_at // 1_000}:f>, by your clock" in read(card)


async def test_the_same_press_delivered_twice_decides_once_and_is_answered_once(
    home: Household, asked: tuple[Thread, Message]
) -> None:
    thread, card = asked
    pressed = home.kim.presses(card, "Approve")
    home.kim.again(pressed)
    await home.shows(thread, "It is warm.")
    assert home.effects.made == ["restart oven"]
    assert [read(said) for said in home.discord.whispers()] == ['Approved: Restart "oven"']


@pytest.mark.parametrize("button", ["Approve", "Deny", "Revise…"])
@pytest.mark.parametrize("who", ["mallory", "ann"])
async def test_who_may_not_decide_hears_it_alone_at_the_press_and_nothing_happens(
    home: Household, asked: tuple[Thread, Message], who: str, button: str
) -> None:
    _, card = asked
    member = {"mallory": home.mallory, "ann": home.ann}[who]
    await home.discord.answered(member.presses(card, button))
    await home.whispered(member, "do not know you" if who == "mallory" else "may")
    assert member.modal is None, "nobody is asked for a reason that is of no use"
    assert (await home.gate()).state is GateState.OPEN
    assert home.effects.made == []
    assert buttons(card) != []


async def test_a_press_in_the_sixteenth_minute_decides_and_the_card_is_edited_by_the_bot(
    home: Household, asked: tuple[Thread, Message]
) -> None:
    thread, card = asked
    home.discord.advance(16 * 60)
    await home.discord.answered(home.kim.presses(card, "Approve"))
    await home.shows(thread, "It is warm.")
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")
    assert "Approved by kim via Discord" in read(card)


async def test_whoever_asked_takes_it_back_with_a_button_and_the_card_says_who_through_what(
    home: Household, asked: tuple[Thread, Message]
) -> None:
    thread, card = asked
    await home.discord.answered(home.ann.presses(card, "Withdraw"))
    await home.whispered(home.ann, "Withdrawn, and not run")
    await home.until(lambda: "Withdrawn by ann via Discord" in read(card) or None, "who took it back")
    await home.shows(thread, "It is warm.")
    assert buttons(card) == []
    assert home.effects.made == []


async def test_a_press_after_a_restart_decides(home: Household, asked: tuple[Thread, Message]) -> None:
    thread, card = asked
    await home.restart()
    await home.discord.answered(home.kim.presses(card, "Approve"))
    await home.shows(thread, "It is warm.")
    assert home.effects.made == ["restart oven"]


@pytest.mark.parametrize("button", ["Approve", "Revise…"])
async def test_a_press_on_a_card_whose_time_is_over_is_refused_and_the_card_says_so(
    home: Household, asked: tuple[Thread, Message], button: str
) -> None:
    thread, card = asked
    home.clock.ms += 25 * HOUR
    await home.discord.answered(home.kim.presses(card, button))
    await home.shows(thread, "nobody decided")
    assert home.kim.modal is None
    assert (await home.gate()).state is GateState.EXPIRED
    assert home.effects.made == []
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")


@pytest.mark.parametrize("restarted", [False, True])
async def test_denying_asks_why_and_the_reason_is_on_the_card_also_when_a_restart_came_between(
    home: Household, asked: tuple[Thread, Message], restarted: bool
) -> None:
    thread, card = asked
    await home.discord.answered(home.kim.presses(card, "Deny"))
    modal = await home.until(lambda: home.kim.modal, "a modal")
    if restarted:
        await home.restart()
    await home.discord.answered(home.kim.submits(modal, reason="not during dinner"))
    await home.shows(thread, "not during dinner")
    assert (await home.gate()).state is GateState.DENIED
    assert home.effects.made == []
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")


@pytest.mark.parametrize("button", ["Approve", "Deny"])
async def test_an_approval_from_elsewhere_closes_the_open_card_and_a_late_press_hears_who_it_was(
    home: Household, asked: tuple[Thread, Message], button: str
) -> None:
    thread, card = asked
    gate = await home.gate()

    def approve(tx: Tx) -> gating.Reply:
        lee = principals.by_name(tx, "lee")
        return gating.decide(tx, home.clock.now(), lee, gate.id, Decision(Verb.APPROVE, gate.digest_shown, "cli"), None)

    await home.service.store.write(approve)
    home.service.engine.wake()
    home.service.delivery.wake()
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")
    assert "Approved by lee via the command line" in read(card)
    home.kim.presses(card, button, stale=True)
    await home.whispered(home.kim, "lee")
    assert home.kim.modal is None
    await home.shows(thread, "It is warm.")


async def test_the_operators_room_has_a_copy_that_decides_too_and_both_say_so(home: Household) -> None:
    room = home.discord.room("operators")
    discord = home.settings.discord.model_copy(update={"operators_room": room.id})
    home.settings = home.settings.model_copy(update={"discord": discord})
    await home.restart()
    home.answers(calls(("svc.restart", {"service": "oven"})), says("It is warm."))
    thread = await home.asks()
    mine, theirs = await home.card(thread), await home.card(room)
    await home.discord.answered(home.lee.presses(theirs, "Approve"))
    await home.shows(thread, "It is warm.")
    for card in (mine, theirs):
        await home.until(lambda card=card: buttons(card) == [] or None, "a card without buttons")
        assert "Approved by lee via Discord" in read(card)
    assert home.effects.made == ["restart oven"]


async def test_r20_a_role_on_the_platform_never_decides(home: Household, asked: tuple[Thread, Message]) -> None:
    _, card = asked
    home.discord.guild.add(home.mallory.person, home.discord.role("operator"), home.discord.role("admin"))
    await asyncio.sleep(0)
    await home.discord.answered(home.mallory.presses(card, "Approve"))
    await home.whispered(home.mallory, "do not know you")
    assert (await home.gate()).state is GateState.OPEN


async def test_what_is_too_long_is_opened_before_it_can_be_approved(home: Household) -> None:
    name = "oven-" + "x" * 3_000
    home.answers(calls(("svc.restart", {"service": name})), says("It is warm."))
    thread = await home.asks()
    card = await home.card(thread)
    assert not [one for one in buttons(card) if ":approve:" in one]
    await home.discord.answered(home.kim.presses(card, "View all and decide…"))
    last = await home.whispered(home.kim, "That is all of it.")
    shown = "".join(read(said).replace("```", "").replace("\n", "") for said in home.discord.whispers(home.kim))
    assert name in shown
    await home.discord.answered(home.kim.presses(last, "Approve"))
    await home.shows(thread, "It is warm.")
    assert home.effects.made == [f"restart {name}"]
    await home.until(lambda: buttons(card) == [] or None, "a card without buttons")
    edited = [call.path for call in home.discord.calls("edit_message")]
    assert not [path for path in edited if path.endswith(last.id)], "what one person alone saw is no copy of the card"
