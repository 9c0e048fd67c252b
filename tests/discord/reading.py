"""What a message of ours shows on Discord, as text, and what it lets people press."""

from __future__ import annotations

import re

from tests.wire.discord.components import BUTTON, walk
from tests.wire.discord.messages import Message

_SPELLINGS = {"<": "(lt)", "]": "(rb)", "|": "(bar)", "@": "(at)"}
"""How a mark is spelled here that has no effect where it stands, so that it can be told from one that has."""

_SPELLED = re.compile(r"[<|@]|](?=\()")
_ESCAPED = re.compile(r"\\([^0-9A-Za-z\s])")


def read(message: Message) -> str:
    """What a person reads: content and embeds, a line each, with markup of ours left out and escapes resolved."""
    parts = [_ESCAPED.sub(_still, message.content)]
    for embed in message.embeds:
        parts += [str(embed.get("title") or ""), _shown(str(embed.get("description") or ""))]
    return "\n".join(filter(None, parts))


def buttons(message: Message) -> list[str]:
    """The names of the buttons that a message offers."""
    return [str(item["custom_id"]) for item in walk(message.components) if item["type"] == BUTTON]


def _shown(markdown: str) -> str:
    """Markdown as it looks: bold and quotes are ours, what is escaped stands for itself, code is as it is."""
    shown: list[str] = []
    for number, part in enumerate(markdown.split("```")):
        if number % 2:
            shown.append(_SPELLED.sub(lambda found: _SPELLINGS[found[0]], part.strip("\n")))
            continue
        plain = re.sub(r"(?<!\\)\*\*|^> ", "", part, flags=re.MULTILINE)
        linked = re.sub(r"(?<!\\)\[((?:\\.|[^\]\\])*)\]\((https?://[^)]*)\)", r"\1", plain)
        shown.append(_ESCAPED.sub(_still, linked))
    return "".join(shown)


def _still(escaped: re.Match[str]) -> str:
    return _SPELLINGS.get(escaped[1], escaped[1])
