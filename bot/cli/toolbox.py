"""The tools of this installation, put together only for a command that needs them."""

import asyncio
import difflib
import logging
from collections.abc import AsyncGenerator, Collection, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from bot.cli.here import Here
from bot.errors import Refused
from bot.tools.declare import Tool
from bot.turns.desk import Toolbox

if TYPE_CHECKING:
    from bot.tools.mcp.servers import Servers


def box(here: Here) -> Toolbox:
    """All of them, with what the settings say about each; servers are asked for theirs. Raises `SettingsError`."""

    async def asked() -> Toolbox:
        async with reached(here) as (tools, _):
            return tools

    return asyncio.run(asked()) if here.settings.mcp else own(here)


def own(here: Here) -> Toolbox:
    """Those that no server is asked for. Raises `SettingsError`."""
    from bot import first_start
    from bot.toolkit import toolbox

    return toolbox(here.settings, first_start.caches(here.settings, here.db), lambda: here.now)


@asynccontextmanager
async def reached(here: Here, only: Collection[str] | None = None) -> "AsyncGenerator[tuple[Toolbox, Servers]]":
    """The tools with those of the servers (of `only` these), while they are connected; how each server is."""
    from bot.toolkit import put
    from bot.tools.mcp.servers import Servers

    tools, settings = own(here), here.settings
    wanted = {name: one for name, one in settings.mcp.items() if only is None or name in only}
    servers = Servers(wanted, lambda server, offered: put(tools, settings, server, offered))
    with _untold():
        async with servers.running():
            yield tools, servers


@contextmanager
def _untold() -> Generator[None]:
    """The command itself says how the servers are; its log need not."""
    loggers = [logging.getLogger(name) for name in ("casebound.mcp", "casebound.tools")]
    for one in loggers:
        one.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for one in loggers:
            one.setLevel(logging.NOTSET)


def tool_named(here: Here, name: str) -> Tool:
    """One of them. Raises `Refused` for a name that is none, and for a server that cannot be asked."""
    server = name.partition(".")[0]

    async def asked() -> tuple[Toolbox, str | None]:
        async with reached(here, only=(server,)) as (tools, servers):
            return tools, servers.troubles.get(server)

    tools, trouble = asyncio.run(asked()) if server in here.settings.mcp else (own(here), None)
    found = tools.get(name)
    if found is None and trouble is not None:
        raise Refused(f"The MCP server {server} cannot be asked about its tools: {trouble}.")
    if found is None:
        near = difflib.get_close_matches(name, tools.tools, 1)
        raise Refused(
            f"There is no tool {name}{f'; did you mean {near[0]}?' if near else '.'} See: casebound tools list"
        )
    return found
