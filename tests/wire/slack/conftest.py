from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack.server import BOT_TOKEN, SlackServer


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """A workspace with the app in it, and nobody else yet."""
    async with SlackServer() as server:
        yield server


@pytest.fixture
def client(slack: SlackServer) -> AsyncWebClient:
    """The real client, with the app's token and no retrying."""
    return AsyncWebClient(BOT_TOKEN, base_url=slack.api_url, retry_handlers=[])
