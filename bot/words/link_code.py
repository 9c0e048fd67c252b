"""How a one-time code for an account is written, and how one is known in a text that it should not be in.

`CB-7K3M-Q9XT-2VHB-D4NR`: sixteen of thirty-two letters, 80 bits. None of them is mistaken for another, and what people
read as one is taken for it. It begins with `CB-`, so that an ordinary number is never taken for a code.
"""

import re

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
COUNT = 16

_CODE = re.compile(r"(?<![0-9a-z])cb-(?:[0-9a-z]{4}-?){3}[0-9a-z]{4}(?![0-9a-z])", re.IGNORECASE)
_COMMAND = re.compile(r"/case\s+link\b", re.IGNORECASE)
_READ_AS = str.maketrans("OIL", "011")


def written(letters: str) -> str:
    """A code as it is shown."""
    return "-".join(["CB", *(letters[at : at + 4] for at in range(0, COUNT, 4))])


def read(text: str) -> str:
    """The code that somebody typed, as it was shown: case, blanks and dashes are theirs to choose."""
    plain = re.sub(r"[\s-]", "", text).upper()
    return written(plain.removeprefix("CB").translate(_READ_AS))


def codes_in(text: str) -> list[str]:
    """Whatever in a text has the form of a code, as it was shown. Whether there is such a code is not looked at."""
    return [read(found) for found in _CODE.findall(text)]


def is_out_of_place(text: str) -> bool:
    """Whether a message has a code in it, or is meant to be the command that has one."""
    return _CODE.search(text) is not None or _COMMAND.match(text.strip()) is not None


def left_out(text: str, instead: str) -> str:
    """The text without what has the form of a code."""
    return _CODE.sub(instead, text)
