"""One sentence about the first setting that is wrong: where it was set, what is wrong, and what was meant perhaps."""

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bot.settings.names import Name, keys, look_up, nearest
from bot.settings.sources import Source


def explain(error: ValidationError, sources: Sequence[Source]) -> str:
    """What to tell the operator. It holds no value: pydantic's sentences name types, ours what cannot be secret."""
    first = error.errors(include_url=False, include_input=False)[0]
    name = tuple(part for part in first["loc"] if isinstance(part, str))
    source = next((one for one in sources if name and _holds(one(), name)), None)
    if source is None:  # a rule between two settings, which names both
        return _plain(first)
    return f"{source.place(name)}: {_what(name, first, source)}"


def _what(name: Name, first: ErrorDetails, source: Source) -> str:
    match first["type"]:
        case "extra_forbidden":
            return _unknown(name, source)
        case "model_type" | "model_attributes_type" | "dict_type":
            near = nearest(("", *name))  # `host` is a section, and a key of another one
            hint = f"; did you mean {source.spell(near)}?" if near is not None and near[-1] == name[-1] else ""
            return f"has to be a table; its keys are {', '.join(keys(look_up(name)))}{hint}"
        case "tuple_type":
            return "has to be a list"
        case "too_short":
            return "has to name at least one"
        case _:
            return _plain(first)


def _unknown(name: Name, source: Source) -> str:
    if name[0] == "tools" and len(name) == 3 and _holds(source(), name, table=True):
        return f'the name of a tool is written in quotes: [tools."{name[1]}.{name[2]}"]'
    near = nearest(name)
    if near is not None:
        return f"there is no such key; did you mean {source.spell(near)}?"
    return f"there is no such key; known are {', '.join(keys(look_up(name[:-1])))}"


def _plain(first: ErrorDetails) -> str:
    return first["msg"].removeprefix("Value error, ").replace("Input should", "should")


def _holds(found: object, name: Name, *, table: bool = False) -> bool:
    """Whether there is something by that name; with `table`, whether it is a table."""
    for key in name:
        if not isinstance(found, Mapping) or key not in found:
            return False
        found = cast("Mapping[str, object]", found)[key]
    return isinstance(found, Mapping) if table else True
