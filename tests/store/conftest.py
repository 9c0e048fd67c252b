"""What the tests of the store share beyond `tests/conftest.py`."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from casestore.db import Store
from casestore.migrate import open_store


@pytest.fixture
async def beside(store: Store, db: Path, nonce: Callable[[], str]) -> AsyncIterator[Store]:
    """The same file, opened as the CLI does beside a service."""
    opened = await open_store(db, nonce, serves=False)
    yield opened
    await opened.close()
