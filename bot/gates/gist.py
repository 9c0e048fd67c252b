"""The gist of a call: what it returned, as it is read on a card and in the story of a case."""

from typing import cast

from bot.tools.results import CallResult
from casestore.canonical import decode, encode
from casestore.models import Step

_FIRST = 3


def of_step(step: Step) -> str:
    """What a call returned: of a table its values, but for those that stand in the arguments already."""
    if step.result is None:
        return "…"
    content = CallResult.load(step.result).content
    if isinstance(content, dict):
        fields, given = cast("dict[str, object]", content), decode(step.args or "{}")
        told = [f"{name} {_words(value)}" for name, value in fields.items() if given.get(name, ...) != value]
        return ", ".join(told) or encode(fields)
    return _words(content)


def _words(value: object) -> str:
    """Of a list its first items, and of each its plain values: what lies deeper is on record."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        items = cast("list[object]", value)
        return "; ".join([*map(_item, items[:_FIRST]), *("…" for _ in items[_FIRST : _FIRST + 1])]) or "none"
    return _item(value)


def _item(value: object) -> str:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return " ".join(_item(inner) for inner in fields.values() if not isinstance(inner, dict | list)) or "…"
    if isinstance(value, list):
        return "…"
    return value if isinstance(value, str) else encode(value)
