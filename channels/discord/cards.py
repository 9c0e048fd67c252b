"""The card of a gate as an embed: what is asked, what will run, because of whom; and its buttons.

All embeds of a message together hold 6,000 characters, the description of one 4,096. Every part has its share, so that
a card always fits; where a share cuts something off that has to be read before it is approved, approving is behind
the button that shows everything.
https://docs.discord.com/developers/resources/message#embed-object-embed-limits
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import discord

from channels import arguments
from channels.card import Card
from channels.discord.literal import as_shown, fenced, literally
from channels.style import utf16_units
from channels.visible import one_line

_OPEN, _DECIDED = 0xE8912D, 0x6B7280
_STATEMENT, _CASE, _TOOL, _ARGUMENTS = 1_000, 200, 150, 1_300
_FACTS, _OUTCOME, _LINE = 1_300, 900, 400
"""Characters for what is known about the call; for what became of it, and each line of that."""
_LONGEST_LINK = 300
_SHARES = (600, 300, 200, 120, 60)


@dataclass(frozen=True, slots=True)
class Laid:
    """A card, laid out. `whole`: nothing is left out that has to be read before it is approved."""

    embeds: list[discord.Embed]
    whole: bool


def laid_out(card: Card) -> Laid:
    """The card as embeds: the call, and below it what is known about it."""
    statement, whole = as_shown(one_line(card.statement), _STATEMENT)
    named = (card.case_label, card.case_title, card.origin)
    label, title, origin = (as_shown(one_line(part), _CASE)[0] for part in named)
    tool, _ = as_shown(one_line(card.tool), _TOOL)
    note, _ = as_shown(one_line(card.tier_note), _TOOL)
    lines = [
        f"**{statement}**",
        f"{_linked(label, card.case_url)}  {title}   {origin}",
        f"**Will run**  {tool}   {note}",
    ]
    shown, left_out = arguments.fitting(card.arguments, _ARGUMENTS, _fenced_units)
    if card.arguments:
        lines.append(fenced(arguments.lines(shown, left_out)))
    call = discord.Embed(
        title=literally(one_line(card.heading))[:256], description="\n".join(lines),
        colour=_OPEN if card.verbs else _DECIDED,
    )  # fmt: skip
    below = discord.Embed(description="\n".join([*_facts(card), *_outcome(card)]), colour=call.colour)
    return Laid([call, below], whole and not left_out and not any(one.shortened for one in shown))


def _facts(card: Card) -> list[str]:
    """Who, why and until when, each with as large a share as they all can have; the oldest looks go first."""
    for share in _SHARES:
        lines = list(_at_most(card, share, card.looked_at))
        if utf16_units("\n".join(lines)) <= _FACTS:
            return lines
    looked_at = list(card.looked_at)
    while looked_at and utf16_units("\n".join(_at_most(card, _SHARES[-1], looked_at))) > _FACTS:
        looked_at.pop(0)
    return list(_at_most(card, _SHARES[-1], looked_at))


def _at_most(card: Card, share: int, looked_at: Sequence[str]) -> Iterator[str]:
    def fact(name: str, value: str) -> str:
        return f"**{name}**  {as_shown(one_line(value), share)[0]}"

    yield fact("Asked by", card.asked_by or "nobody")
    words = [line for line in (card.because or "").split("\n") if line.strip()]
    if words:
        yield "**Because**  (the assistant's words)"
        yield from (f"> {as_shown(one_line(line), share)[0]}" for line in words[:3])
    if len(words) > 3:
        yield "> …"
    for call in looked_at:
        yield fact("Looked at", call)
    for name, value in (
        ("Waiting", card.waiting), ("Earlier", card.earlier), ("Decides", card.decides), ("If nobody", card.if_nobody)
    ):  # fmt: skip
        if value:
            yield fact(name, value)
    if card.expires_at is not None:  # by the clock of who reads it
        yield f"**Ends**  <t:{card.expires_at // 1_000}:f>, by your clock"


def _outcome(card: Card) -> Iterator[str]:
    left = _OUTCOME
    for line in card.outcome:
        shown, _ = as_shown(one_line(line), min(_LINE, max(left, 0)))
        left -= utf16_units(shown) + len("****\n")
        if left < 0:
            return
        yield f"**{shown}**"


def _linked(label: str, url: str | None) -> str:
    return f"[{label}]({url})" if url is not None and len(url) <= _LONGEST_LINK else f"**{label}**"


def _fenced_units(text: str) -> int:
    return utf16_units(fenced(text))
