"""What is imported is declared, what is declared is imported, and each has its line in docs/dependencies.md."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OURS = ("bot", "casestore", "channels")
DOCS = ROOT / "docs" / "dependencies.md"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME: list[str] = PROJECT["project"]["dependencies"]
CLIENTS: list[str] = [one for extra in PROJECT["project"]["optional-dependencies"].values() for one in extra]
DEV: list[str] = PROJECT["dependency-groups"]["dev"]
NOT_PACKAGES = {*OURS, "tests", "bench", "installation"}
"""The last is a module beside the tests that import it."""
WITH_AN_EXTRA = {"google": "pydantic-ai-slim"}
"""The client of a provider is declared as the extra of pydantic-ai that knows its version."""


def test_what_the_service_imports_is_declared_and_what_is_declared_is_imported() -> None:
    assert _distributions(OURS) == _names(RUNTIME)


def test_what_the_tests_and_the_benchmark_import_is_declared() -> None:
    assert _distributions(("tests", "bench")) <= _names(RUNTIME) | _names(DEV)


def test_each_declared_package_has_its_line_and_no_other_has_one() -> None:
    tables = [_rows(section) for section in DOCS.read_text().split("\n## ")[1:]]
    install: list[str] = PROJECT["dependency-groups"]["install"]

    assert tables == [_written(names) for names in (RUNTIME, CLIENTS, install, DEV)]


def _distributions(folders: Iterable[str]) -> set[str]:
    """The packages that the modules in these folders import, at any place in them."""
    known = packages_distributions()
    tops = {name for folder in folders for path in (ROOT / folder).rglob("*.py") for name in _imported(path)}
    return {WITH_AN_EXTRA.get(top) or _plain(known[top][0]) for top in tops - sys.stdlib_module_names - NOT_PACKAGES}


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module.partition(".")[0]


def _names(declared: Iterable[str]) -> set[str]:
    return {_plain(re.split(r"[\[<>=]", one)[0]) for one in declared}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _written(declared: Iterable[str]) -> list[str]:
    return [re.split(r"[<>=]", one)[0] for one in declared]


def _rows(section: str) -> list[str]:
    return re.findall(r"^\| (?!package|---)(\S+) \|", section, re.MULTILINE)
