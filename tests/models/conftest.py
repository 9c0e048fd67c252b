"""A provider's server and the service that asks it, for each provider."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.models.rig import PROVIDERS, Asked, answering, settings_for
from tests.wire.anthropic.server import AnthropicServer
from tests.wire.google.server import GoogleServer
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import ModelServer


@pytest.fixture(params=list(PROVIDERS))
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[ModelServer]:
    """The server of each provider in turn."""
    async with PROVIDERS[str(request.param)]() as server:
        yield server


@pytest.fixture
async def asked(provider: ModelServer, db: Path) -> AsyncIterator[Asked]:
    """The service that asks it."""
    async with answering(db, settings_for(provider)) as rig:
        yield Asked(rig, provider)


@pytest.fixture
async def openai(db: Path) -> AsyncIterator[Asked]:
    """The service that asks OpenAI."""
    async with OpenAIServer() as server, answering(db, settings_for(server)) as rig:
        yield Asked(rig, server)


@pytest.fixture
async def anthropic(db: Path) -> AsyncIterator[Asked]:
    """The service that asks Anthropic."""
    async with AnthropicServer() as server, answering(db, settings_for(server)) as rig:
        yield Asked(rig, server)


@pytest.fixture
async def google(db: Path) -> AsyncIterator[Asked]:
    """The service that asks Google."""
    async with GoogleServer() as server, answering(db, settings_for(server)) as rig:
        yield Asked(rig, server)
