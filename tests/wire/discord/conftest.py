from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.wire.discord.clients import Bot, logged_in, point, running
from tests.wire.discord.server import DiscordServer


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here goes through the environment's proxy."""
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def discord(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DiscordServer]:
    """A guild with the bot in it, and nobody else yet; every client of the test goes there."""
    async with DiscordServer() as server:
        point(monkeypatch, server)
        yield server


@pytest.fixture
async def bot(discord: DiscordServer) -> AsyncIterator[Bot]:
    """The real client, connected."""
    async with running(discord, Bot()) as client:
        yield client


@pytest.fixture
async def client(discord: DiscordServer) -> AsyncIterator[Bot]:
    """The real client over HTTP alone."""
    async with logged_in(discord) as client:
        yield client
