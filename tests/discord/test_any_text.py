"""Whatever a card or a reply holds, Discord takes what we send, nobody is pinged by it, and it is seen as it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.card import Card
from channels.discord.cards import laid_out
from channels.style import discord_markdown
from channels.text import pieces, style_for
from tests.channel_contract.any_card import ANY, FAMILY, PARTS, SHOWN, longest, many
from tests.wire.discord.embeds import check_embeds
from tests.wire.discord.payload import Json

LIVE = re.compile(r"(?<!\\)(?:\\\\)*(?:<[@#:]|<t:|\|\||\]\()")


def embeds(card: Card) -> list[Json]:
    """What Discord is given, if it takes it. Raises what the strict server raises."""
    return check_embeds([dict(embed.to_dict()) for embed in laid_out(card).embeds])


@settings(max_examples=100, deadline=None)
@given(card=SHOWN, outcome=st.lists(ANY, max_size=6))
def test_any_card_is_taken_open_and_decided(card: Card, outcome: list[str]) -> None:
    embeds(card)
    lines = [one or "x" for one in outcome] or ["x"]
    embeds(Card.model_validate({**card.model_dump(), "verbs": (), "outcome": lines}))


@pytest.mark.parametrize("text", ["x", "\U0001f600", FAMILY, "`", "\n", "*"])
def test_a_card_that_holds_more_than_embeds_may_is_taken_and_opened_before_it_is_approved(text: str) -> None:
    """An embed whose parts would be 6,000 characters together many times over."""
    card = longest(text * 1_500, arguments=many(text * 40))
    embeds(card)
    embeds(card.model_copy(update={"verbs": (), "outcome": ("y" + text * 1_000,) * 6}))
    assert not laid_out(card).whole


@settings(max_examples=100, deadline=None)
@given(card=SHOWN)
def test_nothing_in_a_card_is_live_outside_of_code(card: Card) -> None:
    for embed in embeds(card):
        outside = "".join(str(embed.get("description") or "").split("```")[::2])
        ours = re.sub(r"<t:\d+:f>, by your clock", "", outside)
        assert not LIVE.search(ours), ours


@settings(max_examples=100, deadline=None)
@given(card=SHOWN)
def test_a_card_that_can_be_approved_shows_every_argument_to_its_end(card: Card) -> None:
    laid = laid_out(card)
    if not laid.whole:
        return
    shown = str(laid.embeds[0].description)
    for argument in card.arguments:
        for line in argument.value.split("\n"):
            assert line.replace("```", "``⟨U+0060⟩").replace("\t", "⟨U+0009⟩") in shown


@settings(max_examples=100, deadline=None)
@given(text=st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=30).map("".join))
def test_what_is_said_has_nothing_live_in_it_outside_of_code(text: str) -> None:
    stilled = discord_markdown(text)
    if "`" not in stilled:
        assert not LIVE.search(stilled)
    for piece in pieces(style_for("discord"), text):
        assert len(piece.encode("utf-16-le", "surrogatepass")) // 2 <= 1_970
