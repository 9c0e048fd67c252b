"""The door: what every request passes. It bounds the body, counts the request, and lets no error out unsaid."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot import logs
from bot.web.answers import refusal
from bot.web.metrics import Metrics

MOST_BYTES = 16 * 2**20

log = logging.getLogger("casebound.http")

_SORRY = "Something went wrong here, and it is in the log of the service. Nothing was done; try again."


class Door:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, _Bounded(receive), counted)
        except ClientDisconnect:
            status = 499  # nobody is there to be answered
        except Exception as error:
            logs.event(log, "request.failed", logging.ERROR, method=scope["method"], route=_route(scope), error=error)
            if status:
                raise  # half an answer is out: only cutting the connection says that it is not whole
            await refusal(500, _SORRY)(scope, receive, counted)
        self._metrics.count(str(scope["method"]), _route(scope), status)


class _Bounded:
    """The body, as long as it has no more than `MOST_BYTES`; what comes after them the server drops."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._bytes += len(message.get("body", b""))
        if self._bytes > MOST_BYTES:
            raise HTTPException(413, f"The body is too large; at most {MOST_BYTES // 2**20} MiB are read.")
        return message


def _route(scope: Scope) -> str:
    """The route's pattern, never what was asked for: that has no end of values."""
    return str(getattr(scope.get("route"), "path", "none"))
