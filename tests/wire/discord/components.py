"""Components of a message: buttons and menus in rows, and the newer kind that stands for the text too.

https://docs.discord.com/developers/components/reference
"""

from collections import Counter
from typing import cast

from tests.wire.discord.payload import Json, invalid, length
from tests.wire.discord.shapes import (
    Check,
    an_object,
    anything,
    boolean,
    by_type,
    listing,
    nullable,
    number,
    shape,
    snowflake,
    string,
)  # fmt: skip

MOST_ROWS = 5
MOST_IN_A_ROW = 5
# #component-object, IS_COMPONENTS_V2: "up to 40 total components"; change log 2025-04-22: text of 4000 characters.
MOST_OF_ALL = 40
MOST_TEXT = 4000

ROW, BUTTON, SELECT, TEXT_INPUT, SECTION, TEXT = 1, 2, 3, 4, 9, 10
THUMBNAIL, SEPARATOR, CONTAINER, LABEL = 11, 14, 17, 18

kind = number(1, 30)
custom_id = string(100, 1)
_id = {"type": kind, "id": number(0, 2**31)}
_emoji = shape({}, {"id": nullable(snowflake), "name": nullable(string(100)), "animated": boolean})
_option = shape(
    {"label": string(100, 1), "value": string(100, 1)},
    {"description": nullable(string(100)), "emoji": nullable(_emoji), "default": boolean},
)
# #button-button-structure: label 80, url 512, custom_id 1-100.
_button = shape({"type": kind, "style": number(1, 6)}, {
    **_id, "label": nullable(string(80)), "emoji": nullable(_emoji), "custom_id": custom_id, "url": string(512, 1),
    "disabled": boolean, "sku_id": snowflake,
})  # fmt: skip


def button(value: object, where: str) -> None:
    """One button. #button-button-styles: styles 1 to 4 need a custom_id, 5 a url; none has both."""
    _button(value, where)
    fields = an_object(value, where)
    style = fields["style"]
    if style in (1, 2, 3, 4) and ("custom_id" not in fields or "url" in fields):
        raise invalid(f"{where}.custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
    if style == 5 and ("url" not in fields or "custom_id" in fields):
        raise invalid(f"{where}.url", "BASE_TYPE_REQUIRED", "A link button has a url and no custom id")
    if style != 6 and not fields.get("label") and not fields.get("emoji"):
        raise invalid(where, "BUTTON_COMPONENT_INVALID_LABEL", "A button needs a label or an emoji")


# #string-select: 25 options, placeholder 150, min_values 0-25, max_values 1-25.
select = shape({"type": kind, "custom_id": custom_id}, {
    **_id, "options": listing(_option, 25, 1), "placeholder": nullable(string(150)), "min_values": number(0, 25),
    "max_values": number(1, 25), "disabled": boolean, "required": boolean, "channel_types": anything,
    "default_values": anything,
})  # fmt: skip
_selects = dict.fromkeys((SELECT, 5, 6, 7, 8), select)
_in_a_row = by_type({BUTTON: button, **_selects})


def row(value: object, where: str) -> None:
    """#action-row: "Up to 5 contextually grouped button components" or "a single … select"."""
    shape({"type": kind, "components": listing(_in_a_row, MOST_IN_A_ROW, 1)}, _id)(value, where)
    inner = cast("list[Json]", an_object(value, where)["components"])
    if len(inner) > 1 and any(item["type"] != BUTTON for item in inner):
        raise invalid(f"{where}.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "A menu has its row for itself")


_text = shape({"type": kind, "content": string(MOST_TEXT, 1)}, _id)
_thumbnail = shape(
    {"type": kind, "media": shape({"url": string(2048, 1)})},
    {**_id, "description": nullable(string(1024)), "spoiler": boolean},
)
_section = shape(
    {
        "type": kind,
        "components": listing(by_type({TEXT: _text}), 3, 1),
        "accessory": by_type({BUTTON: button, THUMBNAIL: _thumbnail}),
    },
    _id,
)
_separator = shape({"type": kind}, {**_id, "divider": boolean, "spacing": number(1, 2)})
_inner: dict[int, Check] = {ROW: row, SECTION: _section, TEXT: _text, SEPARATOR: _separator}
_container = shape(
    {"type": kind, "components": listing(by_type(_inner), MOST_OF_ALL, 1)},
    {**_id, "accent_color": nullable(number(0, 0xFFFFFF)), "spoiler": boolean},
)


def check_components(value: object, *, newer: bool, where: str = "components") -> list[Json]:
    """The components of a message; `newer`: with the flag IS_COMPONENTS_V2."""
    if newer:
        listing(by_type({**_inner, CONTAINER: _container}), MOST_OF_ALL)(value, where)
    else:
        listing(by_type({ROW: row}), MOST_ROWS)(value, where)
    components = cast("list[Json]", value)
    everything = walk(components)
    if len(everything) > MOST_OF_ALL and newer:
        raise invalid(where, "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", f"More than {MOST_OF_ALL} components")
    if sum(length(str(item["content"])) for item in everything if item["type"] == TEXT) > MOST_TEXT:
        raise invalid(where, "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", f"More than {MOST_TEXT} characters of text")
    # #custom-id: "must be unique per component; multiple components on the same message must not share the same".
    twice = [name for name, times in Counter(_custom_ids(everything)).items() if times > 1]
    if twice:
        raise invalid(where, "COMPONENT_CUSTOM_ID_DUPLICATED", f"Component custom id cannot be duplicated: {twice}")
    return components


def walk(components: list[Json]) -> list[Json]:
    """All of them, however deep."""
    found: list[Json] = []
    for item in components:
        found.append(item)
        inner = list(item.get("components") or [])
        inner += [item[name] for name in ("accessory", "component") if item.get(name)]
        found += walk(inner)
    return found


def texts(components: list[Json]) -> list[str]:
    """What stands in them as text in which a mention is read."""
    return [str(item["content"]) for item in walk(components) if item["type"] == TEXT]


def _custom_ids(components: list[Json]) -> list[str]:
    return [str(item["custom_id"]) for item in components if "custom_id" in item]
