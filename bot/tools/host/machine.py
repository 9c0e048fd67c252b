"""Memory, load and the busiest processes of this machine."""

import asyncio
import os
from typing import Annotated, Literal

import psutil
from pydantic import Field

from bot.tools.declare import Tool, declare
from bot.tools.host.read import Pace, gigabytes
from casestore.states import Tier

SAMPLE_SECONDS = 0.3

Limit = Annotated[int, Field(ge=1, le=20, description="How many processes to list.")]
Order = Annotated[Literal["cpu", "memory"], Field(description="What to sort by.")]


async def memory() -> dict[str, object]:
    """How much memory and swap is used."""
    main, swap = psutil.virtual_memory(), psutil.swap_memory()
    return {
        "total_gb": gigabytes(main.total),
        "available_gb": gigabytes(main.available),
        "percent": main.percent,
        "swap_total_gb": gigabytes(swap.total),
        "swap_used_gb": gigabytes(swap.used),
        "swap_percent": swap.percent,
    }


async def load() -> dict[str, object]:
    """Load averages over 1, 5 and 15 minutes; `percent` is the 5-minute load per processor."""
    cpus = os.cpu_count() or 1
    one, five, fifteen = (round(value, 2) for value in os.getloadavg())
    return {
        "load_1m": one,
        "load_5m": five,
        "load_15m": fifteen,
        "cpus": cpus,
        "percent": round(100 * five / cpus),
    }


async def processes(by: Order = "cpu", limit: Limit = 5) -> dict[str, object]:
    """The processes that use most processor time (percent of one processor, just now) or memory.

    Names only: command lines can hold secrets.
    """
    pace = Pace()
    watched: list[psutil.Process] = []
    for process in psutil.process_iter():
        await pace.step()
        try:
            process.cpu_percent(None)
        except psutil.Error:
            continue
        watched.append(process)
    await asyncio.sleep(SAMPLE_SECONDS)
    rows: list[tuple[float, int, dict[str, object]]] = []
    for process in watched:
        await pace.step()
        try:
            cpu, resident, name = process.cpu_percent(None), process.memory_info().rss, process.name()
        except psutil.Error:
            continue
        row: dict[str, object] = {
            "pid": process.pid,
            "name": name,
            "cpu_percent": cpu,
            "memory_mb": round(resident / 1e6),
        }
        rows.append((cpu if by == "cpu" else float(resident), process.pid, row))
    rows.sort(key=lambda one: (-one[0], one[1]))
    return {"by": by, "count": len(rows), "processes": [row for _, _, row in rows[:limit]]}


def tools() -> list[Tool]:
    """`host.memory`, `host.load` and `host.processes`."""
    return [
        declare(
            function,
            name=name,
            statement=statement,
            tier=Tier.READ_ONLY,
            reversible=True,
            idempotent=True,
        )
        for function, name, statement in (
            (memory, "host.memory", "Read how much memory this host uses"),
            (load, "host.load", "Read the load of this host"),
            (processes, "host.processes", "List the {limit} busiest processes of this host by {by}"),
        )
    ]
