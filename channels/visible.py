"""What the eye cannot see, made visible; what acts on a screen, made still.

`visible` is for what somebody decides on: every character without a shape of its own is written as notation,
so that what is read is what is there. `inert` is for conversation: only what would act on the screen that
shows it (terminal sequences, text direction) is written so; joiners and wide spaces that languages need stay.
Both leave line feeds and tabs alone, and both may be applied twice without harm.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Annotated

from pydantic import BeforeValidator

from channels.storable import notation

# Acts on a screen: C0 but tab and line feed, DEL, C1, the marks, embeddings, overrides and isolates of text
# direction, line and paragraph separators; and lone surrogates, which no screen can be given at all.
_LIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_PLAIN = re.compile(r"[^\x20-\x7e\n\t]")
_SHAPELESS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})

# Unicode gives these a category of visible characters, and fonts give them no shape: fillers, joiners,
# variation selectors, blank symbols. The last range is the one that smuggles bytes behind an emoji.
_BLANK = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800),
    (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0x16FE4, 0x16FE4), (0x1D159, 0x1D159),
    (0xE0000, 0xE0FFF),
)  # fmt: skip

_EMOJI = (
    (0x2122, 0x2122), (0x2139, 0x2139), (0x203C, 0x203C), (0x2049, 0x2049), (0x2190, 0x21FF),
    (0x2300, 0x23FF), (0x24C2, 0x24C2), (0x25A0, 0x27BF), (0x2900, 0x297F), (0x2B00, 0x2BFF),
    (0x3030, 0x3030), (0x303D, 0x303D), (0x3297, 0x3299), (0xA9, 0xA9), (0xAE, 0xAE), (0x1F000, 0x1FAFF),
)  # fmt: skip

_JOINER, _TEXT_FORM, _EMOJI_FORM, _KEYCAP = "\u200d", "\ufe0e", "\ufe0f", "\u20e3"


def visible(text: str) -> str:
    """`text` with every invisible, blank, direction or control character written like `⟨U+202E⟩`.

    What joins or colours an emoji stays where it does just that; anywhere else it is shown. Spaces other than
    U+0020 are shown: an approver cannot tell them from it, a program can.
    """
    return _PLAIN.sub(_shown, text)


def inert(text: str) -> str:
    """`text` with nothing left in it that acts on the screen that shows it."""
    return _LIVE.sub(lambda found: notation(found[0]), text)


def one_line(text: str) -> str:
    """`visible`, and line feeds and tabs as notation too: for a value that has one line to stand in."""
    return visible(text).replace("\n", notation("\n")).replace("\t", notation("\t"))


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    if not _hidden(character) or _serves_emoji(found.string, found.start()):
        return character
    return notation(character)


@lru_cache(maxsize=4096)
def _hidden(character: str) -> bool:
    if _within(character, _BLANK):
        return True
    category = unicodedata.category(character)
    # An emoji newer than our Unicode tables is unassigned to us and still has a shape.
    return category in _SHAPELESS and not (category == "Cn" and _within(character, _EMOJI))


def _serves_emoji(text: str, at: int) -> bool:
    """Whether the joiner or selector at `at` stands where an emoji needs it."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if text[at] in (_TEXT_FORM, _EMOJI_FORM):
        return _is_emoji(before) or (after == _KEYCAP and before != "" and before in "#*0123456789")
    if text[at] != _JOINER or not _is_emoji(after):
        return False
    return _is_emoji(before) or (before == _EMOJI_FORM and _is_emoji(text[at - 2 : at - 1]))


def _is_emoji(character: str) -> bool:
    return character != "" and _within(character, _EMOJI)


def _within(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in ranges)


def _made_visible(value: object) -> object:
    return visible(value) if isinstance(value, str) else value


def _made_inert(value: object) -> object:
    return inert(value) if isinstance(value, str) else value


Shown = Annotated[str, BeforeValidator(_made_visible)]
"""A model's string that somebody decides on: it cannot hold a character that is not seen."""

Inert = Annotated[str, BeforeValidator(_made_inert)]
"""A model's string that is said: it cannot hold a character that acts on a screen."""
