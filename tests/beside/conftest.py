from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.conftest import web
from tests.beside.talker import Talker
from tests.loop.conftest import make_rig
from tests.loop.rig import Rig
from tests.loop.scripted import ScriptedModel

__all__ = ["make_rig", "web"]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """A service with an empty script, whose model answers what is said while a call waits."""
    made = Rig(tmp_path / "talks.db", ScriptedModel(talks=True))
    await made.open()
    yield made
    await made.kill()


@pytest.fixture
def talker() -> Talker:
    """A model that talks and has yet to be told what it asks for."""
    return Talker()


@pytest.fixture
async def talking(tmp_path: Path, talker: Talker) -> AsyncIterator[Rig]:
    """A service with that model."""
    made = Rig(tmp_path / "talker.db", talker)
    await made.open()
    yield made
    await made.kill()
