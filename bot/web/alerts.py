"""`POST /alerts/alertmanager`: stored first, acknowledged second, worked third (R29)."""

import logging

from fastapi import APIRouter
from starlette.requests import Request

from bot import logs
from bot.alerts import alertmanager, intake
from bot.app import Service
from bot.web.access import require_local, require_token
from bot.web.answers import Json
from bot.web.state import Served

router = APIRouter(prefix="/alerts", include_in_schema=False)

log = logging.getLogger("casebound.alerts")

_SET = "Set [alerts] token, and send it as Authorization: Bearer TOKEN."


@router.post("/alertmanager")
async def receive(request: Request, service: Served) -> Json:
    """Take a notification of Alertmanager's webhook. 200 once it is stored; it sends again what it gets a 5xx for."""
    _admit(request, service)
    now = service.clock.now()
    group = alertmanager.read(await request.body(), now)
    taken = await service.store.write(intake.receive, now, group, service.settings, service.zone)
    label = None if taken.case is None else taken.case.label
    if taken.case is not None and taken.what is not intake.What.KNOWN:
        service.engine.wake(taken.case.id)
        service.delivery.wake()
    logs.event(log, "alert.received", case=label, what=taken.what, members=len(group.members))
    return Json({"case": label, "what": taken.what})


def _admit(request: Request, service: Service) -> None:
    """By the token where there is one, also from this machine; else only programs of this machine."""
    token = service.settings.alerts.token
    if token is None:
        require_local(request, _SET)
    else:
        require_token(request, token.get_secret_value(), "it is [alerts] token in the settings")
