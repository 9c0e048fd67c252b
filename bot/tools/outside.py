"""Making a call: the work of an outside tool, within its time. Whatever it raises becomes its result."""

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path

from bot import blame, logs
from bot.tools import printing, results
from bot.tools.declare import BadArguments, OutcomeOpen, Tool, ToolFailed
from bot.tools.results import CallResult

log = logging.getLogger("casebound.outside")


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A call that did not come back in time, or broke off; nobody knows whether it did anything."""


async def make(tool: Tool, args: dict[str, object]) -> CallResult | TimedOut:
    """Make one call. Whatever it raises becomes its result; running out of time, or breaking off, leaves it open (R14).

    A call that only looks did nothing, however it ended.
    """
    work = tool.call
    if work is None:
        raise RuntimeError(f"{tool.name} acts in the store; it is not called from outside")
    asked = False
    try:
        async with asyncio.timeout(tool.timeout_ms / 1000):
            if tool.confirm is not None and tool.tier != "read_only":
                await tool.confirm()
            asked = True
            returned = await _made(tool, work(args))
    except TimeoutError:
        if tool.tier == "read_only" or not asked:
            return results.failed(f"it did not come back within {tool.timeout_ms // 1000} seconds", told=True)
        return TimedOut()
    except OutcomeOpen as error:
        log.warning("tool.broke_off", extra={"fields": {"tool": tool.name, "why": str(error)}})
        return results.failed(str(error)) if tool.tier == "read_only" else TimedOut()
    except (ToolFailed, BadArguments) as error:
        return results.failed(str(error))
    except asyncio.CancelledError as error:
        if _told_to_stop():
            raise
        # nobody ends the run: something that the tool waited for was cancelled within it
        _log("tool.cancelled_itself", tool, error)
        return results.failed("it broke off by itself", told=True) if tool.tier == "read_only" else TimedOut()
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # a function that wants to end a program ends itself
        _log("tool.raised", tool, error)
        return results.failed(f"it failed unexpectedly ({type(error).__name__})", told=True)
    return results.ok(returned)


def _told_to_stop() -> bool:
    """Whether it is we who cancel the call, and not the tool itself."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _log(event: str, tool: Tool, error: BaseException) -> None:
    line = blame.theirs(error)
    where = {} if line is None else {"line": f"{Path(line.filename).name}:{line.lineno}"}
    log.error(event, exc_info=error, extra={"fields": {"tool": tool.name, **where}})


async def _made(tool: Tool, work: Awaitable[object]) -> object:
    """What it returns; what it prints is told of in the log, and is no part of our output."""
    with printing.heard() as printed:
        try:
            return await work
        finally:
            if text := printed.getvalue().strip():
                logs.event(log, "tool.printed", tool=tool.name, text=text)
