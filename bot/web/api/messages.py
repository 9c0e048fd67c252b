"""The conversation of a case over the API: read it, say something in it."""

from fastapi import APIRouter

from bot.gates import gating
from bot.inbound import intake
from bot.settings import Settings
from bot.web.answers import Json
from bot.web.api.asks import VIA, After, CaseNumber, Limit, Saying
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words.present import Document, message_json
from casestore import attachments, cases, messages
from casestore.errors import MoveRefused
from casestore.models import Message, Principal
from casestore.states import CaseState
from casestore.tx import Tx


def add_to(api: APIRouter) -> None:
    """Register the routes."""
    api.get("/cases/{case}/messages")(list_messages)
    api.post("/cases/{case}/messages", status_code=201)(say)


async def list_messages(service: Served, who: Who, number: CaseNumber, after: After = 0, limit: Limit = 100) -> Json:
    """The conversation, oldest first; `after` is the `seq` of the last one you have."""
    found = await service.store.read(_listed, who, number, after, limit)
    return Json({"messages": found})


async def say(service: Served, who: Who, number: CaseNumber, saying: Saying) -> Json:
    """Say something: to the assistant, or, where you have taken the case over, to its threads."""
    message = await service.store.write(_said, service.clock.now(), who, number, saying.text, service.settings)
    service.engine.wake(message.case_id)
    service.delivery.wake()
    return Json(message_json(message), 201)


def _listed(tx: Tx, who: Principal, number: int, after: int, most: int) -> list[Document]:
    scope = gating.scope_of(who)
    case = cases.get(tx, scope, number)
    found = messages.of_case(tx, scope, case.id, after=after, most=most)
    return [message_json(message, attachments.of_message(tx, message.id)) for message in found]


def _said(tx: Tx, now: int, who: Principal, number: int, text: str, settings: Settings) -> Message:
    case = cases.get(tx, gating.scope_of(who), number)
    if case.state in (CaseState.CLOSED, CaseState.CANCELLED):
        raise MoveRefused(f"{case.label} is {case.state}; open a new case.")
    return intake.say_in(tx, now, case, who, text, settings, settings.service.zone, via=VIA)
