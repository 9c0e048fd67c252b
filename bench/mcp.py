"""What we add to a tool of an MCP server: a turn with one, beside one whose tool is a function, and the bare SDK."""

import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from pydantic import SecretStr

from bench import workload
from bench.installation import Installation, installed
from bench.speed import WARM
from bench.table import Finding, spread
from bot.settings import Settings
from bot.settings.tools import Mcp
from bot.toolkit import put
from bot.tools.mcp.servers import Servers
from casestore.states import Tier

ROOT = Path(__file__).parents[1]
SERVER = ["-m", "bench.mcp_server"]
ENVIRONMENT = {"PYTHONPATH": SecretStr(str(ROOT))}
THREAD = "t1"
"""Of a case that comes to no gate in what is measured: each fifth does, and is left out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """So many turns without a gate, of each kind, and as many calls by the bare SDK."""

    turns: int


FULL = Plan(60)
QUICK = Plan(3)


async def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings on turns with a tool of an MCP server over stdio."""
    remote: list[float] = []
    local: list[float] = []
    bare: list[float] = []
    async with AsyncExitStack() as stack:
        own = await stack.enter_async_context(installed(folder / "function.db"))
        theirs = await stack.enter_async_context(_with_server(folder / "mcp.db"))
        session = await stack.enter_async_context(_bare())
        arguments = {"what": workload.filler(workload.ARGUMENTS)}
        for _ in range(WARM):
            for one in (own, theirs):
                await one.turn(THREAD)
            await session.call_tool("look", arguments)
        for _ in range(plan.turns):
            local.append(await _turn(own))
            remote.append(await _turn(theirs))
            began = time.perf_counter()
            await session.call_tool("look", arguments)
            bare.append((time.perf_counter() - began) * 1_000)
    more = median(remote) - median(local)
    return [
        Finding("ms of a turn, its tool on an MCP server", spread(remote, 1), spread(local, 1),
                f"{median(remote) / median(local):.2f}", n=f"{plan.turns}"),
        Finding("ms more for it than for a function", f"{more:.2f}", spread(bare),
                f"{more / median(bare):.1f}", n=f"{plan.turns}"),
    ]  # fmt: skip


async def _turn(installation: Installation) -> float:
    """How long the next turn without a gate took, in ms."""
    while workload.is_gated(installation.turns[THREAD] + 1, int(THREAD[1:])):
        await installation.turn(THREAD)
    began = time.perf_counter()
    await installation.turn(THREAD)
    return (time.perf_counter() - began) * 1_000


@asynccontextmanager
async def _with_server(db: Path) -> AsyncGenerator[Installation]:
    """An installation that looks by the server's `look` instead of by a function."""
    program = Mcp(command=sys.executable, args=tuple(SERVER), env=ENVIRONMENT, tier=Tier.READ_ONLY)
    settings = Settings(mcp={"bench": program})
    async with installed(db, settings, without=("bench.look",)) as installation:
        box = installation.toolbox
        servers = Servers(settings.mcp, lambda name, tools: put(box, settings, name, tools))
        async with servers.running():
            if servers.troubles:
                raise RuntimeError(f"the MCP server of the benchmark: {servers.troubles['bench']}")
            yield installation


@asynccontextmanager
async def _bare() -> AsyncGenerator[ClientSession]:
    """The same server by the SDK alone."""
    program = StdioServerParameters(command=sys.executable, args=SERVER, env={"PYTHONPATH": str(ROOT)})
    async with stdio_client(program) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        yield session
