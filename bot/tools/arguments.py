"""The arguments of one call: read strictly, checked against a signature, refused in one clear sentence.

What a model sends is data (R23). It is read as JSON and held against the types of the tool's function without
any conversion ("5" is not 5, true is not 1); anything the function does not name is refused.
"""

import functools
import inspect
import json
import re
from collections.abc import Callable
from typing import cast

from pydantic import ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import to_jsonable_python

SUBJECT = re.compile(r"^(Input|String|Value|List|Dictionary|Set|Tuple) (?=should|must)")

Check = Callable[[str, dict[str, object]], dict[str, object]]
"""(tool name, JSON arguments) -> the function's own arguments, defaults filled in; raises `BadArguments`."""


class BadArguments(Exception):
    """The arguments do not fit the tool; the text is one sentence that tells the caller what to change."""


class BadDeclaration(Exception):
    """A tool is declared wrongly, by its author or by the settings; found when the service starts."""


def read(name: str, raw: str | dict[str, object]) -> dict[str, object]:
    """The arguments of a call of tool `name` as plain JSON values; an empty text means no arguments."""
    try:
        value: object = (json.loads(raw) if raw.strip() else {}) if isinstance(raw, str) else raw
        if not isinstance(value, dict):
            raise BadArguments(f"The arguments of {name} have to be one JSON object.")
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")  # a lone surrogate is no text: it could be neither stored nor shown
        return cast("dict[str, object]", json.loads(text))
    except UnicodeEncodeError:
        raise BadArguments(f"The arguments of {name} contain half a character; send valid text.") from None
    except (ValueError, TypeError, RecursionError):
        raise BadArguments(f"The arguments of {name} are not valid JSON; send one JSON object.") from None


def plain(arguments: dict[str, object]) -> dict[str, object]:
    """Checked arguments as JSON values again, the form that is shown, hashed, stored and later run."""
    return cast("dict[str, object]", to_jsonable_python(arguments))


def from_signature(
    function: Callable[..., object], name: str, *, skip: int
) -> tuple[dict[str, object], str | None, Check]:
    """JSON schema, description and check of a function's arguments, without its first `skip` parameters.

    Raises `BadDeclaration` for a signature that could not refuse an unknown argument or has no plain schema.
    """
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.tools import Tool as Signature  # here, because it brings in the whole model layer

    try:
        built = Signature(_without(function, name, skip), takes_ctx=False, name=name)
    except (UserError, NameError, TypeError) as error:
        raise BadDeclaration(f"Tool {name}: its signature has no schema: {error}") from error
    except PydanticUserError as error:
        raise BadDeclaration(
            f"Tool {name}: a parameter has a type that cannot be said in JSON ({error.message.split('. ')[0]}); "
            "take str, int, float, bool, or a list, a dict or a dataclass of these."
        ) from error
    if built.function_schema.single_arg_name is not None:
        raise BadDeclaration(f"Tool {name}: give it plain parameters instead of one model.")
    schema = cast("dict[str, object]", built.function_schema.json_schema)
    validator = built.function_schema.validator

    def check(tool: str, arguments: dict[str, object]) -> dict[str, object]:
        try:
            text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
            return cast("dict[str, object]", validator.validate_json(text, strict=True))
        except ValidationError as error:
            raise BadArguments(_sentence(tool, schema, error)) from None

    return schema, built.description, check


def properties(schema: dict[str, object]) -> frozenset[str]:
    """The names of the arguments that a JSON schema allows."""
    return frozenset(cast("dict[str, object]", schema.get("properties", {})))


def _without(function: Callable[..., object], name: str, skip: int) -> Callable[..., object]:
    """The function as a caller from outside sees it: no leading parameters, no return type."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if len(parameters) < skip:
        raise BadDeclaration(f"Tool {name}: its function has to take {skip} leading parameters.")
    shown = parameters[skip:]
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in shown):
        raise BadDeclaration(f"Tool {name}: *args, **kwargs and positional-only parameters are not offered.")
    if untyped := next((p.name for p in shown if p.annotation is p.empty), None):
        raise BadDeclaration(f"Tool {name}: its parameter {untyped} has no type; write {untyped}: str, or what it is.")

    @functools.wraps(function)
    def outside(**_: object) -> None:
        raise AssertionError("only read for its signature")

    hidden = {p.name for p in parameters[:skip]} | {"return"}
    annotations = {k: v for k, v in inspect.get_annotations(function).items() if k not in hidden}
    setattr(outside, "__annotations__", annotations)  # noqa: B010 - the types of a function object do not know it
    setattr(outside, "__signature__", signature.replace(parameters=shown))  # noqa: B010
    return outside


def _sentence(tool: str, schema: dict[str, object], error: ValidationError) -> str:
    found: list[str] = []
    for one in error.errors(include_url=False, include_input=False)[:3]:
        argument = json.dumps(".".join(str(step) for step in one["loc"])[:60], ensure_ascii=False)
        if one["type"] == "missing":
            found.append(f"it needs {argument}")
        elif one["type"] == "extra_forbidden":
            allowed = ", ".join(sorted(properties(schema))) or "no arguments"
            found.append(f"it has no argument {argument} (it takes {allowed})")
        elif one["type"] == "value_error":
            found.append(f"{argument}: {one['msg'].removeprefix('Value error, ')}")
        else:
            found.append(f"{argument} {SUBJECT.sub('', one['msg'])}")
    return f"{tool} cannot be called like that: {'; '.join(found)}."
