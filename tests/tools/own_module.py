"""Tools that an installation writes itself, in a module of the folder of a test, and a service that offers them."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.settings import Settings
from bot.toolkit import toolbox
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig

Write = Callable[[str], Settings]
HEAD = "import asyncio, sys\nfrom bot.tools import Tier, ToolFailed, tool\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes `my_tools.py`; the settings that name it."""

    def written(text: str) -> Settings:
        monkeypatch.delitem(sys.modules, "my_tools", raising=False)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        (tmp_path / "my_tools.py").write_text(text, "utf-8")
        return Settings.model_validate({"python": {"module": "my_tools", "path": tmp_path}})

    return written


async def served(make_rig: MakeRig, settings: Settings) -> Rig:
    rig = await make_rig(settings=settings)
    rig.tools = dict(toolbox(settings, {}, rig.clock.now).tools)
    await rig.restart()
    return rig
