"""Making a call: the work of an outside tool, within its time. Whatever it raises becomes its result."""

import asyncio
import logging
from dataclasses import dataclass

from bot.tools.declare import BadArguments, Tool, ToolFailed
from bot.turns import results
from bot.turns.results import CallResult

log = logging.getLogger("casebound.outside")


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A call that did not come back in time; nobody knows whether it did anything."""


async def make(tool: Tool, args: dict[str, object]) -> CallResult | TimedOut:
    """Make one call. Whatever it raises becomes its result; only running out of time leaves its outcome open (R14)."""
    work = tool.call
    if work is None:
        raise RuntimeError(f"{tool.name} acts in the store; it is not called from outside")
    try:
        async with asyncio.timeout(tool.timeout_ms / 1000):
            return results.ok(await work(args))
    except TimeoutError:
        if tool.tier == "read_only":
            return results.failed(f"it did not come back within {tool.timeout_ms // 1000} seconds", told=True)
        return TimedOut()
    except (ToolFailed, BadArguments) as error:
        return results.failed(str(error))
    except Exception as error:
        log.exception("tool.raised", extra={"fields": {"tool": tool.name}})
        return results.failed(f"it failed unexpectedly ({type(error).__name__})", told=True)
