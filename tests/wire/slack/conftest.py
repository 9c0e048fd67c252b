from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.wire.slack.clients import Client, web_client
from tests.wire.slack.server import SlackServer


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK goes through the environment's proxy whatever the address."""
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """A workspace with the app in it, and nobody else yet."""
    async with SlackServer() as server:
        yield server


@pytest.fixture
def client(slack: SlackServer) -> Client:
    """The real client, with the app's token and no retrying."""
    return web_client(slack)
