"""The benchmark of a tool on an MCP server really calls one there, beside the same tool as a function."""

import sqlite3
from contextlib import closing
from pathlib import Path

from bench import mcp
from bench.mcp import Plan


def looks(db: Path) -> list[tuple[str, str]]:
    """Each version of the free tool that was called, and how its calls ended."""
    with closing(sqlite3.connect(db)) as conn:
        return conn.execute(
            "SELECT DISTINCT tool_version, state FROM steps WHERE kind = 'tool' AND tool = 'bench.look'"
        ).fetchall()


async def test_one_kind_of_turn_looks_by_a_function_and_the_other_by_the_server(tmp_path: Path) -> None:
    whole, more = await mcp.measure(tmp_path, Plan(2))

    assert (whole.n, more.n) == ("2", "2")
    ((function, one),) = looks(tmp_path / "function.db")
    ((server, other),) = looks(tmp_path / "mcp.db")
    assert function != server
    assert (one, other) == ("finished", "finished")
