"""The JSON API under `/api/v1`: everything an operator does, with the shapes of `--json` (`bot/words/present.py`).

Who knows the token acts as the local operator, and sees that operator's tenant (R21). A GET decides nothing.
"""

from fastapi import APIRouter, Depends
from fastapi.security import HTTPBearer

from bot.web.answers import Error, Json
from bot.web.api import cases, files, gates, links, live, messages, moves, runs, trail
from bot.web.api.guard import Guarded

_ERRORS = {
    401: "The token is missing or wrong.",
    404: "There is no such thing in this tenant.",
    409: "It cannot be done as things stand.",
    503: "The store cannot answer now; nothing was done.",
}


def router() -> APIRouter:
    """All routes of the API, behind the token."""
    api = APIRouter(
        prefix="/api/v1",
        route_class=Guarded,
        default_response_class=Json,
        dependencies=[Depends(HTTPBearer(auto_error=False, description="The token beside the database."))],
        responses={status: {"model": Error, "description": what} for status, what in _ERRORS.items()},
    )
    for part in (cases, messages, live, files, moves, gates, runs, trail, links):
        part.add_to(api)
    return api
