"""The trail of a case over the API: what happened, and whether the record of it holds (R18)."""

from typing import Annotated

from fastapi import APIRouter, Query

from bot.gates import gating
from bot.web.answers import Json
from bot.web.api.asks import After, CaseNumber, Limit
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words.present import trail_json, verification_json
from casestore import cases, trail
from casestore.models import Principal, TrailEntry
from casestore.trail import Head, Verification
from casestore.tx import Tx

Anchor = Annotated[
    str | None, Query(pattern=r"^[0-9]{1,18}:[0-9a-f]{64}$", description="A head from outside: `SEQ:HASH`.")
]


def add_to(api: APIRouter) -> None:
    """Register the routes."""
    api.get("/cases/{case}/trail")(read_trail)
    api.get("/cases/{case}/trail/verify")(verify_trail)


async def read_trail(service: Served, who: Who, number: CaseNumber, after: After = 0, limit: Limit = 1000) -> Json:
    """What happened, oldest first."""
    found = await service.store.read(_read, who, number, after, limit)
    return Json({"trail": [trail_json(entry) for entry in found]})


async def verify_trail(service: Served, who: Who, number: CaseNumber, anchor: Anchor = None) -> Json:
    """Recompute the chain: finds an edit, a gap, a reorder; with `anchor` also an end that was cut off."""
    return Json(verification_json(await service.store.read(_verified, who, number, anchor)))


def _read(tx: Tx, who: Principal, number: int, after: int, most: int) -> list[TrailEntry]:
    scope = gating.scope_of(who)
    return trail.read(tx, scope, cases.get(tx, scope, number).id, after=after, most=most)


def _verified(tx: Tx, who: Principal, number: int, anchor: str | None) -> Verification:
    scope = gating.scope_of(who)
    seq, _, entry_hash = (anchor or "").partition(":")
    head = None if anchor is None else Head(int(seq), entry_hash)
    return trail.verify(tx, scope, cases.get(tx, scope, number).id, head)
