"""How the fields of a block are checked: a check takes a value and where it stands, and raises `Misshapen`."""

from collections.abc import Callable, Mapping
from typing import cast

from tests.wire.slack.payload import length

Check = Callable[[object, str], None]


class Misshapen(Exception):
    """One thing that is wrong, in Slack's own manner: what, and a JSON pointer to it."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} [json-pointer:{where}]")


def string(most: int, least: int = 1) -> Check:
    """A text of so many characters."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, str):
            raise Misshapen("must be a string", where)
        if length(value) < least:
            raise Misshapen(f"must be more than {least - 1} characters", where)
        if length(value) > most:
            raise Misshapen(f"must be less than {most + 1} characters", where)

    return check


def boolean(value: object, where: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise Misshapen("must be a boolean", where)


def number(least: int, most: int) -> Check:
    """A whole number."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Misshapen(f"must be a number from {least} to {most}", where)

    return check


def one_of(*allowed: str) -> Check:
    """One of these words."""

    def check(value: object, where: str) -> None:
        if value not in allowed:
            raise Misshapen(f"must be one of {', '.join(allowed)}", where)

    return check


def listing(each: Check, most: int, least: int = 1) -> Check:
    """So many of something."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, list):
            raise Misshapen("must be an array", where)
        items = cast("list[object]", value)
        if not least <= len(items) <= most:
            raise Misshapen(f"must have from {least} to {most} items", where)
        for index, item in enumerate(items):
            each(item, f"{where}/{index}")

    return check


def shape(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these fields and no others. Its `type` is known to whoever asks."""
    known = {**required, **(optional or {})}

    def check(value: object, where: str) -> None:
        fields = an_object(value, where)
        for name in required:
            if name not in fields:
                raise Misshapen(f"missing required field: {name}", where)
        for name, item in fields.items():
            if name == "type" and "type" not in known:
                continue
            if name not in known:
                raise Misshapen(f"no more properties are allowed: {name}", where)
            known[name](item, f"{where}/{name}")

    return check


def one_field(each: Check, *names: str) -> Check:
    """An object that has exactly one of these fields."""

    def check(value: object, where: str) -> None:
        each(value, where)
        given = [name for name in names if name in an_object(value, where)]
        if len(given) != 1:
            raise Misshapen(f"must have one of {', '.join(names)}, and has {len(given)} of them", where)

    return check


def by_type(kinds: Mapping[str, Check]) -> Check:
    """An object whose `type` says what it has."""

    def check(value: object, where: str) -> None:
        kind = an_object(value, where).get("type")
        if not isinstance(kind, str) or kind not in kinds:
            raise Misshapen(f"unsupported type: {kind}", f"{where}/type")
        kinds[kind](value, where)

    return check


def anything(value: object, where: str) -> None:
    """What this server does not look into."""


def an_object(value: object, where: str) -> dict[str, object]:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise Misshapen("must be an object", where)
    return cast("dict[str, object]", value)
