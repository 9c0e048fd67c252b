"""Text in which no character means anything, for what somebody decides on.

Discord shows whatever it is given as Markdown, also in an embed. A backslash takes the meaning from the mark behind it.
https://support.discord.com/hc/en-us/articles/210298617
"""

from __future__ import annotations

import re

_MARK = re.compile(r"[\\`*_~|<\[\]@]|:(?=//)|^[#>-]|(?<=^\d)\.|(?<=^\d\d)\.", re.MULTILINE)
_FENCE = "```"


def literally(text: str) -> str:
    """`text` so that it is seen as it is: no markup, no mention, no time, no link."""
    return _MARK.sub(r"\\\g<0>", text)


def fenced(text: str) -> str:
    """`text` in a code block. What would end the block is written as notation."""
    return f"{_FENCE}\n{text.replace(_FENCE, '``⟨U+0060⟩')}\n{_FENCE}"


def fenced_pieces(text: str, most: int) -> list[str]:
    """`text` in parts of which each, in a code block, measures `most` UTF-16 units at the most; one at the least."""
    pieces: list[str] = []
    at = 0
    while at < len(text) or not pieces:
        low, high = at + 1, max(min(len(text), at + most), at + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if _units(fenced(text[at:middle])) <= most else (low, middle - 1)
        pieces.append(text[at:low])
        at = low
    return pieces


def as_shown(text: str, most: int) -> tuple[str, bool]:
    """`text` literally, cut where that is longer than `most` UTF-16 units; and whether nothing was cut."""
    whole = literally(text)
    if _units(whole) <= most:
        return whole, True
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _units(literally(text[:middle])) < most else (low, middle - 1)
    return f"{literally(text[:low])}…", False


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
