"""What a message of ours shows in Slack, as text, and what it lets people press."""

from __future__ import annotations

from collections.abc import Iterator

from tests.wire.slack.payload import Json
from tests.wire.slack.rooms import Message


def read(message: Message) -> str:
    """What a person reads: the texts of all blocks, a line each, what is in one line beside each other."""
    return "\n".join(line for block in message.blocks for line in _lines(block)) or message.text


def texts(blocks: list[Json]) -> list[str]:
    """The same of the blocks of a view, piece by piece."""
    return [line for block in blocks for line in _lines(block)]


def buttons(message: Message) -> list[str]:
    """The action_ids that a message offers."""
    actions = [block for block in message.blocks if block["type"] == "actions"]
    return [str(element["action_id"]) for block in actions for element in block["elements"]]


def _lines(block: Json) -> Iterator[str]:
    match block["type"]:
        case "markdown":
            yield str(block["text"])
        case "header" | "section":
            yield str(block["text"]["text"])
        case "context":
            yield from (str(element["text"]) for element in block["elements"])
        case "rich_text":
            for section in block["elements"]:
                yield "".join(_literal(_shown(element)) for element in section["elements"])
        case _:
            return


def _shown(element: Json) -> str:
    """A date is shown in the reader's own way; here as its seconds."""
    if element["type"] == "date":
        return str(element["format"]).replace("{date_short_pretty}, {time}", f"<{element['timestamp']}>")
    return str(element["text"])


def _literal(text: str) -> str:
    """A text of rich text stands there as it is, and nothing in it is live: spelled as Markdown would have to spell it.

    https://docs.slack.dev/reference/block-kit/blocks/rich-text-block#text-element-type
    """
    return text.replace("<", "&lt;").replace("](", "] (")
