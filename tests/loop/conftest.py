from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.settings import Settings
from channels.memory import MemoryChannel
from tests.loop.rig import Rig
from tests.loop.scripted import Line, ScriptedModel

MakeRig = Callable[..., Awaitable[Rig]]


@pytest.fixture
async def make_rig(tmp_path: Path) -> AsyncIterator[MakeRig]:
    """Makes a service on a file of its own, with the lines its model will say."""
    made: list[Rig] = []

    async def make(*script: Line, settings: Settings | None = None, channel: MemoryChannel | None = None) -> Rig:
        rig = Rig(tmp_path / f"{len(made)}.db", ScriptedModel(*script), settings=settings, channel=channel)
        await rig.open()
        made.append(rig)
        return rig

    yield make
    for rig in made:
        await rig.kill()


@pytest.fixture
async def rig(make_rig: MakeRig) -> Rig:
    """A service with an empty script."""
    return await make_rig()
