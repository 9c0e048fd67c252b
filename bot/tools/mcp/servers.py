"""The MCP servers of an installation, each with a task of its own."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from bot.settings.tools import Mcp
from bot.tools.mcp.server import Changed, Server

START_S = 10.0
"""How long a start waits for servers: one that is late is used once it is there."""


class Servers:
    """All of them, by name."""

    def __init__(self, settings: Mapping[str, Mcp], changed: Changed) -> None:
        self.all = {name: Server(name, one, changed) for name, one in sorted(settings.items())}

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Be connected until the block is left. It is entered once each has been tried, or `START_S` have passed."""
        tasks = [asyncio.create_task(one.run(), name=f"mcp {one.name}") for one in self.all.values()]
        try:
            await self._tried()
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _tried(self) -> None:
        waits = [asyncio.create_task(one.tried.wait()) for one in self.all.values()]
        if waits:
            _, late = await asyncio.wait(waits, timeout=START_S)
            for one in late:
                one.cancel()

    @property
    def troubles(self) -> dict[str, str]:
        """Why servers cannot be used, for those that cannot."""
        return {name: one.trouble for name, one in self.all.items() if one.trouble is not None}
