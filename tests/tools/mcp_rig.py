"""A service whose tools come from MCP servers, which are real programs or listen at a real address."""

import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bot.settings import Settings
from bot.toolkit import put
from bot.tools.mcp.servers import Servers
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def program(folder: Path, *more: str, **also: object) -> dict[str, Any]:
    """The settings of the misbehaving server, as a program."""
    args = ["-m", "tests.wire.mcp.program", str(folder), *more]
    return {"command": sys.executable, "args": args, "env": {"PYTHONPATH": str(ROOT)}} | also


class McpRig:
    """Makes the service of a test, and ends what belongs to it."""

    def __init__(self, make: MakeRig) -> None:
        self._make, self._stack = make, AsyncExitStack()

    async def __call__(self, mcp: Mapping[str, Any], **settings: object) -> Rig:
        """A service with these servers, once it knows their tools."""
        self.rig = await self._make(settings=Settings.model_validate({"mcp": mcp, **settings}))
        await self.connect()
        return self.rig

    async def connect(self) -> None:
        """Be connected with the servers, as a new process is."""
        rig = self.rig
        self.servers = Servers(rig.settings.mcp, lambda name, tools: put(rig.desk.toolbox, rig.settings, name, tools))
        await self._stack.enter_async_context(self.servers.running())

    async def end(self) -> None:
        """Leave the servers, which end with it."""
        await self._stack.aclose()
