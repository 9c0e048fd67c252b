"""Text that any store and any encoder can hold, with nothing lost.

People, platforms and models send characters that UTF-8 cannot encode (lone surrogates) and one that SQLite's
own functions stop at (NUL). Each is replaced by a notation that a reader can see and a program can undo:

    NUL                                     ⟨U+0000⟩
    a lone surrogate                        ⟨U+D800⟩ … ⟨U+DFFF⟩
    a "⟨" that begins such a notation       ⟨U+27E8⟩

The third line is what makes it reversible: text that only looks like the notation comes back as it was.
All other text is unchanged. Apply it once, where text enters.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

_CODE = r"U\+(?:0000|D[89A-F][0-9A-F]{2}|27E8)⟩"
_UNSTORABLE = re.compile(rf"[\x00\ud800-\udfff]|⟨(?={_CODE})")
_NOTATION = re.compile(rf"⟨{_CODE}")


def notation(character: str) -> str:
    """How one character is written when it cannot be shown as itself: `⟨U+202E⟩`."""
    return f"⟨U+{ord(character):04X}⟩"


def storable(text: str) -> str:
    """`text` with what cannot be stored written as notation. `original` undoes it exactly."""
    return _UNSTORABLE.sub(lambda found: notation(found[0]), text)


def original(text: str) -> str:
    """The text that `storable` was given."""
    return _NOTATION.sub(lambda found: chr(int(found[0][3:-1], 16)), text)


def _made_storable(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


Storable = Annotated[str, BeforeValidator(_made_storable)]
"""A model's string that makes itself storable, so that no adapter can forget to."""
