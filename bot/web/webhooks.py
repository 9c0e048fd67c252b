"""`POST` to the address of a channel whose platform tells it things by requests, such as Slack in HTTP mode."""

from collections.abc import Awaitable, Callable, Iterable

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from channels import webhook
from channels.port import Channel
from channels.webhook import HasWebhook, Webhook


def router(channels: Iterable[Channel]) -> APIRouter:
    """The addresses of these channels. Each checks for itself who posts there; the service's tokens are not asked."""
    mounted = APIRouter(include_in_schema=False)
    for channel in channels:
        if isinstance(channel, HasWebhook) and channel.webhook is not None:
            mounted.add_api_route(channel.webhook.path, _endpoint(channel.webhook), methods=["POST"])
    return mounted


def _endpoint(address: Webhook) -> Callable[[Request], Awaitable[Response]]:
    async def take(request: Request) -> Response:
        body = await _bounded(request, address.most_bytes)
        answer = await address.take(webhook.Request(dict(request.headers), body))
        return Response(answer.body, answer.status, {"Content-Type": answer.content_type})

    return take


async def _bounded(request: Request, most: int) -> bytes:
    """The body, which has to be read before it is known who signed it; what is longer is refused at once."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise HTTPException(413, f"The body is too large; at most {most} bytes are read.")
    return bytes(body)
