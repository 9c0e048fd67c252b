"""Code fences in Markdown, as far as cutting a text in pieces must know them."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Any indentation: models put fences inside list items, where they are as live as at the margin.
_FENCE = re.compile(r"([ \t]*)(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)")


@dataclass(frozen=True, slots=True)
class Fence:
    """An open fence: the line that opened it, and the line that would close it."""

    opening: str
    closing: str

    def closed_by(self, line: str) -> bool:
        """Whether `line` (without line feed) closes this fence: the same mark, as long or longer, alone."""
        found = _FENCE.fullmatch(line)
        return found is not None and found[2].startswith(self.closing.strip()) and not found[3].strip()


def is_fence(line: str, widest: int) -> bool:
    """Whether `line` opens or closes a fence. One of more than `widest` characters is taken as text.

    Nobody writes such a line to show code, and repeating it on every piece would leave no room for the text.
    """
    return len(line) <= widest and _FENCE.fullmatch(line) is not None


def after_line(fence: Fence | None, line: str, widest: int) -> Fence | None:
    """What is open after `line`, when `fence` was open before it."""
    if not is_fence(line, widest):
        return fence
    if fence is not None:
        return None if fence.closed_by(line) else fence
    found = _FENCE.fullmatch(line)
    return Fence(opening=line, closing=found[1] + found[2]) if found else None
