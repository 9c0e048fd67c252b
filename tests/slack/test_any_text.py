"""Whatever people, tools and models write, Slack takes what we make of it, nobody is pinged by it, and all is there."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path
from typing import cast

from hypothesis import example, given, settings

from channels import arguments
from channels.card import Card
from channels.messages import Account, Address, Press, Text
from channels.slack import modals
from channels.slack.blocks import rendered
from channels.text import STYLES, pieces, prepared, visible
from tests.channel_contract.any_card import ANY, FAMILY, PARTS, SHOWN, longest, many
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read, texts
from tests.wire.slack.active import active
from tests.wire.slack.blocks import check_message
from tests.wire.slack.payload import Json
from tests.wire.slack.people import Person
from tests.wire.slack.rooms import Message, Room
from tests.wire.slack.server import SlackServer
from tests.wire.slack.views import check_view

PRESS = Press(
    address=Address(channel="slack", space="T1", room="C1", thread="1.0"), platform_id="1.0",
    account=Account(channel="slack", space="T1", account_id="U1"), gate_id=7, verb="approve", digest8="0123abcd",
)  # fmt: skip


def posted(blocks: list[Json], text: str) -> Message:
    """A message as it stands in a room, if Slack takes it. Raises `Refused`."""
    return Message(Room("C1", "ops", "T1"), "1.0", Person("U1", "T1", "bot", None), text, check_message(blocks))


def of_card(card: Card) -> Message:
    """The same of a card."""
    made = rendered(card, possible_duplicate=True)
    assert len(made.text) <= 4_000, "chat.update takes no more"
    return posted(made.blocks, made.text)


@settings(max_examples=40, deadline=None)
@given(SHOWN, ANY)
@example(longest("x" * 1_500), "x" * 1_500)
@example(longest("\U0001f600" * 1_500), "\U0001f600" * 1_500)
@example(longest("\U0001f600" * 300), "\U0001f600" * 1_000)
@example(longest("\t" * 300), "\t" * 300)
@example(longest("\n" * 300), "")
@example(longest(" ", because=" \n \n", arguments=many("\n" * 290)), " ")
def test_of_any_card_open_and_decided_slack_takes_all_and_nothing_is_live(card: Card, ended: str) -> None:
    asked = of_card(card)
    assert active(asked) == []
    whole = not any(argument.shortened for argument in card.arguments) and "… and " not in read(asked)
    assert buttons(asked) in ([["gate_approve", "gate_deny", "gate_revise"], ["gate_view", "gate_deny", "gate_revise"]]
                              if whole else [["gate_view", "gate_deny", "gate_revise"]])  # fmt: skip
    decided = of_card(card.model_copy(update={"verbs": (), "outcome": (visible(ended),) * 3}))
    assert active(decided) == []
    assert buttons(decided) == []


@settings(max_examples=40, deadline=None)
@given(SHOWN)
@example(longest("\U0001f600" * 1_600))
@example(longest("\u00e4" * 3_000))
def test_of_any_call_shown_whole_slack_takes_the_modal_and_it_approves_only_what_is_all_there(card: Card) -> None:
    view = check_view(modals.whole(PRESS, card), "modal")
    shown = texts(cast("list[Json]", view["blocks"]))
    read_through = "".join(piece.removeprefix(modals.GOES_ON) for piece in shown[2:])
    assert ("submit" in view) == (_plainly(read_through) == _plainly(arguments.lines(card.arguments)))
    check_view(modals.reason(PRESS.model_copy(update={"verb": "revise"}), card.statement), "modal")


@settings(max_examples=100, deadline=None)
@given(ANY)
@example("x" * 3_000)
@example("x" * 3_001)
@example("x" * 11_999 + "\n")
@example("x" * 12_000)
@example("x" * 12_001)
@example("y" * 40_000)
@example("y" * 40_001)
@example("<" * 40_001)
@example(FAMILY * 6_000)
@example("```[good](https://evil.example)")
def test_of_any_reply_slack_takes_every_piece_nothing_is_live_and_none_is_lost(text: str) -> None:
    said = [rendered(Text(text=piece)) for piece in pieces(STYLES["slack"], text)]
    stand = [posted(one.blocks, one.text) for one in said]
    assert [found for one in stand for found in active(one)] == []
    if "`" not in text and "~" not in text:  # what was cut in a fence is closed and opened again
        whole = "".join(str(one.blocks[0]["text"]) for one in stand)
        assert seen(whole) == seen(prepared(STYLES["slack"], text))
    assert all(len(one.text) <= 4_000 for one in stand)


def seen(text: str) -> str:
    """What a reader has of it: pieces of blanks alone are left out."""
    return re.sub(r"\s+", "", text)


def test_a_family_is_never_cut_apart() -> None:
    """In a piece, on a card, in its modal, in the line of a notification."""
    text = f"x{FAMILY * 2_000}"
    for piece in pieces(STYLES["slack"], text):
        assert re.fullmatch(f"x?({FAMILY})+", piece)
        assert re.fullmatch(f"x?({FAMILY})+…?", rendered(Text(text=piece)).text)
    card = longest(text[:1_401])
    for shown in (read(of_card(card)), *texts(cast("list[Json]", modals.whole(PRESS, card)["blocks"]))):
        assert not set(shown.replace(FAMILY, "")) & {*FAMILY, "⟨"}


class Gathered:
    """What one service said about one text, everywhere: the whole way through the real clients."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pinged: list[str] = []
        self.refused: list[object] = []
        self.answer = ""
        self.card = ""

    async def gather(self, db: Path) -> None:
        """Ask with this text, let the assistant repeat it, decide with it as a reason, look at the own page."""
        async with SlackServer() as slack:
            office = Office(slack, db)
            desk = slack.room("approvals", office.kim, office.lee)
            named = office.settings.slack.model_copy(update={"approvals_room": desk.id})
            office.settings = office.settings.model_copy(update={"slack": named})
            await office.open()
            try:
                await slack.connected()
                await self._all(office)
            finally:
                await office.close()

    async def _all(self, office: Office) -> None:
        slack, text = office.slack, self.text
        # a lone surrogate in an argument is an error to the model, and never asked
        whole = text.replace("\ud800", "")
        office.answers(calls(("svc.restart", {"service": whole}), text=text), says(f"Answer:{text}:end"))
        thread = await office.asks(f"x{text}")
        card = await office.card(thread)
        self.card = read(card)
        await office.kim.opens_home()
        await office.until(lambda: office.kim.home, "a page")
        if "gate_view" in buttons(card):
            await office.kim.presses(card, "gate_view")
            await office.kim.closes(await office.modal(office.kim))
        await office.kim.presses(card, "gate_revise")
        reason = f"r{text}"[:1_000]
        await office.kim.submits(await office.modal(office.kim), reason=reason)
        await office.shows(thread, ":end")
        await office.until(lambda: not any(map(buttons, slack.posts())) or None, "cards without buttons")
        await office.kim.runs("/case", "list", room=office.ops)
        await office.whispered(office.kim, "C-1001")
        self.answer = "".join(read(post) for post in slack.posts(thread)[1:])
        self.pinged = [found for post in [*slack.posts(), *slack.whispers()] for found in active(post)]
        self.refused = [(call.method, call.answer) for call in slack.calls() if not call.ok]


@settings(max_examples=5, deadline=None)
@given(ANY)
@example("".join(PARTS) * 30)
@example("x" * 40_001)
@example(" ")
def test_the_whole_service_makes_no_request_that_slack_refuses_and_pings_nobody(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = Gathered(text)
        asyncio.run(found.gather(Path(folder) / "c.db"))
    assert found.refused == []
    assert found.pinged == []
    assert found.answer.startswith("Answer:")
    assert found.answer.endswith(":end")


def _plainly(text: str) -> str:
    """With what Slack's escapes and our own harmless blanks make no difference to."""
    return text.replace("] (", "](").replace("&lt;", "<")
