"""What is printed. Text on stdout, still and safe for any terminal; one JSON document where a script asks for it.

A reader who has seen enough and goes away (`| head`) is no error.
"""

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

from pydantic import JsonValue

from channels.fences import after_line
from channels.text import inert, one_line

WIDEST, NARROWEST = 100, 60
_BARRED = re.compile(r".{11}(\S+ +)?\| ")


def say(text: str = "") -> None:
    """Text, with nothing in it that acts on the terminal. What its encoding lacks is written as escapes."""
    encoding = _encoding()
    _write(inert(text).encode(encoding, "backslashreplace").decode(encoding))


def document(value: JsonValue) -> None:
    """One JSON document."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False)
    _write(text)


def width() -> int:
    """How many columns a text may take: those of the terminal, within what reads well."""
    return max(NARROWEST, min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows under a head, columns aligned; the last, which holds the free text, is cut where a terminal ends."""
    lines = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 1)]
    left = max(width() - sum(widths) - 2 * len(widths), 20) if sys.stdout.isatty() else None
    for *cells, last in lines:
        shown = last if left is None else short(last, left)
        say("  ".join([*(f"{cell:<{wide}}" for cell, wide in zip(cells, widths, strict=True)), shown]).rstrip())


def short(text: str, most: int) -> str:
    """The text on one line, cut to `most` characters."""
    line = one_line(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def block(text: str, *, first: str = "", indent: str = "", wide: int | None = None) -> list[str]:
    """The text's lines wrapped: the first behind `first`, all others behind `indent`. Lines stay lines."""
    lines: list[str] = []
    for line in inert(text).replace("\t", "    ").split("\n") or [""]:
        lead = indent if lines else first
        lines += textwrap.wrap(
            line, wide or width(), initial_indent=lead, subsequent_indent=_under(line, indent),
            break_on_hyphens=False, drop_whitespace=True, replace_whitespace=False,
        ) or [lead.rstrip()]  # fmt: skip
    return lines


def fitted(text: str) -> str:
    """What is said in a conversation: in a terminal wrapped between words, but for code, which is copied from there."""
    if not sys.stdout.isatty():
        return text
    lines: list[str] = []
    fence = None
    for line in text.split("\n"):
        after = after_line(fence, line, width())
        lines += [line] if fence or after else block(line)
        fence = after
    return "\n".join(lines)


def row_of_card(line: str) -> list[str]:
    """One line of a card, wrapped: it goes on behind its bar, or deeper than any row begins, to pass for none (R23)."""
    barred = _BARRED.match(line)
    return block(line, indent=" " * 15 if barred is None else " " * (barred.end() - 2) + "| ")


def _under(line: str, indent: str) -> str:
    """Where a wrapped line goes on: an item of a list under its own text."""
    return indent + ("  " if line.startswith(("- ", "* ")) else "")


def _encoding() -> str:
    return sys.stdout.encoding or "utf-8"


def nobody_reads() -> None:
    """Whatever else is written goes nowhere, and the interpreter has nothing to complain of at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str) -> None:
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        nobody_reads()
