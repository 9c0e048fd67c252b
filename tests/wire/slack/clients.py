"""The real Web API client, as tests call it."""

from collections.abc import Awaitable
from typing import Any, cast

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack.payload import Json
from tests.wire.slack.server import BOT_TOKEN, SlackServer

# An AsyncWebClient. Its signatures hold dicts of nothing in particular, which strict types do not let through.
Client = Any


def web_client(slack: SlackServer, token: str | None = BOT_TOKEN) -> Client:
    """The client, with a token and without retrying."""
    return AsyncWebClient(token, base_url=slack.api_url, retry_handlers=[])


async def refusal(call: Awaitable[object]) -> Json:
    """The answer to a call that is refused."""
    return cast("Json", (await refused(call)).data)


async def refused(call: Awaitable[object]) -> Any:
    """The whole response to a call that is refused, with its status and headers."""
    with pytest.raises(SlackApiError) as raised:
        await call
    return cast("Any", raised.value).response
