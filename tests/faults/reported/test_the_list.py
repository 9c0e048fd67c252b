"""`docs/faults.md` names tests that exist, and every row either has one or says what it comes with."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
LIST = TESTS.parent / "docs" / "faults.md"
ROWS = [line for line in LIST.read_text().splitlines() if line.startswith("| [")]
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


@cache
def names_in(file: Path) -> set[str]:
    """The names of the tests of a file, read and not run."""
    return {
        node.name
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_the_list_is_read() -> None:
    assert len(ROWS) >= 50
    assert sum(bool(NAMED.search(row)) for row in ROWS) >= 40


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[3:60])
def test_each_row_names_tests_that_exist_or_says_what_it_comes_with(row: str) -> None:
    named = NAMED.findall(row)
    assert row.count(".py") == len(named), "a name is spelled so that nobody looks for it"
    assert named or re.search(r"\bcomes? with \w+|\bthe same\b", row)
    for file, name in named:
        assert name in names_in(TESTS / file), f"there is no {file}::{name}"
