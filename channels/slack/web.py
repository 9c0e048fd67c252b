"""Slack's Web API as we call it: a method, its arguments, and its answer or one of our errors."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from channels.address import Address
from channels.errors import AuthFailed, RetryLater, ScopeMissing
from channels.slack.failures import NotSlack, translated

Payload = Mapping[str, object]

_LIMITED_BY_ROOM = "chat.postMessage"
"""All others are limited by method. https://docs.slack.dev/apis/web-api/rate-limits"""


class Web:
    """The calls of one token.

    It repeats nothing by itself: a post whose answer was lost may stand there, and a repeat would be a second one; and
    whoever waits for a limit is to know of it. While Slack has a method wait, it is not called.
    https://docs.slack.dev/apis/web-api/rate-limits
    """

    def __init__(
        self, token: str, api_url: str, now: Callable[[], float] = time.monotonic, *, setting: str = "slack.bot_token"
    ) -> None:  # fmt: skip
        """`now` in seconds: what the waits of the methods are kept by. `setting`: where the token stands."""
        none: list[AsyncRetryHandler] = []
        self.client = AsyncWebClient(token=token, base_url=api_url, retry_handlers=none)
        self.home = Address(channel="slack", space="T", room="C")
        self.refused: str | None = None
        """Why the token is not accepted, as the last call says; None while it is."""
        self._now, self._setting = now, setting
        self._free: dict[str, float] = {}

    async def read(self, method: str, at: Address | None = None, **args: object) -> Payload:
        """A call that changes nothing. Raises `RetryLater`, `ThreadGone`, `AuthFailed`, `Undeliverable`."""
        answer = await self._call(method, at or self.home, "GET", params=_given(args))
        return cast("Payload", answer.data)

    async def change(self, method: str, at: Address | None = None, **args: object) -> Payload:
        """A call that may be made again without harm. Raises as `read` does."""
        answer = await self._call(method, at or self.home, "POST", json=_given(args))
        return cast("Payload", answer.data)

    async def post(self, method: str, at: Address, **args: object) -> Payload:
        """A call of which a second one would be seen. Raises as `read` does, and `Uncertain`."""
        answer = await self._call(method, at, "POST", sends=True, json=_given(args))
        return cast("Payload", answer.data)

    async def who_we_are(self) -> tuple[Payload, str]:
        """What `auth.test` says, and the scopes of this token, with commas between them.

        Raises as `read` does. https://docs.slack.dev/reference/methods/auth.test
        """
        answer = await self._call("auth.test", self.home, "POST")
        headers = {str(name).lower(): str(value) for name, value in answer.headers.items()}
        return cast("Payload", answer.data), headers.get("x-oauth-scopes", "")

    async def _call(self, method: str, at: Address, verb: str, *, sends: bool = False, **how: object) -> Any:
        if (left_s := self._free.get(method, 0.0) - self._now()) > 0:
            raise RetryLater(math.ceil(left_s * 1_000), "Slack asks us to wait")
        try:
            with translated(at, sends=sends, setting=self._setting):
                answer = await self._answer(method, verb, **how)
        except RetryLater as error:
            if error.after_ms and method != _LIMITED_BY_ROOM:
                self._free[method] = self._now() + error.after_ms / 1_000
            raise
        except AuthFailed as error:
            if not isinstance(error, ScopeMissing):
                self.refused = str(error)
            raise
        self.refused = None
        return answer

    async def _answer(self, method: str, verb: str, **how: object) -> Any:
        client = cast("Any", self.client)  # its own types leave out what a dictionary holds
        try:
            return await client.api_call(method, http_verb=verb, **how)
        except (AttributeError, UnicodeDecodeError) as error:  # what it raises for plain text, or for other bytes
            raise NotSlack(type(error).__name__) from None


def _given(args: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in args.items() if value is not None}
