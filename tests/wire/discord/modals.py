"""Modals: forms that are shown to one person in answer to an interaction.

https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object and
https://docs.discord.com/developers/components/reference
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.wire.discord.components import LABEL, ROW, TEXT, TEXT_INPUT, custom_id, kind, select, walk
from tests.wire.discord.payload import Json, invalid
from tests.wire.discord.shapes import an_object, boolean, by_type, listing, nullable, number, shape, string

if TYPE_CHECKING:
    from tests.wire.discord.interactions import Interaction

MOST_COMPONENTS = 5
MOST_VALUE = 4000

_id = {"type": kind, "id": number(0, 2**31)}
# #text-input-text-input-structure: custom_id 1-100, min_length 0-4000, max_length 1-4000, value 4000, placeholder 100.
_input = {
    "type": kind, "custom_id": custom_id, "style": number(1, 2),
}  # fmt: skip
_more = {
    **_id, "min_length": nullable(number(0, MOST_VALUE)), "max_length": nullable(number(1, MOST_VALUE)),
    "required": boolean, "value": nullable(string(MOST_VALUE)), "placeholder": nullable(string(100)),
}  # fmt: skip
# "label" of a text input: 45 characters, and only without a Label around it, where it is deprecated.
_in_a_row = shape({**_input, "label": string(45, 1)}, _more)
_in_a_label = shape(_input, {**_more, "label": nullable(string(0))})
# #label-label-structure: label 45, description 100.
_label = shape(
    {
        "type": kind,
        "label": string(45, 1),
        "component": by_type({TEXT_INPUT: _in_a_label, **dict.fromkeys((3, 5, 6, 7, 8), select)}),
    },
    {**_id, "description": nullable(string(100))},
)
_row = shape({"type": kind, "components": listing(by_type({TEXT_INPUT: _in_a_row}), 1, 1)}, _id)
_text = shape({"type": kind, "content": string(MOST_VALUE, 1)}, _id)
# "custom_id 1-100", "title max 45", "Between 1 and 5 (inclusive) components".
_modal = shape({
    "custom_id": custom_id, "title": string(45, 1),
    "components": listing(by_type({ROW: _row, LABEL: _label, TEXT: _text}), MOST_COMPONENTS, 1),
})  # fmt: skip


@dataclass(eq=False)
class Modal:
    """A form before somebody. `asked_by`: the interaction that it answers."""

    content: Json
    asked_by: "Interaction"
    open: bool = True

    @property
    def title(self) -> str:
        """What stands above it."""
        return str(self.content["title"])

    @property
    def inputs(self) -> list[Json]:
        """What can be filled in."""
        return [item for item in walk(self.content["components"]) if "custom_id" in item]


def check_modal(value: object, where: str = "data") -> Json:
    """A form that Discord shows."""
    _modal(value, where)
    content = an_object(value, where)
    names = [str(item["custom_id"]) for item in walk(content["components"]) if "custom_id" in item]
    if len(set(names)) != len(names):
        raise invalid(
            f"{where}.components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated"
        )
    for item in walk(content["components"]):
        if item["type"] == TEXT_INPUT and (item.get("min_length") or 0) > (item.get("max_length") or MOST_VALUE):
            raise invalid(f"{where}.components", "TEXT_INPUT_LENGTH", "min_length is above max_length")
    return content
