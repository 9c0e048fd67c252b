"""A command as it was typed: `/case take C-1042`."""

import re
from dataclasses import dataclass

from channels.address import Address

_CASE = re.compile(r"(?:[cC]-)?([0-9]{1,18})")
_ALIASES = {"/cases": "/case list", "/gates": "/gate list"}


@dataclass(frozen=True, slots=True)
class Line:
    """`noun` without its slash, `verb` (`help` where there is none), and the `rest` of the line as it is.

    `at` is where it was typed, which may be a thread or a room.
    """

    noun: str
    verb: str
    rest: str
    at: Address

    def numbered(self) -> tuple[int | None, str]:
        """The case that `rest` begins with, and what follows; None where it begins with no case."""
        first, _, others = self.rest.partition(" ")
        found = _CASE.fullmatch(first)
        return (None, self.rest) if found is None else (int(found[1]), others.strip())


def read(text: str, at: Address) -> Line:
    """What was typed, in its parts."""
    first, _, others = text.strip().partition(" ")
    typed = " ".join(f"{_ALIASES.get(first.lower(), first)} {others}".split(" "))
    noun, verb, rest = (*typed.strip().split(maxsplit=2), "", "")[:3]
    return Line(noun.lower().removeprefix("/"), verb.lower() or "help", rest.strip(), at)
