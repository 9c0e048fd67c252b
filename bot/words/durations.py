"""Durations as they are written in settings: `24h`, `10m`, `90d`, `1h30m`, `45s`, `250ms`."""

import re
from typing import Annotated

from pydantic import BeforeValidator

UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
PATTERN = re.compile("".join(rf"(?:([0-9]+){unit})?" for unit in UNITS))
LONGEST_MS = 3_650 * UNITS["d"]


def duration(text: object) -> int:
    """The milliseconds that `text` stands for: whole numbers with units, the largest first, each at most once.

    Raises `ValueError` for anything else, for nothing at all, and for more than ten years. A bare number is
    refused too, since it does not say of what.
    """
    match = PATTERN.fullmatch(text) if isinstance(text, str) else None
    if not match or not match[0]:
        raise ValueError(f'{_short(text)} is not a duration; write it like "24h", "10m", "1h30m", "45s" or "250ms"')
    if any(len(number or "") > 15 for number in match.groups()):
        raise ValueError(f"{_short(text)} is longer than ten years")
    ms = sum(int(number) * unit for number, unit in zip(match.groups(), UNITS.values(), strict=True) if number)
    if ms == 0:
        raise ValueError(f"{_short(text)} is no time at all; a duration is longer than nothing")
    if ms > LONGEST_MS:
        raise ValueError(f"{_short(text)} is longer than ten years")
    return ms


def duration_text(ms: int) -> str:
    """The text that `duration` reads as `ms`, which is above zero: `1h30m`."""
    parts: list[str] = []
    for name, unit in UNITS.items():
        count, ms = divmod(ms, unit)
        if count:
            parts.append(f"{count}{name}")
    return "".join(parts)


Duration = Annotated[int, BeforeValidator(duration)]
"""A setting that is written as text and used as integer milliseconds."""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
