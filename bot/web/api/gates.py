"""Gates over the API: what waits, the card of each, and the answer (R5). Only a POST decides."""

from datetime import tzinfo
from typing import Annotated

from fastapi import APIRouter, Query

from bot.gates import card, gating
from bot.gates.gating import Reply
from bot.settings import Settings
from bot.turns.desk import Toolbox
from bot.web.answers import Json, refusal
from bot.web.api.asks import VIA, Answer, Extension, GateNumber, Limit, Reason
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words.present import Document, gate_json
from casestore import cases, gates
from casestore.deciding import Decision
from casestore.models import Gate, Principal
from casestore.tx import Tx


def add_to(api: APIRouter) -> None:
    """Register the routes."""
    api.get("/gates")(list_gates)
    api.get("/gates/{gate}")(show_gate)
    api.post("/gates/{gate}/decide")(decide)
    api.post("/gates/{gate}/extend")(extend)
    api.post("/gates/{gate}/withdraw")(withdraw)


async def list_gates(
    service: Served, who: Who, every: Annotated[bool, Query(alias="all")] = False, limit: Limit = 100
) -> Json:
    """What waits for a decision, what expires first at the top; with `all` what is decided too."""
    return Json({"gates": await service.store.read(_listed, who, not every, limit)})


async def show_gate(service: Served, who: Who, number: GateNumber) -> Json:
    """A gate with its card: what exactly would happen, why, who decides, and what if nobody does."""
    return Json(await service.store.read(_shown, service.clock.now(), who, number, service.zone))


async def decide(service: Served, who: Who, number: GateNumber, answer: Answer) -> Json:
    """Answer a gate. The first answer wins; a later one is told (409) who decided, and when."""
    reply = await service.store.write(
        _decided, service.clock.now(), who, number, answer, service.desk.toolbox, service.zone
    )  # fmt: skip
    service.engine.wake(reply.gate.case_id)
    service.delivery.wake()
    if not reply.taken:
        return refusal(409, reply.text, gate=gate_json(reply.gate))
    return Json({"text": reply.text, "gate": gate_json(reply.gate)})


async def extend(service: Served, who: Who, number: GateNumber, extension: Extension) -> Json:
    """Give people more time, before it has run out."""
    gate = await service.store.write(_extended, service.clock.now(), who, number, extension.by, service.settings)
    service.delivery.wake()
    return Json(gate_json(gate))


async def withdraw(service: Served, who: Who, number: GateNumber, body: Reason | None = None) -> Json:
    """Take the question back; the call is not made."""
    reason = "" if body is None else body.reason
    reply = await service.store.write(
        gating.withdraw, service.clock.now(), who, number, reason, via=VIA, zone=service.zone
    )  # fmt: skip
    service.engine.wake(reply.gate.case_id)
    service.delivery.wake()
    if not reply.taken:
        return refusal(409, reply.text, gate=gate_json(reply.gate))
    return Json(gate_json(reply.gate))


def _listed(tx: Tx, who: Principal, only_open: bool, most: int) -> list[Document]:
    found = gates.listing(tx, gating.scope_of(who), only_open=only_open, most=most)
    return [gate_json(gate, case=cases.by_id(tx, gate.case_id), roles=gates.roles_of(tx, gate.id)) for gate in found]


def _shown(tx: Tx, now: int, who: Principal, number: int, zone: tzinfo | None) -> Document:
    gate = gates.get(tx, gating.scope_of(who), number)
    case, roles = cases.by_id(tx, gate.case_id), gates.roles_of(tx, gate.id)
    return gate_json(gate, case=case, roles=roles, card=card.of_gate(tx, now, gate, zone))


def _decided(
    tx: Tx, now: int, who: Principal, number: int, answer: Answer, box: Toolbox, zone: tzinfo | None
) -> Reply:  # fmt: skip
    changed = None
    if answer.set:
        gate = gates.get(tx, gating.scope_of(who), number)
        changed = gating.changed(box.get(gate.tool), gate, answer.set)
    decision = Decision(answer.verb, answer.digest, VIA, answer.reason, changed)
    return gating.decide(tx, now, who, number, decision, zone)


def _extended(tx: Tx, now: int, who: Principal, number: int, by_ms: int, settings: Settings) -> Gate:
    return gating.extend(tx, now, who, number, by_ms, settings)
