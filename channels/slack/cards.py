"""The card of a gate in Slack's blocks: rich text, in which no character of a value is markup or a mention.

A card must stay under some 13,000 characters over all blocks, which no documentation says, counted in UTF-16 units as
Slack's own limits are: what does not fit is counted and left out, and then nobody can approve here without having
opened the rest.
https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from __future__ import annotations

from collections.abc import Iterator

from channels.arguments import fitting, lines
from channels.card import Card, Verb
from channels.plain import VERB_WORDS
from channels.style import utf16_units
from channels.text import beginning, one_line

Block = dict[str, object]

_ARGUMENTS = 4_000
"""For all arguments together: with eight calls and three lines of outcome, all at their longest, a card still fits."""
_STATEMENT, _LINE, _FIELD, _NAME, _CALL = 1_000, 1_000, 300, 100, 200
_COLUMN = 24
_STYLES: dict[Verb, str] = {"approve": "primary", "deny": "danger"}


def blocks(card: Card) -> list[Block]:
    """The card as a message: what is asked, what will run, because of whom, and the buttons or what became of it."""
    shown, left_out = fitting(card.arguments, _ARGUMENTS)
    laid_out: list[Block] = [
        header(card.heading),
        rich(section(bold(cut(card.statement, _STATEMENT)))),
        rich(section(*_case(card))),
        rich(
            section(bold("Will run  "), plain(cut(card.tool)), plain(f"   {cut(card.tier_note, _NAME)}")),
            *([preformatted(lines(shown, left_out))] if card.arguments else []),
        ),
        rich(*_facts(card)),
    ]
    if card.outcome:
        laid_out.append(rich(*(section(plain(cut(line, _LINE))) for line in card.outcome)))
    if card.verbs:
        laid_out.append(_actions(card, whole=not left_out and not any(one.shortened for one in shown)))
    return laid_out


def button_value(card: Card, verb: Verb) -> str:
    """What a button carries: which gate, what is answered, and the digest that was shown."""
    return f"gate:{card.gate_id}:{verb}:{card.digest8}"


def block_id(card: Card) -> str:
    """Of the buttons; new when the card is, as Slack wants it of an updated message."""
    return f"gate:{card.gate_id}:{card.digest8}"


def _case(card: Card) -> Iterator[Block]:
    label = cut(card.case_label, _NAME)
    link: Block = {"type": "link", "url": card.case_url, "text": label, "style": {"bold": True}}
    yield link if card.case_url else bold(label)
    yield plain(f"  {cut(card.case_title)}   {cut(card.origin, _NAME)}")


def _facts(card: Card) -> Iterator[Block]:
    yield _fact("Asked by", card.asked_by or "nobody")
    words = [cut(line) for line in (card.because or "").split("\n") if line.strip()]
    if words:
        yield section(bold("Because"), plain("  (the assistant's words)"))
        yield {"type": "rich_text_quote", "elements": [plain("\n".join(words[:3]) + " …" * (len(words) > 3))]}
    for number, call in enumerate(card.looked_at):
        yield _fact("Looked at" if number == 0 else "", call, most=_CALL)
    for name, value in (
        ("Waiting", card.waiting), ("Earlier", card.earlier), ("Decides", card.decides), ("If nobody", card.if_nobody)
    ):  # fmt: skip
        if value:
            yield _fact(
                name, value, *([_for_reader(card.expires_at)] if name == "If nobody" and card.expires_at else [])
            )


def _fact(name: str, value: str, *more: Block, most: int = _FIELD) -> Block:
    return section(*([bold(f"{name}  ")] if name else []), plain(cut(value, most)), *more)


def _for_reader(at: int) -> Block:
    """A time as the clock of who reads the card shows it.

    https://docs.slack.dev/reference/block-kit/blocks/rich-text-block#date-element-type
    """
    shown = "   Where you are: {date_short_pretty}, {time}"
    return {"type": "date", "timestamp": at // 1_000, "format": shown, "fallback": " "}


def _actions(card: Card, *, whole: bool) -> Block:
    """The buttons; where the card does not show everything, approving is behind the one that does."""
    buttons = [_button(card, verb) if whole or verb != "approve" else _view(card) for verb in card.verbs]
    return {"type": "actions", "block_id": block_id(card), "elements": buttons}


def _view(card: Card) -> Block:
    return {
        "type": "button", "action_id": "gate_view", "value": button_value(card, "approve"), "style": "primary",
        "text": {"type": "plain_text", "text": "View all and decide…", "emoji": False},
    }  # fmt: skip


def _button(card: Card, verb: Verb) -> Block:
    button: Block = {
        "type": "button", "action_id": f"gate_{verb}", "value": button_value(card, verb),
        "text": {"type": "plain_text", "text": VERB_WORDS[verb], "emoji": False},
    }  # fmt: skip
    return {**button, "style": _STYLES[verb]} if verb in _STYLES else button


def header(text: str) -> Block:
    """A heading."""
    return {"type": "header", "text": {"type": "plain_text", "text": cut(text, 150), "emoji": False}}


def rich(*elements: Block) -> Block:
    """A block of rich text."""
    return {"type": "rich_text", "elements": list(elements)}


def section(*elements: Block) -> Block:
    """A paragraph of rich text."""
    return {"type": "rich_text_section", "elements": list(elements)}


def preformatted(text: str) -> Block:
    """Text of one width in which no character is markup."""
    return {"type": "rich_text_preformatted", "elements": [plain(text)]}


def plain(text: str) -> Block:
    """An element of rich text: these characters, and nothing that they could mean. Slack takes none that is empty."""
    return {"type": "text", "text": text or " "}


def bold(text: str) -> Block:
    """The same, in bold."""
    return {**plain(text), "style": {"bold": True}}


def cut(text: str, most: int = _FIELD) -> str:
    """The text on one line, cut between two signs where it is too long, as Slack counts."""
    line = one_line(text)
    return line if utf16_units(line) <= most else f"{beginning(line, most - 1, utf16_units)}…"
