"""`GET /healthz`, `/readyz` and `/metrics`: whether the process lives, and whether each part of it can work."""

import asyncio
import logging
import os
from typing import Annotated

from fastapi import APIRouter, Depends
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import JsonValue
from starlette.responses import Response

from bot import logs
from bot.app import Service
from bot.web.answers import RETRY_AFTER_S, Json
from bot.web.metrics import Metrics, numbers
from bot.web.state import Served, metrics_of
from casestore.errors import ConstraintBroken, StoreError
from casestore.tx import Tx
from channels.port import Channel, SaysWhy

log = logging.getLogger("casebound.http")

router = APIRouter(include_in_schema=False)

_TIMEOUT_S = 2.0


@router.api_route("/healthz", methods=["GET", "HEAD"])
async def healthz() -> Json:
    """The process lives and its loop turns."""
    return Json({"alive": True})


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def readyz(service: Served) -> Json:
    """Each part, and whether all of them can work; 503 where one cannot that the service needs."""
    parts = await _parts(service)
    ready = not any(parts.values())
    told: dict[str, JsonValue] = {name: _told(why) for name, why in parts.items()}
    told |= {name: {**_told(why), "needed": False} for name, why in _not_needed(service).items()}
    headers = None if ready else {"Retry-After": str(RETRY_AFTER_S)}
    return Json({"ready": ready, "parts": told}, 200 if ready else 503, headers)


@router.get("/metrics")
async def metrics(service: Served, counters: Annotated[Metrics, Depends(metrics_of)]) -> Response:
    """What Prometheus scrapes."""
    try:
        counted = await service.store.read(numbers)
    except StoreError:
        counted = None
    standby = service.standby
    text = counters.text(
        counted, healthy=service.store.healthy, working=service.engine.working, spooled=len(standby.spool),
        answered_from_memory=standby.answered,
    )  # fmt: skip
    return Response(text, media_type=CONTENT_TYPE_LATEST)


def _told(why: str | None) -> dict[str, JsonValue]:
    return {"ok": True} if why is None else {"ok": False, "why": why}


async def _parts(service: Service) -> dict[str, str | None]:
    """Every part, with what is wrong with it; None where nothing is."""
    found = {
        "store": await _store(service),
        "engine": _task("engine"),
        "delivery": _task("delivery"),
        "schedule": None if service.schedule.ticking else "it has stopped; restart the service",
        "model": service.conductor.model_trouble,
        "standby": _standby(service),
    }
    for name, channel in service.channels.items():
        found[f"channel.{name}"] = service.delivery.refused.get(name) or _channel(channel) or _task(f"listening {name}")
    return found


def _not_needed(service: Service) -> dict[str, str | None]:
    """Parts without which cases are still worked, only worse: no reason for anybody to start the service anew."""
    found = {f"mcp.{name}": server.trouble for name, server in service.servers.all.items()}
    return found | {f"model.{name}": why for name, why in service.conductor.silent_models.items()}


def _channel(channel: Channel) -> str | None:
    trouble = channel.trouble if isinstance(channel, SaysWhy) else None
    return trouble or (None if channel.connected else "it is not connected")


async def _store(service: Service) -> str | None:
    if not os.access(service.store.path.absolute().parent, os.W_OK):
        return "the folder of the database cannot be written to"
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            await service.store.write(put_and_take)
            await service.store.refuse_if_unreadable()
    except TimeoutError:
        return f"it did not answer within {_TIMEOUT_S:g} s"
    except ConstraintBroken as error:
        logs.event(log, "ready.refused", logging.ERROR, error=error)
        return "it refuses what belongs in it; see the log, and run: casebound db check"
    except StoreError as error:
        return str(error)
    return None


def _standby(service: Service) -> str | None:
    """Whether the conversation goes on from memory (R15), and how much has still to be stored."""
    waiting = len(service.standby.spool)
    if service.standby.since is None and not waiting:
        return None
    return f"the store could not be written; {waiting} entries wait in the spool to be stored"


def put_and_take(tx: Tx) -> None:
    """A row that is put in and taken out again: nothing is changed, and still it has to be written, and synced.

    An UPDATE that changes no byte would not do: SQLite leaves the page alone then, and a full disk is not noticed.
    """
    tx.run("INSERT INTO positions (address, last_seen) VALUES ('readyz', '')")
    tx.run("DELETE FROM positions WHERE address = 'readyz'")


def _task(name: str) -> str | None:
    """The parts that run for as long as the service does are tasks of these names (`bot.app`)."""
    running = any(task.get_name() == name and not task.done() for task in asyncio.all_tasks())
    return None if running else "it has ended; see the log, and restart the service"
