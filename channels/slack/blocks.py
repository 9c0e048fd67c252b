"""What we say, as blocks of Slack: a text is one markdown block, a card is laid out in `cards`.

https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

from dataclasses import dataclass

from channels.card import Card
from channels.messages import Content
from channels.plain import POSSIBLE_DUPLICATE
from channels.slack import cards

Block = dict[str, object]
_FALLBACK = 200


@dataclass(frozen=True, slots=True)
class Rendered:
    """Blocks, and the plain line that a notification shows in their place."""

    blocks: list[Block]
    text: str


def rendered(content: Content, *, possible_duplicate: bool = False) -> Rendered:
    """A message as Slack is given it."""
    if isinstance(content, Card):
        blocks, text = cards.blocks(content), f"{content.heading} {content.statement}"
    else:
        blocks, text = [_markdown(content.text)], as_written(content.text)  # it is escaped for that block
    if possible_duplicate:
        blocks.insert(0, _note(POSSIBLE_DUPLICATE))
        text = f"{POSSIBLE_DUPLICATE} {text}"
    return Rendered(blocks, literally(cards.cut(" ".join(text.split()), _FALLBACK)))


def literally(text: str) -> str:
    """`text` as mrkdwn that mentions nobody and links nowhere.

    https://docs.slack.dev/messaging/formatting-message-text#escaping
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_written(text: str) -> str:
    """What `literally` was given."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _markdown(text: str) -> Block:
    return {"type": "markdown", "text": text}


def _note(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "plain_text", "text": text, "emoji": False}]}
