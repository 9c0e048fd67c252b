"""Sizes as they are written in settings: `10MiB`, `512KiB`, `1GiB`; and as people read them."""

import re
from typing import Annotated

from pydantic import BeforeValidator

UNITS = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "B": 1}
LARGEST = 512 * UNITS["MiB"]
"""In bytes; what the store can take as one value in one go, with room to spare."""
_PATTERN = re.compile(rf"([0-9]{{1,12}}) ?({'|'.join(UNITS)})")


def size(value: object) -> int:
    """The bytes that `value` stands for: a whole number with a unit, or 0, which needs none.

    Raises `ValueError` for anything else, and for more than `LARGEST`. A bare number is refused, since it does not say
    of what.
    """
    if value == "0" or (type(value) is int and value == 0):
        return 0
    match = _PATTERN.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f'{repr(value)[:40]} is not a size; write it like "10MiB" or "512KiB", or 0')
    number = int(match[1]) * UNITS[match[2]]
    if number > LARGEST:
        raise ValueError(f"{repr(value)[:40]} is larger than {size_text(LARGEST)}")
    return number


def size_text(number: int) -> str:
    """So many bytes in the largest unit that leaves a whole number: `10 MiB`, `1,234 B`."""
    unit = next((unit for unit, bytes in UNITS.items() if number >= bytes and number % bytes == 0), "B")
    return f"{number // UNITS[unit]:,} {unit}"


Size = Annotated[int, BeforeValidator(size)]
"""A setting that is written as text and used as a number of bytes."""
