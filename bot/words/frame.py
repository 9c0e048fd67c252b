"""The frame around text from outside: the model sees who said it, and no text can be taken for a line of somebody else.

What people and alerts say follows the name of the speaker, and each further line of it begins with `| `. What a tool
wrote has `| ` in front of every line. So a line without it is the engine's, whatever else a text contains (R23). In
JSON a line end is written `\\n`, which is frame enough; three that JSON leaves as they are get the `| ` there too.
"""

import re
from collections.abc import Mapping
from typing import cast

_MARK = "| "
_ENDS = r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
"""Whatever Unicode, or a program that reads by lines, takes for the end of one."""
_BARE_IN_JSON = r"[\x85\u2028\u2029]"

_END, _MARKED = re.compile(f"({_ENDS})"), re.compile(f"({_ENDS}){re.escape(_MARK)}")
_BARE, _BARE_MARKED = re.compile(f"({_BARE_IN_JSON})"), re.compile(f"({_BARE_IN_JSON}){re.escape(_MARK)}")
_ODD_IN_A_NAME = re.compile(r"[\s\x00-\x1f\x7f-\x9f():|]+")


def framed(text: str) -> str:
    """Text that stands behind its speaker's name; `unframed` gives it back exactly."""
    return _END.sub(rf"\1{_MARK}", text)


def unframed(text: str) -> str:
    """The text that `framed` was given."""
    return _MARKED.sub(r"\1", text)


def quoted(text: str) -> str:
    """Text that a tool wrote; nothing of it stands in front of its first `| `."""
    return f"{_MARK}{framed(text)}"


def value(found: object) -> object:
    """A value that JSON can say, as a tool returned it: a text is `quoted`, what has structure keeps it."""
    return quoted(found) if isinstance(found, str) else _each_text(found, _BARE, rf"\1{_MARK}")


def original(shown: object) -> object:
    """What `value` was given; words of the engine's own are left as they are."""
    if isinstance(shown, str):
        return unframed(shown.removeprefix(_MARK))
    return _each_text(shown, _BARE_MARKED, r"\1")


def name(text: str) -> str:
    """A name that is not ours to choose, as one word in which no role and no end of the name can be written."""
    return _ODD_IN_A_NAME.sub("_", text)


def _each_text(found: object, pattern: re.Pattern[str], by: str) -> object:
    match found:
        case str():
            return pattern.sub(by, found)
        case list():
            return [_each_text(one, pattern, by) for one in cast("list[object]", found)]
        case Mapping():
            items = cast("Mapping[object, object]", found).items()
            return {pattern.sub(by, str(key)): _each_text(one, pattern, by) for key, one in items}
        case _:
            return found
