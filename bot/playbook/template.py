"""Templates: `{disk.percent}` puts a value in its place, and nothing else ever happens (R23).

A hole names one path, or several with ` or ` between them, and may end in `|default`. The first path that leads
to a value gives it. `{{` and `}}` are braces. What is put in is never read as a template again.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

HOLE = re.compile(r"(\{\{|\}\})|\{([^{}]*)\}|([{}])")
PATH = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z0-9_-]+)+")
MAX_SHOWN = 300

Scope = Mapping[str, object]
"""What templates and conditions may look at: `labels`, `alert`, and the results by their names."""


class Missing(Exception):
    """None of a hole's paths leads to a value; the text names them."""


@dataclass(frozen=True)
class Hole:
    """One place to fill."""

    paths: tuple[str, ...]
    default: str | None = None

    def value(self, scope: Scope) -> object:
        """The value of the first path that has one, else the default; raises `Missing`."""
        for path in self.paths:
            if (found := look_up(scope, path)) is not None:
                return found
        if self.default is None:
            raise Missing(" or ".join(self.paths))
        return self.default


def look_up(scope: Scope, path: str) -> object:
    """The value at a dotted path through objects and lists (by number, from the end if negative), or None."""
    at: object = scope
    for step in path.split("."):
        at = _inside(at, step)
    return at


def _inside(value: object, step: str) -> object:
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value).get(step)
    if isinstance(value, list) and re.fullmatch(r"-?[0-9]{1,4}", step):
        items, index = cast("list[object]", value), int(step)
        return items[index] if -len(items) <= index < len(items) else None
    return None


def pieces(template: str) -> Iterator[str | Hole]:
    """The literal texts and holes of a template, in order; raises `ValueError` for one that is not well formed."""
    at = 0
    for found in HOLE.finditer(template):
        yield template[at : found.start()]
        at = found.end()
        brace, inside, stray = found.groups()
        if stray:
            raise ValueError(f"{{ and }} have to come in pairs (write {stray}{stray} for a plain {stray})")
        yield brace[0] if brace else _hole(inside)
    yield template[at:]


def roots(template: object) -> Iterator[str]:
    """The first words of all paths in a template, or in all texts of a nested value."""
    if isinstance(template, str):
        for piece in pieces(template):
            if isinstance(piece, Hole):
                yield from (path.partition(".")[0] for path in piece.paths)
    elif isinstance(template, Mapping):
        for value in cast("Mapping[str, object]", template).values():
            yield from roots(value)
    elif isinstance(template, list):
        for value in cast("list[object]", template):
            yield from roots(value)


def fill(template: object, scope: Scope) -> object:
    """An argument with its holes filled. A text that is one hole keeps the value's type, so numbers stay numbers."""
    if isinstance(template, str):
        parts = [piece for piece in pieces(template) if piece != ""]
        if len(parts) == 1 and isinstance(parts[0], Hole):
            return parts[0].value(scope)
        return "".join(part if isinstance(part, str) else _exactly(part.value(scope)) for part in parts)
    if isinstance(template, Mapping):
        return {key: fill(value, scope) for key, value in cast("Mapping[str, object]", template).items()}
    if isinstance(template, list):
        return [fill(value, scope) for value in cast("list[object]", template)]
    return template


def write(lines: Sequence[str], scope: Scope) -> str:
    """Words for a person. A line with a value that is not there is left out; values are kept to one line."""
    written: list[str] = []
    for line in lines:
        try:
            parts = [p if isinstance(p, str) else shown(p.value(scope)) for p in pieces(line)]
        except Missing:
            continue
        written.append("".join(parts).rstrip())
    return "\n".join(written).strip()


def shown(value: object) -> str:
    """A value as it stands in a sentence: one line, bounded."""
    text = " ".join(_exactly(value).split())
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def _exactly(value: object) -> str:
    """A value inside other text, whole; a text as it is, 94.0 as 94."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _hole(inside: str) -> Hole:
    names, bar, default = inside.partition("|")
    paths = tuple(re.split(r"\s+or\s+", names.strip()))
    for path in paths:
        if not PATH.fullmatch(path):
            raise ValueError(f"{{{inside}}} is not a value's place, such as {{disk.percent}} or {{labels.job|none}}")
    return Hole(paths, default if bar else None)
