"""The copies of what people attached, over the API: bytes to be saved, never to be shown by a browser."""

from fastapi import APIRouter
from starlette.responses import Response

from bot.gates import gating
from bot.inbound import attached
from bot.web.api.asks import CaseNumber, FileNumber
from bot.web.api.guard import Who
from bot.web.state import Served
from casestore import attachments, cases
from casestore.models import File, Principal
from casestore.tx import Tx

_ANY = "application/octet-stream"


def add_to(api: APIRouter) -> None:
    """Register the route."""
    api.get(
        "/cases/{case}/files/{file}", response_class=Response,
        responses={200: {"content": {_ANY: {}}, "description": "The bytes."}},
    )(copy)  # fmt: skip


async def copy(service: Served, who: Who, number: CaseNumber, file_id: FileNumber) -> Response:
    """The copy of a file, byte for byte; what kind of file its sender says it is stands beside the message."""
    file, content = await service.store.read(_copy, who, number, file_id)
    headers = {
        "Content-Disposition": attached.disposition(file),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "no-store",
    }
    return Response(content, media_type=_ANY, headers=headers)


def _copy(tx: Tx, who: Principal, number: int, file_id: int) -> tuple[File, bytes]:
    scope = gating.scope_of(who)
    return attachments.content(tx, scope, cases.get(tx, scope, number).id, file_id)
