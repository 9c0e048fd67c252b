"""The names of all settings: which there are, and which was meant by one there is not.

A name is a tuple of keys: `("gates", "ttl")` is `gates.ttl` in the file and `CASEBOUND_GATES__TTL` outside.
"""

import difflib
from collections.abc import Iterator, Sequence
from typing import get_args, get_origin

from pydantic import BaseModel, SecretStr

from bot.settings.sections import Settings

Name = tuple[str, ...]

PREFIX = "CASEBOUND_"
ANY = "NAME"
"""Stands for a key that the operator chooses: the name of a tool or of a cache."""


def names(shape: object = Settings, above: Name = ()) -> Iterator[Name]:
    """Every setting, in the order of the sections: `("gates", "ttl")`, `("tools", "NAME", "tier")`."""
    for key in keys(shape):
        inner = _at(shape, key)
        if _is_leaf(inner):
            yield (*above, key)
        else:
            yield from names(inner, (*above, key))


def keys(shape: object) -> list[str]:
    """The keys of a section; for a table whose keys the operator chooses, `NAME`."""
    model = _model(shape)
    return [ANY] if model is None else list(model.model_fields)


def look_up(name: Sequence[str]) -> object | None:
    """The type of what stands there: a section's class, a table's or a value's type; None for no such setting."""
    shape: object | None = Settings
    for key in name:
        shape = None if shape is None or _is_leaf(shape) else _at(shape, key)
    return shape


def is_secret(name: Sequence[str]) -> bool:
    """Whether this setting is a secret, which may stand in a file of its own."""
    shape = look_up(name)
    return shape is SecretStr or SecretStr in get_args(shape)


def nearest(name: Sequence[str], *, sections: bool = True) -> Name | None:
    """What was most likely meant by a name there is not; None when nothing resembles it.

    A key of the same section before one of the same name elsewhere before whatever is spelled much like it. Without
    `sections` no section is meant by a single word.
    """
    above, last = tuple(name[:-1]), name[-1]
    shape = look_up(above)
    inside = shape is not None and not _is_leaf(shape)
    if inside and (above or sections) and (near := difflib.get_close_matches(last, keys(shape), 1)):
        return (*above, near[0])
    if same := {dotted(one): one for one in names() if one[-1] == last}:
        return same[difflib.get_close_matches(dotted(name), same, 1, 0.0)[0]]
    if inside and above:
        return None
    every = {dotted(one): one for one in names()}
    like = difflib.get_close_matches(dotted(name), every, 1, 0.7)
    return every[like[0]] if like else None


def dotted(name: Sequence[str]) -> str:
    """As the file has it: `gates.ttl`, `tools."host.clear_cache".tier`."""
    return ".".join(f'"{key}"' if "." in key else key for key in name)


def variable(name: Sequence[str]) -> str:
    """As the environment has it: `CASEBOUND_GATES__TTL`."""
    return PREFIX + "__".join(name).upper()


def named_by(variable: str) -> Name:
    """The name that a variable spells, whether or not there is such a setting."""
    return tuple(variable.removeprefix(PREFIX).lower().split("__"))


def _model(shape: object) -> type[BaseModel] | None:
    return shape if isinstance(shape, type) and issubclass(shape, BaseModel) else None


def _is_leaf(shape: object) -> bool:
    return _model(shape) is None and get_origin(shape) is not dict


def _at(shape: object, key: str) -> object | None:
    if model := _model(shape):
        field = model.model_fields.get(key)
        return None if field is None else field.annotation
    return get_args(shape)[1]
