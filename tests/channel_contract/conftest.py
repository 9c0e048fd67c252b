from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.channel_contract.rigs import RIGS, ConsoleRig, Rig, console_rig


@pytest.fixture(params=sorted(RIGS))
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """Each channel in turn, not yet started."""
    name: str = request.param
    async with RIGS[name]() as made:
        yield made


@pytest.fixture
async def console() -> AsyncIterator[ConsoleRig]:
    """The console alone, for what only a terminal does."""
    async with console_rig() as made:
        yield made
