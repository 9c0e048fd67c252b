"""The arguments of a call, held against the JSON schema that a server gives for its tool.

The schema is somebody else's text: nothing is fetched for it, and nothing in it can keep us busy. So patterns, which
may take for ever, are left to the server, which checks the arguments itself.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from bot.tools.arguments import BadArguments, BadDeclaration, Check

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_LEFT_TO_THE_SERVER = frozenset({"pattern", "patternProperties", "format"})
_SHOWN = 200


def check_of(name: str, schema: dict[str, object]) -> Check:
    """What holds arguments of tool `name` against `schema`. Raises `BadDeclaration` for what is no schema."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    stripped = cast("dict[str, object]", _without_patterns(schema))
    ours = validator_for(stripped, default=Draft202012Validator)
    try:
        ours.check_schema(stripped)
    except (SchemaError, RecursionError):
        raise BadDeclaration(f"Tool {name}: the schema of its arguments is none.") from None
    validator = ours(stripped, registry=Registry())  # an empty registry: nothing is ever fetched

    def check(tool: str, arguments: dict[str, object]) -> dict[str, object]:
        try:
            found = list(_first_errors(validator, arguments))
        except (Unresolvable, RecursionError):
            raise BadArguments(f"{tool} cannot be called: its schema refers to what is not in it.") from None
        if found:
            raise BadArguments(f"{tool} cannot be called like that: {'; '.join(map(_sentence, found))}.")
        return arguments

    return check


def _first_errors(validator: "Validator", arguments: dict[str, object]) -> "Iterator[ValidationError]":
    for count, error in enumerate(validator.iter_errors(cast("Any", arguments)), 1):
        yield error
        if count == 3:
            return


def _without_patterns(schema: object, *, names: bool = False) -> object:
    """The schema without what is left to the server. `names`: the keys here are names of arguments, not keywords."""
    if isinstance(schema, list):
        return [_without_patterns(one) for one in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept = cast("dict[str, object]", schema)
    return {
        key: _without_patterns(value, names=not names and key in ("properties", "$defs", "definitions"))
        for key, value in kept.items()
        if names or key not in _LEFT_TO_THE_SERVER
    }


def _sentence(error: "ValidationError") -> str:
    """What is wrong, and where, without repeating a long value."""
    path = ".".join(str(step) for step in error.absolute_path)[:60]
    text = error.message if len(error.message) <= _SHOWN else f"it breaks the rule {error.validator!s} of its schema"
    return f"{json.dumps(path, ensure_ascii=False)}: {text}" if path else text
