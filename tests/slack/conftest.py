from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.slack.office import Office
from tests.wire.slack.server import SlackServer


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """The service is running and Slack has connected."""
    async with SlackServer() as slack:
        made = Office(slack, tmp_path / "c.db")
        await made.open()
        await slack.connected()
        yield made
        await made.close()
