"""`POST` to the address of a channel whose platform tells it things by requests, such as Slack in HTTP mode."""

from collections.abc import Awaitable, Callable, Iterable

from fastapi import APIRouter, Request
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
        answer = await address.take(webhook.Request(dict(request.headers), await request.body()))
        return Response(answer.body, answer.status, {"Content-Type": answer.content_type})

    return take
