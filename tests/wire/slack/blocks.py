"""Blocks of messages and views, refused where Slack refuses them.

https://docs.slack.dev/reference/block-kit/blocks. A type that is not in `MESSAGE` or `VIEW` is refused here although
Slack may know it: who wants it, writes down what Slack says of it.
"""

from typing import cast

from tests.wire.slack.elements import FILLABLE, IMAGE, PRESSABLE, any_text, plain
from tests.wire.slack.payload import Json, Refused, length
from tests.wire.slack.rich_text import PART
from tests.wire.slack.shapes import (
    Check,
    Misshapen,
    an_object,
    anything,
    boolean,
    by_type,
    listing,
    one_field,
    shape,
    string,
)

BLOCK_ID = {"block_id": string(255)}

SHARED: dict[str, Check] = {
    # blocks/section-block: text 1 to 3,000; at most 10 fields of 2,000; one accessory.
    "section": shape(
        {},
        {
            "text": any_text(3000), "fields": listing(any_text(2000), 10), "expand": boolean, **BLOCK_ID,
            "accessory": by_type({**PRESSABLE, "image": IMAGE}),
        },
    ),
    "divider": shape({}, BLOCK_ID),
    # blocks/header-block: plain text of 150.
    "header": shape({"text": plain(150)}, BLOCK_ID),
    # blocks/context-block: at most 10 images and texts.
    "context": shape(
        {"elements": listing(by_type({"plain_text": any_text(3000), "mrkdwn": any_text(3000), "image": IMAGE}), 10)},
        BLOCK_ID,
    ),
    # blocks/actions-block: at most 25 elements.
    "actions": shape({"elements": listing(by_type(PRESSABLE), 25)}, BLOCK_ID),
    # blocks/image-block: alt_text 2,000, title 2,000, and "either an image_url or slack_file".
    "image": one_field(
        shape(
            {"alt_text": string(2000)},
            {"image_url": string(3000), "slack_file": anything, "title": plain(2000), **BLOCK_ID},
        ),
        "image_url", "slack_file",
    ),
    # blocks/input-block: label 2,000, hint 2,000.
    "input": shape(
        {"label": plain(2000), "element": by_type(FILLABLE)},
        {"hint": plain(2000), "optional": boolean, "dispatch_action": boolean, **BLOCK_ID},
    ),
    # blocks/rich-text-block: see rich_text.py.
    "rich_text": shape({"elements": listing(PART, 100)}, BLOCK_ID),
}  # fmt: skip

# blocks/markdown-block: "available in surfaces: Messages"; `block_id` is ignored there, so nothing else is offered.
# The limit is over all markdown blocks of a payload, see below; a single one may take all of it.
MESSAGE = by_type({**SHARED, "markdown": shape({"text": string(12_000)}, BLOCK_ID)})
VIEW = by_type(SHARED)

# "You can include up to 50 blocks in each message, and 100 blocks in modals or home tabs."
MOST_IN_MESSAGE = 50
MOST_IN_VIEW = 100

# blocks/markdown-block: "The cumulative limit for all markdown blocks in a single payload is 12,000 characters."
MOST_MARKDOWN = 12_000

# In no documentation: https://github.com/slackapi/bolt-js/issues/2509 measured 13,172 to 13,297 characters.
MOST_OVER_ALL = 13_000


def check_message(value: object) -> list[Json]:
    """The blocks of a message, or `invalid_blocks_format`, `invalid_blocks`, `msg_blocks_too_long`.

    https://docs.slack.dev/reference/methods/chat.postMessage#errors
    """
    if not isinstance(value, list):
        raise Refused("invalid_blocks_format")
    blocks = cast("list[Json]", value)
    try:
        check(blocks, MESSAGE, MOST_IN_MESSAGE, "/blocks")
        markdown = sum(length(block["text"]) for block in blocks if block["type"] == "markdown")
        if markdown > MOST_MARKDOWN:
            raise Misshapen(f"markdown blocks must have less than {MOST_MARKDOWN + 1} characters together", "/blocks")
    except Misshapen as wrong:
        raise Refused("invalid_blocks", str(wrong)) from wrong
    if written(blocks) > MOST_OVER_ALL:
        raise Refused("msg_blocks_too_long")
    return blocks


def check(blocks: list[Json], each: Check, most: int, where: str) -> None:
    """Every block by itself, then what holds between them."""
    listing(each, most, least=0)(blocks, where)
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        at = f"{where}/{index}"
        # blocks/section-block: `text` is "not required if a valid array of fields objects is provided instead".
        if block["type"] == "section" and not block.get("text") and not block.get("fields"):
            raise Misshapen("must provide text or fields", at)
        # Every block's page: "block_id should be unique for each message". Slack refuses a second one:
        # https://github.com/slack-go/slack/issues/823 and 725.
        if (name := block.get("block_id")) is not None:
            if name in seen:
                raise Misshapen(f"block_id must be unique: {name}", at)
            seen.add(name)
        elements = [an_object(element, at) for element in block.get("elements", []) if block["type"] == "actions"]
        names = [element["action_id"] for element in elements if "action_id" in element]
        # block-elements/button-element: "each action_id should be unique among all other action_ids in the
        # containing block".
        if len(set(names)) < len(names):
            raise Misshapen("action_id must be unique within its block", at)


def written(value: object) -> int:
    """The characters of all texts, however deep."""
    if isinstance(value, list):
        return sum(written(item) for item in cast("list[object]", value))
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return sum(length(v) if k == "text" and isinstance(v, str) else written(v) for k, v in fields.items())
    return 0
