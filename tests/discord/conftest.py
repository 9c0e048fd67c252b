from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.clock import SystemClock
from tests.discord.household import Household
from tests.wire.discord.server import DiscordServer


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    """The service is running and Discord has connected."""
    async with DiscordServer(at=SystemClock().now() / 1_000) as discord:
        made = Household(discord, tmp_path / "c.db")
        await made.open()
        yield made
        await made.close()
