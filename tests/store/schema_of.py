"""What a database really has, in a form in which two that mean the same are equal."""

import re
import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from casestore.migrate import statements

Shape = dict[str, tuple[str, ...]]


def shape_of_file(path: Path) -> Shape:
    """The tables, indexes and triggers of a file."""
    conn = sqlite3.connect(path)
    try:
        return _shape(conn)
    finally:
        conn.close()


def shape_of_schema_sql() -> Shape:
    """What `schema.sql` describes."""
    conn = sqlite3.connect(":memory:")
    try:
        for statement in statements(resources.files("casestore").joinpath("schema.sql").read_text()):
            conn.execute(statement)
        return _shape(conn)
    finally:
        conn.close()


def _shape(conn: sqlite3.Connection) -> Shape:
    rows = conn.execute("SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {name: tuple(_parts(sql)) for name, sql in rows}


def _parts(sql: str) -> list[str]:
    """Without comments and spaces; a table as its columns and constraints, in whatever order they were added."""
    bare = re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", sql)).strip()
    bare = re.sub(r"\s*([(),])\s*", r"\1", bare).replace('"', "")
    if not bare.startswith("CREATE TABLE"):
        return [bare]
    head, _, rest = bare.partition("(")
    body, _, tail = rest.rpartition(")")
    return [head, tail, *sorted(_split(body))]


def _split(body: str) -> Iterator[str]:
    depth, part = 0, ""
    for character in body:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield part
            part = ""
        else:
            part += character
    yield part
