"""What moves a case, over the API: resolve, reopen, close, cancel, take over, hand back (R2, R12)."""

from collections.abc import Callable

from fastapi import APIRouter

from bot.app import Service
from bot.gates import gating
from bot.people import closing, takeover
from bot.web.answers import Json
from bot.web.api.asks import CaseNumber, Reason
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words.present import case_json
from casestore import cases
from casestore.models import Case, Principal
from casestore.principals import actor
from casestore.tx import Tx
from channels.text import storable

Move = Callable[[Tx, int, Case, Principal, str], Case]


def add_to(api: APIRouter) -> None:
    """Register the routes."""
    for verb in (resolve, reopen, close, cancel, take, release):
        api.post(f"/cases/{{case}}/{verb.__name__}")(verb)


async def resolve(service: Served, who: Who, number: CaseNumber, body: Reason | None = None) -> Json:
    """The matter is dealt with; a message reopens it."""
    return await _move(service, who, number, _resolved, body)


async def reopen(service: Served, who: Who, number: CaseNumber, body: Reason | None = None) -> Json:
    """A resolved case is in progress again."""
    return await _move(service, who, number, _reopened, body)


async def close(service: Served, who: Who, number: CaseNumber, body: Reason | None = None) -> Json:
    """The case is over for good."""
    return await _move(service, who, number, _closed, body)


async def cancel(service: Served, who: Who, number: CaseNumber, body: Reason | None = None) -> Json:
    """The case is not wanted."""
    return await _move(service, who, number, _cancelled, body)


async def take(service: Served, who: Who, number: CaseNumber) -> Json:
    """Take the case over: the assistant stays silent until it is handed back."""
    return await _move(service, who, number, _taken, None)


async def release(service: Served, who: Who, number: CaseNumber) -> Json:
    """Hand the case back to the assistant."""
    return await _move(service, who, number, _released, None)


async def _move(service: Service, who: Principal, number: int, move: Move, body: Reason | None) -> Json:
    reason = "" if body is None else storable(body.reason)
    case = await service.store.write(_moved, service.clock.now(), who, number, move, reason)
    service.engine.wake(case.id)
    service.delivery.wake()
    return Json(case_json(case))


def _moved(tx: Tx, now: int, who: Principal, number: int, move: Move, reason: str) -> Case:
    case = move(tx, now, cases.get(tx, gating.scope_of(who), number), who, reason)
    return cases.by_id(tx, case.id)


def _resolved(tx: Tx, now: int, case: Case, who: Principal, why: str) -> Case:
    return closing.resolve(tx, now, case, by=actor(who), why=why)


def _reopened(tx: Tx, now: int, case: Case, who: Principal, why: str) -> Case:
    return closing.reopen(tx, now, case, by=actor(who), why=why)


def _closed(tx: Tx, now: int, case: Case, who: Principal, why: str) -> Case:
    return closing.close(tx, now, case, by=actor(who), why=why)


def _cancelled(tx: Tx, now: int, case: Case, who: Principal, why: str) -> Case:
    return closing.cancel(tx, now, case, by=actor(who), why=why)


def _taken(tx: Tx, now: int, case: Case, who: Principal, _: str) -> Case:
    return takeover.take(tx, now, case, who)


def _released(tx: Tx, now: int, case: Case, who: Principal, _: str) -> Case:
    return takeover.release(tx, now, case, who)
