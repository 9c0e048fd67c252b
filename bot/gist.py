"""The gist of a call: what it returned, as it is read on a card and in the story of a case."""

from typing import cast

from bot.results import CallResult
from casestore.canonical import decode, encode
from casestore.models import Step


def of_step(step: Step) -> str:
    """What a call returned: of a table its plain values, but for those that stand in the arguments already."""
    if step.result is None:
        return "…"
    content = CallResult.load(step.result).content
    if isinstance(content, dict):
        fields, given = cast("dict[str, object]", content), decode(step.args or "{}")
        plain = [
            f"{name} {value if isinstance(value, str) else encode(value)}"
            for name, value in fields.items()
            if not isinstance(value, list | dict) and given.get(name, ...) != value
        ]
        content = ", ".join(plain) or encode(fields)
    return content if isinstance(content, str) else encode(content)
