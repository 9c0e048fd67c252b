"""What in a message does something to those who read it: pings, references, links, hidden text.

https://docs.discord.com/developers/reference#message-formatting and, for what a person may write too,
https://support.discord.com/hc/en-us/articles/210298617 (Markdown Text 101). In a code block or in backticks nothing
is read but mentions, which are looked for in the text as it stands: see mentions.py.
"""

import re

from tests.wire.discord.components import texts
from tests.wire.discord.messages import Message
from tests.wire.discord.payload import several

# A backslash before a sign makes it a sign: `\[`, `\|`, `\<`.
_PLAIN = r"(?<!\\)"
MENTION = re.compile(r"<(?:@[!&]?|#)\d+>|@everyone|@here")
REFERENCE = re.compile(_PLAIN + r"<(?:a?:\w+:\d+|t:-?\d+(?::\w)?|/[^<>:]+:\d+|id:\w+)>")
MASKED = re.compile(_PLAIN + r"\[[^\[\]\n]*(?<!\\)\]\(<?(?:https?|discord)://[^)\s]*[^)]*\)")
LINK = re.compile(r"(?:https?|discord)://[^\s<>)]+")
SPOILER = re.compile(_PLAIN + r"\|\|(?s:.+?)(?<!\\)\|\|")
_FENCE = re.compile(r"```.*?```|``.*?``|`[^`\n]+`", re.DOTALL)


def active(message: Message) -> list[str]:
    """Everything of this kind, as it stands: in the text, in embeds and in text components."""
    found: list[str] = []
    for text in written(message):
        found += MENTION.findall(text)
        outside = _FENCE.sub(" ", text)
        for pattern in (REFERENCE, MASKED, SPOILER):
            found += pattern.findall(outside)
        found += LINK.findall(MASKED.sub(" ", outside))
    return found


def written(message: Message) -> list[str]:
    """All texts in which Markdown is read."""
    found = [message.content, *texts(message.components)]
    for embed in message.embeds:
        found += [str(embed[name]) for name in ("title", "description") if embed.get(name)]
        for field in several(embed.get("fields")):
            found += [str(field["name"]), str(field["value"])]
    return found
