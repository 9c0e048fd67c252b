"""What opens before somebody who presses: the reason of an answer, or all of a call that is too long for a card.

https://docs.slack.dev/surfaces/modals
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice

from channels import arguments
from channels.card import Card
from channels.messages import Press
from channels.slack.cards import Block, preformatted, rich
from channels.style import utf16_units
from channels.text import beginning

REASON, WHOLE = "gate_reason", "gate_whole"
_REASON_CHARACTERS = 3_000
"""As many as Slack lets anybody write there."""
_PIECE, _PIECES, _BYTES = 2_900, 20, 200_000
"""Of a call shown whole: the last for all its pieces, escaped as JSON, as Slack takes no view of more than 250 kB.

https://docs.slack.dev/reference/methods/views.open#errors
"""

GOES_ON = "(the same line) … "
"""Begins a frame that goes on within a line."""


def reason(press: Press, statement: str) -> Block:
    """Asks why not, or what to do instead."""
    revises = press.verb == "revise"
    words = "Revise" if revises else "Deny"
    return {
        **_modal(press, REASON, words),
        "submit": _plain(words),
        "blocks": [
            _said(statement),
            {
                "type": "input",
                "block_id": "reason",
                "optional": not revises,
                "label": _plain("What should happen instead?" if revises else "Why not?"),
                "element": {
                    "type": "plain_text_input", "action_id": "text", "multiline": True,
                    "max_length": _REASON_CHARACTERS,
                },
            },
        ],
    }  # fmt: skip


def whole(press: Press, card: Card) -> Block:
    """Shows every argument to its end, and approves. What is too long even for this is not approved here."""
    text = arguments.lines(card.arguments)
    pieces = list(islice(_pieces(text), _PIECES))
    view = _modal(press, WHOLE, "The whole call")
    blocks: list[Block] = [_said(card.statement), _said(card.tool)]
    blocks.extend(_laid_out(pieces))
    if left := len(text) - sum(map(len, pieces)):
        where = f"casebound gate show {card.gate_id} --full"
        blocks.append(_said(f"… and {left:,} characters more. Decide it where all of it can be read: {where}"))
        return {**view, "blocks": blocks}
    return {**view, "blocks": blocks, **({"submit": _plain("Approve")} if press.verb in card.verbs else {})}


def _laid_out(pieces: Sequence[str]) -> Iterator[Block]:
    """Each in a frame of its own. One that goes on within a line says so: else it could pass for the next argument."""
    before = "\n"
    for piece in pieces:
        yield rich(preformatted(piece if before.endswith("\n") else f"{GOES_ON}{piece}"))
        before = piece


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces, none of which cuts a sign apart, as far as there is room for it."""
    at, room = 0, _BYTES
    while at < len(text) and room > 0:
        piece = beginning(text[at : at + _PIECE + 1], _PIECE, utf16_units)
        yield piece
        at += len(piece)
        room -= len(json.dumps(piece))


def _modal(press: Press, callback_id: str, title: str) -> Block:
    return {
        "type": "modal", "callback_id": callback_id, "title": _plain(title), "close": _plain("Cancel"),
        "private_metadata": press.model_dump_json(exclude={"account", "reason"}),
    }  # fmt: skip


def _said(text: str) -> Block:
    return {"type": "section", "text": {"type": "plain_text", "text": _beginning(text), "emoji": False}}


def _beginning(text: str) -> str:
    shown = beginning(text, _PIECE, utf16_units)
    return (f"{shown}…" if shown != text else shown).strip() or "?"


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}
