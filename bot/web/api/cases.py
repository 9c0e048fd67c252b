"""Cases over the API: list, show, open."""

from typing import Annotated

from fastapi import APIRouter, Query

from bot.gates import gating
from bot.inbound import intake
from bot.web.answers import Json
from bot.web.api.asks import CaseNumber, Limit, Opening
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words.present import Document, binding_json, case_json, episode_json, gate_json
from casestore import bindings, cases, episodes, gates, leases
from casestore.models import Case, Principal
from casestore.states import CaseState, LeaseKind, Origin
from casestore.tx import Tx


def add_to(api: APIRouter) -> None:
    """Register the routes."""
    api.get("/cases")(list_cases)
    api.post("/cases", status_code=201)(open_case)
    api.get("/cases/{case}")(show_case)


async def list_cases(
    service: Served, who: Who, state: Annotated[list[CaseState] | None, Query()] = None, limit: Limit = 100
) -> Json:
    """Cases, the most recently active first; of every state unless `state` names some."""
    found = await service.store.read(_listed, who, tuple(dict.fromkeys(state or CaseState)), limit)
    return Json({"cases": [case_json(case) for case in found]})


async def open_case(service: Served, who: Who, opening: Opening) -> Json:
    """Open a case with a first message, which the assistant answers."""
    case = await service.store.write(_opened, service.clock.now(), who, opening)
    service.engine.wake(case.id)
    service.delivery.wake()
    return Json(case_json(case), 201, {"Location": f"/api/v1/cases/{case.label}"})


async def show_case(service: Served, who: Who, number: CaseNumber) -> Json:
    """A case, where it is spoken of, what it waits for, and the alerts it is about."""
    return Json(await service.store.read(_whole, who, number))


def _listed(tx: Tx, who: Principal, states: tuple[CaseState, ...], most: int) -> list[Case]:
    return cases.listing(tx, gating.scope_of(who), states=states, most=most)


def _opened(tx: Tx, now: int, who: Principal, opening: Opening) -> Case:
    return intake.open_by(tx, now, who, Origin.WEB, opening.text, title=opening.title)


def _whole(tx: Tx, who: Principal, number: int) -> Document:
    case = cases.get(tx, gating.scope_of(who), number)
    lease = leases.of_case(tx, case.id)
    return {
        **case_json(case),
        "taken_over_by": lease.holder if lease.kind is LeaseKind.HUMAN else None,
        "bindings": [binding_json(binding) for binding in bindings.of_case(tx, case.id)],
        "gates": [gate_json(gate, roles=gates.roles_of(tx, gate.id)) for gate in gates.of_case(tx, case.id)],
        "episodes": [episode_json(episode) for episode in episodes.of_case(tx, case.id)],
    }
