"""What opens before somebody who presses: the reason of an answer, or all of a call that is too long for a card.

https://docs.slack.dev/surfaces/modals
"""

from __future__ import annotations

from channels.card import Card
from channels.messages import Press
from channels.slack.cards import Block, argument_lines, preformatted

REASON, WHOLE = "gate_reason", "gate_whole"
_REASON_CHARACTERS = 2_000
_PIECE, _PIECES = 2_900, 20


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
    text = argument_lines(card.arguments)
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    view = _modal(press, WHOLE, "The whole call")
    blocks: list[Block] = [_said(card.statement), _said(card.tool)]
    for piece in pieces[:_PIECES]:
        blocks.append({"type": "rich_text", "elements": [preformatted(piece)]})
    if len(pieces) > _PIECES:
        left = len(text) - _PIECE * _PIECES
        where = f"casebound gate show {card.gate_id}"
        blocks.append(_said(f"… and {left:,} characters more. Decide it where all of it can be read: {where}"))
        return {**view, "blocks": blocks}
    return {**view, "blocks": blocks, **({"submit": _plain("Approve")} if press.verb in card.verbs else {})}


def _modal(press: Press, callback_id: str, title: str) -> Block:
    return {
        "type": "modal", "callback_id": callback_id, "title": _plain(title), "close": _plain("Cancel"),
        "private_metadata": press.model_dump_json(exclude={"account", "reason"}),
    }  # fmt: skip


def _said(text: str) -> Block:
    return {"type": "section", "text": {"type": "plain_text", "text": text[:_PIECE] or "?", "emoji": False}}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}
