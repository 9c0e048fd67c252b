"""Runs over the API: the record of each tenure, with every step of it (R16)."""

from typing import Annotated

from fastapi import APIRouter, Query

from bot.gates import gating
from bot.web.answers import Json
from bot.web.api.asks import Limit, RunNumber, case_number
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words.present import Document, run_json
from casestore import cases, runs, steps
from casestore.models import Principal
from casestore.tx import Tx


def add_to(api: APIRouter) -> None:
    """Register the routes."""
    api.get("/runs")(list_runs)
    api.get("/runs/{run}")(show_run)


async def list_runs(
    service: Served, who: Who, case: Annotated[str | None, Query(description="`C-1042` or `1042`")] = None,
    limit: Limit = 100,
) -> Json:  # fmt: skip
    """Runs, of one case or of all, the newest first."""
    number = None if case is None else case_number(case)
    return Json({"runs": await service.store.read(_listed, who, number, limit)})


async def show_run(service: Served, who: Who, number: RunNumber) -> Json:
    """The whole record of a run: every model call, and every tool call with its arguments and its result."""
    return Json(await service.store.read(_shown, who, number))


def _listed(tx: Tx, who: Principal, number: int | None, most: int) -> list[Document]:
    scope = gating.scope_of(who)
    case_id = None if number is None else cases.get(tx, scope, number).id
    found = runs.listing(tx, scope, case_id=case_id, most=most)
    return [run_json(run, case=cases.by_id(tx, run.case_id)) for run in found]


def _shown(tx: Tx, who: Principal, number: int) -> Document:
    scope = gating.scope_of(who)
    run = runs.get(tx, scope, number)
    return run_json(run, steps.of_run(tx, scope, run.id), case=cases.by_id(tx, run.case_id))
