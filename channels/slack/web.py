"""Slack's Web API as we call it: a method, its arguments, and its answer or one of our errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from channels.address import Address
from channels.slack.failures import translated

Payload = Mapping[str, object]


class Web:
    """The calls of one bot token.

    It repeats nothing by itself: a post whose answer was lost may stand there, and a repeat would be a second one; and
    whoever waits for a limit is to know of it. https://docs.slack.dev/apis/web-api/rate-limits
    """

    def __init__(self, token: str, api_url: str, team: str = "T") -> None:
        none: list[AsyncRetryHandler] = []
        self.client = AsyncWebClient(token=token, base_url=api_url, retry_handlers=none)
        self.home = Address(channel="slack", space=team, room="C")

    async def read(self, method: str, at: Address | None = None, **args: object) -> Payload:
        """A call that changes nothing. Raises `RetryLater`, `ThreadGone`, `AuthFailed`, `Undeliverable`."""
        with translated(at or self.home):
            return await self._call(method, "GET", params=_given(args))

    async def change(self, method: str, at: Address | None = None, **args: object) -> Payload:
        """A call that may be made again without harm. Raises as `read` does."""
        with translated(at or self.home):
            return await self._call(method, "POST", json=_given(args))

    async def post(self, method: str, at: Address, **args: object) -> Payload:
        """A call of which a second one would be seen. Raises as `read` does, and `Uncertain`."""
        with translated(at, sends=True):
            return await self._call(method, "POST", json=_given(args))

    async def who_we_are(self) -> tuple[Payload, str]:
        """What `auth.test` says, and the scopes of this token, with commas between them.

        Raises as `read` does. https://docs.slack.dev/reference/methods/auth.test
        """
        with translated(self.home):
            answer = await cast("Any", self.client).api_call("auth.test", http_verb="POST")
        headers = {str(name).lower(): str(value) for name, value in answer.headers.items()}
        return cast("Payload", answer.data), headers.get("x-oauth-scopes", "")

    async def _call(self, method: str, verb: str, **how: object) -> Payload:
        client = cast("Any", self.client)  # its own types leave out what a dictionary holds
        answer = await client.api_call(method, http_verb=verb, **how)
        return cast("Payload", answer.data)


def _given(args: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in args.items() if value is not None}
