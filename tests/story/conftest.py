"""A folder for an installation, whose processes end with the test."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from installation import Installation


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[[str], Installation]]:
    """Make an installation with these settings."""
    made: list[Installation] = []

    def make(settings: str = "") -> Installation:
        made.append(Installation(tmp_path, settings))
        return made[-1]

    yield make
    for installation in made:
        installation.stop()
