"""The API's guard: the token is looked at before anything of the request is read; then somebody acts, by name."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, cast

from fastapi import Depends
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from bot.errors import Refused
from bot.first_start import OPERATOR
from bot.web.access import require_token
from bot.web.state import service_of
from casestore import principals
from casestore.models import Principal
from casestore.tx import Tx

_WHERE = "it is in the file beside the database that ends in .token, unless [api] token names another"


class Guarded(APIRoute):
    """A route that only a bearer of the token gets to. Whatever router uses it cannot have an open one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            service = service_of(request)
            require_token(request, service.api_token, _WHERE)
            request.state.who = await service.store.read(_operator)
            return await handle(request)

        return guarded


def acting(request: Request) -> Principal:
    """For whom the request acts."""
    return cast("Principal", request.state.who)


Who = Annotated[Principal, Depends(acting)]


def _operator(tx: Tx) -> Principal:
    who = principals.by_name(tx, OPERATOR)
    if who.revoked_at is not None or not who.is_operator:
        raise Refused(f"The API acts for {OPERATOR}, who may not act any more. Use the command line with --as.")
    return who
