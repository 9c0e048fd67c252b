"""Text made fit to be sent: inert, escaped once, measured after that, and only then split.

The door to everything about text. `pieces` is for what is said; `visible` for what is decided on; `storable`
for what comes in.
"""

from __future__ import annotations

from channels.cut import Cut, cut
from channels.signs import beginning, ending
from channels.storable import original, storable
from channels.style import STYLES, Style, style_for
from channels.visible import inert, one_line, visible

__all__ = [
    "STYLES",
    "Cut",
    "Style",
    "beginning",
    "cut",
    "ending",
    "inert",
    "one_line",
    "original",
    "pieces",
    "prepared",
    "storable",
    "style_for",
    "visible",
]


def prepared(style: Style, text: str) -> str:
    """`text` as the channel may show it, still in one. Line ends become line feeds. Not to be done twice."""
    return style.escape(inert(text.replace("\r\n", "\n")))


def pieces(style: Style, text: str) -> list[str]:
    """`text` as the messages that carry it, in order, each measuring `style.limit` at most.

    Nothing is lost: but for fences that were closed and opened again, the pieces add up to the prepared text;
    only a piece that would be blank is left out, as platforms refuse it. Blank text gives no pieces.
    """
    return [part.piece for part in cut(style, prepared(style, text)) if part.piece.strip()]
