"""Conditions: a path, an operator and a literal, such as `disk.percent >= 90` or `state.state != 'active'`.

A condition about something that is not there does not hold, whatever the operator.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from bot.playbook.template import PATH, Scope, look_up

FORM = re.compile(rf"\s*({PATH.pattern})\s*(==|!=|>=|<=|>|<|\bcontains\b)\s*(.+?)\s*")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True)
class Condition:
    """One comparison."""

    path: str
    operator: str
    literal: str | int | float | bool

    def holds(self, scope: Scope) -> bool:
        """Whether it is so, given the labels and the results that are in."""
        found = look_up(scope, self.path)
        if found is None:
            return False
        if self.operator == "contains":
            return _contains(found, self.literal)
        left, right = _comparable(found), _comparable(self.literal)
        if self.operator in ("==", "!="):
            return (left == right) is (self.operator == "==")
        if not isinstance(left, float) or not isinstance(right, float):
            return False
        return {">=": left >= right, "<=": left <= right, ">": left > right, "<": left < right}[self.operator]


def parse(text: str) -> Condition:
    """Read one condition; raises `ValueError` with a sentence."""
    found = FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a condition such as disk.percent >= 90 or state.state != 'active'")
    path, operator, literal = found.group(1), found.group(3), found.group(4)
    return Condition(path, operator, _literal(text, literal))


def all_hold(conditions: Iterable[str], scope: Scope) -> bool:
    """Whether every one of the conditions holds; no condition always holds."""
    return all(parse(text).holds(scope) for text in conditions)


def _literal(text: str, literal: str) -> str | int | float | bool:
    if len(literal) >= 2 and literal[0] == literal[-1] and literal[0] in "'\"" and literal[0] not in literal[1:-1]:
        return literal[1:-1]
    if literal in ("true", "false"):
        return literal == "true"
    if NUMBER.fullmatch(literal):
        return cast("int | float", json.loads(literal))
    raise ValueError(f"{text!r} has to end in a number, true, false or a text in quotes")


def _comparable(value: object) -> object:
    """Numbers as floats, also those that labels carry as text; true is not 1; everything else as it is."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | float) or (isinstance(value, str) and NUMBER.fullmatch(value)):
        return float(value)
    return value


def _contains(found: object, literal: str | int | float | bool) -> bool:
    if isinstance(found, str):
        return str(literal).casefold() in found.casefold()
    if isinstance(found, list):
        return any(_comparable(one) == _comparable(literal) for one in cast("list[object]", found))
    return False
