"""What in a message does something to those who read it: pings, references, links.

https://docs.slack.dev/messaging/formatting-message-text#mentioning-users and the sections below it: in mrkdwn whatever
stands in angle brackets is special, unless the bracket is written `&lt;`. blocks/markdown-block: links are Markdown's,
and what stands in angle brackets is taken for special there as well, in code too: the strictest reading.
blocks/rich-text-block: the characters of a text are only those, and what pings or leads away is an element of its own.
"""

import re
from typing import cast

from tests.wire.slack.payload import Json
from tests.wire.slack.rooms import Message

SPECIAL = re.compile(r"<(?:!|@|#)[^<>\n]*>")
LINK = re.compile(r"<(?:https?|mailto|tel):[^<>\n]*>")
MARKDOWN_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)")


def active(message: Message) -> list[str]:
    """Everything of this kind, as it stands: in the blocks, and in the text, which notifications show."""
    found = SPECIAL.findall(message.text) + LINK.findall(message.text)
    for block in message.blocks:
        if block["type"] == "markdown":
            text = str(block["text"])
            found += SPECIAL.findall(text) + LINK.findall(text) + MARKDOWN_LINK.findall(text)
        else:
            for text in _mrkdwn(block):
                found += SPECIAL.findall(text) + LINK.findall(text)
            found += _elements(block)
    return found


def pings(message: Message) -> list[str]:
    """Those that notify somebody: a person, a group, everybody. A reference to a room notifies nobody."""
    return [one for one in active(message) if one.startswith(("<@", "<!channel", "<!here", "<!everyone", "<!subteam"))]


def _elements(value: object) -> list[str]:
    """The elements of rich text that name somebody, or link under other words, spelled as mrkdwn would."""
    if isinstance(value, list):
        return [one for item in cast("list[object]", value) for one in _elements(item)]
    if not isinstance(value, dict):
        return []
    fields = cast("Json", value)
    match fields.get("type"):
        case "broadcast":
            return [f"<!{fields['range']}>"]
        case "user":
            return [f"<@{fields['user_id']}>"]
        case "usergroup":
            return [f"<!subteam^{fields['usergroup_id']}>"]
        case "channel":
            return [f"<#{fields['channel_id']}>"]
        case "link" if fields.get("text", fields["url"]) != fields["url"]:
            return [f"<{fields['url']}|{fields['text']}>"]
        case _:
            return _elements(list(fields.values()))


def _mrkdwn(value: object) -> list[str]:
    """The texts in which mrkdwn is read, however deep; plain text is shown as it stands."""
    if isinstance(value, list):
        return [text for item in cast("list[object]", value) for text in _mrkdwn(item)]
    if isinstance(value, dict):
        fields = cast("Json", value)
        if fields.get("type") == "mrkdwn":
            return [str(fields["text"])]
        return [text for item in fields.values() for text in _mrkdwn(item)]
    return []
