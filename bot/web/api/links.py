"""Linking an account over the API: whoever has the token lets somebody have a one-time code (R20)."""

from typing import Annotated

from fastapi import APIRouter, Path

from bot import ids
from bot.people import linking
from bot.web.answers import Json
from bot.web.api.asks import VIA
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words import link_code
from bot.words.present import link_json

Name = Annotated[str, Path(description="A principal's name")]


def add_to(api: APIRouter) -> None:
    """Register the routes."""
    api.post("/principals/{name}/link", status_code=201)(link)


async def link(service: Served, who: Who, name: Name) -> Json:
    """A code for somebody, shown this once: they send `/case link CODE` from their account, within ten minutes."""
    code = link_code.written(ids.link_letters())
    made = await service.store.write(linking.make, service.clock.now(), who, name, code, via=VIA)
    shown = {**link_json(made.row, made.principal), "code": made.code, "command": f"/case link {made.code}"}
    return Json(shown, 201, {"Cache-Control": "no-store"})
