"""The arguments of a held call as lines of text of one width, as every rich surface lays them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from channels.card import Argument
from channels.style import utf16_units
from channels.visible import one_line

_COLUMN = 24


def lines(arguments: Sequence[Argument], left_out: int = 0) -> str:
    """Every argument, a line each or more, the values in a column; and how many are left out behind them."""
    rest = [f"… and {left_out} more"] if left_out else []
    return "\n".join([*_texts(arguments), *rest])


def fitting(
    arguments: Sequence[Argument], most: int, measure: Callable[[str], int] = utf16_units
) -> tuple[list[Argument], int]:
    """As many as there is room for, and how many are left out. `measure`: of one argument, as it will be shown."""
    shown: list[Argument] = []
    left = most
    for argument, text in zip(arguments, _texts(arguments), strict=True):
        left -= measure(text) + 1
        if left < 0:
            break
        shown.append(argument)
    return shown, len(arguments) - len(shown)


def _texts(arguments: Sequence[Argument]) -> Iterator[str]:
    names = [one_line(argument.name) for argument in arguments]
    column = min(max(map(len, names), default=0), _COLUMN)
    return (f"{name:<{column}}  {_value(one)}" for name, one in zip(names, arguments, strict=True))


def _value(argument: Argument) -> str:
    parts = [one_line(line) for line in argument.value.split("\n")]
    shown = parts[0] if len(parts) == 1 else "".join(f"\n  | {line}" for line in parts)
    if argument.length is not None:
        shown += f"   (first and last part of {argument.length:,} characters)"
    return f"{shown}   (was: {one_line(argument.was)})" if argument.was is not None else shown
