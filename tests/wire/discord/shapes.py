"""How the fields of a request are checked: a check takes a value and where it stands, and raises the refusal.

https://docs.discord.com/developers/reference#error-messages: the codes in capitals are Discord's own, as far as they
are known; nobody is to depend on them ("a complete list of errors is not feasible").
"""

from collections.abc import Callable, Mapping
from typing import cast

from tests.wire.discord.payload import Json, invalid, length

Check = Callable[[object, str], None]


def string(most: int, least: int = 0) -> Check:
    """A text of so many characters."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, str):
            raise invalid(where, "BASE_TYPE_STRING", "Must be a string.")
        if not least <= length(value) <= most:
            if least:
                raise invalid(where, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
            raise invalid(where, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")

    return check


def trimmed(most: int, least: int = 0) -> Check:
    """A text without the blanks around it. message#embed-object-embed-limits: those "are not included"."""
    inner = string(most, least)

    def check(value: object, where: str) -> None:
        inner(value.strip() if isinstance(value, str) else value, where)

    return check


def boolean(value: object, where: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise invalid(where, "BASE_TYPE_BOOLEAN", "Must be either true or false.")


def number(least: int, most: int) -> Check:
    """A whole number."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise invalid(where, "NUMBER_TYPE_COERCE", "Value is not an int.")
        if not least <= value <= most:
            raise invalid(where, "NUMBER_TYPE_RANGE", f"Value should be from {least} to {most}.")

    return check


def snowflake(value: object, where: str) -> None:
    """An id. …/reference#snowflakes: 64 bits, as text; a number is taken too."""
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).isdigit():
        raise invalid(where, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')


def one_of(*allowed: object) -> Check:
    """One of these values."""

    def check(value: object, where: str) -> None:
        if value not in allowed:
            raise invalid(where, "BASE_TYPE_CHOICES", f"Value must be one of {allowed}.")

    return check


def nullable(inner: Check) -> Check:
    """That, or null."""

    def check(value: object, where: str) -> None:
        if value is not None:
            inner(value, where)

    return check


def listing(each: Check, most: int, least: int = 0) -> Check:
    """So many of something."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, list):
            raise invalid(where, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")
        items = cast("list[object]", value)
        if not least <= len(items) <= most:
            raise invalid(where, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
        for index, item in enumerate(items):
            each(item, f"{where}.{index}")

    return check


def shape(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these fields. Discord ignores others in most places; here they are a spelling mistake."""
    known = {**required, **(optional or {})}

    def check(value: object, where: str) -> None:
        fields = an_object(value, where)
        for name in required:
            if name not in fields:
                raise invalid(f"{where}.{name}", "BASE_TYPE_REQUIRED", "This field is required")
        for name, item in fields.items():
            if name not in known:
                raise invalid(f"{where}.{name}", "UNKNOWN_FIELD", "This server knows no such field.")
            known[name](item, f"{where}.{name}")

    return check


def by_type(kinds: Mapping[int, Check]) -> Check:
    """An object whose `type` says what it has."""

    def check(value: object, where: str) -> None:
        kind = an_object(value, where).get("type")
        if not isinstance(kind, int) or kind not in kinds:
            raise invalid(f"{where}.type", "UNION_TYPE_CHOICES", f'Value of field "type" must be in {tuple(kinds)}.')
        kinds[kind](value, where)

    return check


def anything(value: object, where: str) -> None:
    """What this server does not look into."""


def an_object(value: object, where: str) -> Json:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise invalid(where, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType.")
    return cast("Json", value)
