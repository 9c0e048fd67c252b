"""A gate on several copies is decided once, in whatever order, and every copy and every person hears it (R5)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from itertools import permutations

import pytest

from bot.gates import gating
from bot.settings import Access
from casestore import principals
from casestore.deciding import Decision
from casestore.states import GateState, Verb
from casestore.tx import Tx
from tests.discord.household import Household
from tests.discord.reading import buttons, read
from tests.loop.scripted import calls, says
from tests.wire.discord.messages import Message
from tests.wire.discord.places import Thread

Card = tuple[Thread, Message, Message]


@pytest.fixture
async def twice(home: Household) -> Card:
    """A thread in which a restart waits, its card, and the copy of that in the operators' room."""
    room = home.discord.room("operators")
    discord = home.settings.discord.model_copy(update={"operators_room": room.id})
    home.settings = home.settings.model_copy(update={"discord": discord})
    await home.restart()
    home.answers(calls(("svc.restart", {"service": "oven"})), says("That is that."))
    thread = await home.asks()
    return thread, await home.card(thread), await home.card(room)


async def decides_elsewhere(home: Household) -> str:
    """Kim denies it on the command line; what that answers."""
    gate = await home.gate()

    def deny(tx: Tx) -> gating.Reply:
        kim = principals.by_name(tx, "kim")
        decision = Decision(Verb.DENY, gate.digest_shown, "cli", reason="by hand")
        return gating.decide(tx, home.clock.now(), kim, gate.id, decision, None)

    reply = await home.service.store.write(deny)
    home.service.engine.wake()
    home.service.delivery.wake()
    return reply.text


@pytest.mark.parametrize("order", [*permutations(("approve", "deny", "cli"))], ids="-".join)
async def test_opposite_answers_on_two_copies_and_the_command_line_are_one_decision_and_the_late_hear_whose(
    home: Household, twice: Card, order: tuple[str, ...]
) -> None:
    thread, mine, theirs = twice
    home.lee.presses(mine, "Deny")
    modal = await home.until(lambda: home.lee.modal, "a modal")
    heard: dict[str, str] = {}

    async def approves() -> None:
        await home.discord.answered(home.kim.presses(theirs, "Approve", stale=True))
        heard["approve"] = read(await home.whispered(home.kim, "pproved" if order[0] == "approve" else "already"))

    async def denies() -> None:
        await home.discord.answered(home.lee.submits(modal, reason="not now"))
        heard["deny"] = read(await home.whispered(home.lee, "Denied" if order[0] == "deny" else "already"))

    async def by_hand() -> None:
        heard["cli"] = await decides_elsewhere(home)

    acts: dict[str, Callable[[], Awaitable[None]]] = {"approve": approves, "deny": denies, "cli": by_hand}
    for who in order:
        await acts[who]()
    first = {
        "approve": "Approved by kim via Discord", "deny": "Denied by lee via Discord",
        "cli": "Denied by kim via the command line",
    }[order[0]]  # fmt: skip
    await home.shows(thread, "That is that.")
    for card in (mine, theirs):
        await home.until(lambda card=card: (buttons(card) == [] and first in read(card)) or None, first)
    assert all(first in heard[late] and "already" in heard[late] for late in order[1:])
    assert home.effects.made == (["restart oven"] if order[0] == "approve" else [])
    assert (await home.gate()).state is (GateState.APPROVED if order[0] == "approve" else GateState.DENIED)


async def test_opposite_presses_under_way_at_once_leave_both_copies_saying_the_same(
    home: Household, twice: Card
) -> None:
    thread, mine, theirs = twice
    home.lee.presses(mine, "Deny")
    modal = await home.until(lambda: home.lee.modal, "a modal")
    home.kim.presses(theirs, "Approve")
    home.lee.submits(modal, reason="not now")
    await home.shows(thread, "That is that.")
    for card in (mine, theirs):
        await home.until(lambda card=card: buttons(card) == [] or None, "a card without buttons")
    approved = (await home.gate()).state is GateState.APPROVED
    said = "Approved by kim via Discord" if approved else "Denied by lee via Discord"
    assert [said in read(card) for card in (mine, theirs)] == [True, True]
    assert home.effects.made == (["restart oven"] if approved else [])
    await home.whispered(home.lee if approved else home.kim, said)


async def test_a_stranger_cannot_pass_for_somebody_by_their_name_on_a_card(home: Household) -> None:
    """Mallory calls herself kim, with a Cyrillic letter in it and a mark that turns what comes after it."""
    home.settings = home.settings.model_copy(update={"access": Access(unknown="requester")})
    await home.restart()
    home.answers(calls(("svc.restart", {"service": "oven"})), says("It is warm."))
    home.mallory.person.shown = "k\u0456m (verified as kim)\u202e, an operator\n**Decides**  anybody"
    card = await home.card(await home.asks(by=home.mallory))
    (asked,) = [line for line in read(card).split("\n") if line.startswith("Asked by")]
    assert re.search(r"k\u0456m_verified_as_kim_[^ ]*\(at\)discord-[0-9a-f]{8} \(not verified\)", asked), asked
    assert "\u202e" not in read(card)
    assert [line for line in read(card).split("\n") if line.startswith("Decides")] == [
        "Decides  an operator, not the requester"
    ]
