"""Signs: what a person sees as one character may be many, an emoji family or a flag, and is not cut apart."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

JOINER = "\u200d"
LONGEST = 64
"""How many characters are taken for one sign at most: what goes on for longer is no sign that anybody sees."""


def within(text: str, at: int) -> bool:
    """Whether the characters before and after `at`, inside of `text`, make one sign."""
    before, after = text[at - 1], text[at]
    if before == JOINER or _continues(after):
        return True
    if not (_is_regional(before) and _is_regional(after)):
        return False
    first = at
    while first > 0 and _is_regional(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def beginning(text: str, most: int, measure: Callable[[str], int] = len) -> str:
    """As much of the text's beginning as measures `most` at most, of whole signs. `measure` never less than `len`."""
    end = min(len(text), max(most, 0))
    while end > 0 and measure(text[:end]) > most:
        end -= max((measure(text[:end]) - most) // 2, 1)
    if end == len(text):
        return text
    return text[: next((at for at in range(end, max(0, end - LONGEST), -1) if not within(text, at)), end)]


def ending(text: str, most: int) -> str:
    """As much of the text's end as has `most` characters at most, of whole signs."""
    start = max(0, len(text) - most)
    if start in (0, len(text)):
        return text[start:]
    return text[next((at for at in range(start, min(len(text), start + LONGEST)) if not within(text, at)), start) :]


def _continues(character: str) -> bool:
    """Whether the character only changes the one before it: a mark, joiner, skin tone, tag, Hangul vowel."""
    return (
        character == JOINER
        or unicodedata.category(character) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or "\u1160" <= character <= "\u11ff"
    )


def _is_regional(character: str) -> bool:
    """Half of a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"
