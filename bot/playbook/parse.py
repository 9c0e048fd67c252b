"""Reading playbooks from files: the operator's first, then the bundled ones."""

import difflib
import importlib.resources
import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from bot.playbook.book import Call, Line, Match, Playbook, Step

PARTS: dict[str, type[BaseModel]] = {"step": Step, "calls": Call, "say": Line, "match": Match}


class PlaybookError(Exception):
    """A playbook cannot be used; the text names the file and the key, and says what to change."""


def load_playbooks(paths: Sequence[Path] = ()) -> tuple[Playbook, ...]:
    """All playbooks, in the order in which they are tried.

    `paths` are the operator's TOML files, or directories of them (taken by name). An operator's playbook with the
    name of a bundled one replaces it. Raises `PlaybookError`.
    """
    loaded: dict[str, Playbook] = {}
    origin: dict[str, Path] = {}
    for path in paths:
        for file in _files(path):
            try:
                text = file.read_bytes()
            except OSError as error:
                raise PlaybookError(f"{file}: it cannot be read: {error.strerror}") from None
            book = parse(text, str(file))
            if book.name in loaded:
                raise PlaybookError(f"{file}: name {book.name!r} is already taken by {origin[book.name]}")
            loaded[book.name], origin[book.name] = book, file
    for book in bundled():
        loaded.setdefault(book.name, book)
    return tuple(loaded.values())


def bundled() -> tuple[Playbook, ...]:
    """The playbooks that come with the program."""
    files = importlib.resources.files("bot").joinpath("playbooks").iterdir()
    found = sorted((file for file in files if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(parse(file.read_bytes(), file.name) for file in found)


def parse(content: bytes, source: str) -> Playbook:
    """One playbook from the bytes of a TOML file; `source` names it in errors. Raises `PlaybookError`."""
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise PlaybookError(f"{source}: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise PlaybookError(f"{source}: it is not TOML: {error}") from None
    try:
        return Playbook.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise PlaybookError(f"{source}: {_sentence(first['loc'], first['type'], first['msg'])}") from None


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.toml"))
    if path.exists():
        return [path]
    raise PlaybookError(f"{path}: there is no such file or directory; correct paths under [playbooks]")


def _sentence(location: tuple[int | str, ...], kind: str, message: str) -> str:
    words: list[str] = []
    part: type[BaseModel] = Playbook
    for step in location:
        if isinstance(step, int):
            words[-1] = f"{words[-1]} {step + 1}"
        else:
            words.append(step)
            part = PARTS.get(step, part)
    if kind == "extra_forbidden":
        known = sorted(field.alias or name for name, field in part.model_fields.items())
        known += ["call", "args", "as"] if part is Step else []
        near = difflib.get_close_matches(words[-1], known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
        return f"{_place(words[:-1])}unknown key {words[-1]!r}; {hint}"
    if kind == "missing":
        return f"{_place(words[:-1])}the key {words[-1]!r} is missing"
    return f"{_place(words)}{message.removeprefix('Value error, ')}"


def _place(words: list[str]) -> str:
    return f"{', '.join(words)}: " if words else ""
