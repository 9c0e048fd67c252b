"""A card as plain text: for terminals, for the command line, and as the fallback of richer surfaces."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from channels.card import Argument, Card, Verb
from channels.messages import Content
from channels.visible import one_line

POSSIBLE_DUPLICATE = "(possible duplicate)"
"""What stands before a message that may have been sent before (R27)."""

VERB_WORDS: dict[Verb, str] = {
    "approve": "Approve",
    "deny": "Deny",
    "revise": "Revise…",
    "happened": "It happened",
    "not_happened": "It did not",
    "rerun": "Run it again",
    "withdraw": "Withdraw",
}
"""What stands on the button of each verb."""

_LABEL = 11  # "If nobody", and two blanks
_WIDEST = 64  # beyond this, what stands at the right of a line follows it closely
_WORDS = 240  # of one line of the assistant's words


def render_card(card: Card) -> str:
    """The card in lines, without a line feed at the end.

    Nothing in a field can pass for a line of the card: what has one line has no line feeds left, and what may
    have several is set under its label behind a bar.
    """
    return "\n".join(_lines(card))


def render(content: Content, *, possible_duplicate: bool = False) -> str:
    """What a channel of plain text shows for a message."""
    text = render_card(content) if isinstance(content, Card) else content.text
    return f"{POSSIBLE_DUPLICATE} {text}" if possible_duplicate else text


def _lines(card: Card) -> Iterator[str]:
    case = f"{one_line(card.case_label)}  {one_line(card.case_title)}"
    tool = _row("Will run", one_line(card.tool))
    column = max((_width(left) for left in (case, tool) if _width(left) <= _WIDEST), default=0) + 4

    yield f"{one_line(card.heading)}  {one_line(card.statement)}"
    yield _beside(case, one_line(card.origin), column)
    yield _beside(tool, one_line(card.tier_note), column)
    yield from _arguments(card.arguments)
    yield _row("Asked by", one_line(card.asked_by))
    if card.because:
        yield from _under("Because", _quoted(card.because))
    yield from _under("Looked at", [one_line(call) for call in card.looked_at])
    yield from _under("Waiting", [one_line(note) for note in (card.waiting, card.earlier) if note])
    if card.decides:
        yield _row("Decides", one_line(card.decides))
    if card.if_nobody:
        yield _row("If nobody", one_line(card.if_nobody))
    if card.case_url:
        yield _row("Open case", card.case_url)
    if card.verbs:
        yield " ".join(f"[ {VERB_WORDS[verb]} ]" for verb in card.verbs) + f"   gate {card.gate_id}"
    yield from (one_line(line) for line in card.outcome)


def _arguments(arguments: tuple[Argument, ...]) -> Iterator[str]:
    names = [one_line(argument.name) for argument in arguments]
    column = max((_width(name) for name in names), default=0)
    for name, argument in zip(names, arguments, strict=True):
        first, *rest = argument.value.split("\n")
        left = f"{name}{' ' * (column - _width(name))}  "
        notes = ""
        if argument.length is not None:
            notes += f"   (first and last part of {argument.length:,} characters)"
        if argument.was is not None:
            notes += f"   (was: {one_line(argument.was)})"
        bar = "| " if rest else ""
        values = [f"{bar}{one_line(line)}" for line in (first, *rest)]
        values[-1] += notes
        yield _row("", left + values[0])
        yield from (_row("", " " * _width(left) + value) for value in values[1:])


def _quoted(words: str) -> list[str]:
    lines = [one_line(line) for line in words.split("\n") if line.strip()]
    shown = [line if len(line) <= _WORDS else f"{line[:_WORDS]}…" for line in lines[:3]]
    if not shown:
        return []
    shown[0] = f'"{shown[0]}'
    shown[-1] += ' …"' if len(lines) > 3 else '"'
    return shown if len(shown) == 1 else [f"| {line}" for line in shown]


def _under(label: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield _row(label if number == 0 else "", line)


def _row(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"


def _beside(left: str, right: str, column: int) -> str:
    return f"{left}{' ' * max(column - _width(left), 3)}{right}" if right else left


def _width(text: str) -> int:
    """How many columns a terminal gives it, closely enough to line columns up."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
