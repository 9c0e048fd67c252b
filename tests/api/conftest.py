"""A service that answers HTTP, for every test here."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.rig import Served, served


@pytest.fixture
async def web(db: Path) -> AsyncIterator[Served]:
    """A fresh service, without any channel and without a token for alerts."""
    async with served(db) as found:
        yield found
