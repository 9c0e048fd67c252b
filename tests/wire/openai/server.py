"""A server of chat completions for tests: says what a test tells it to, refuses what OpenAI refuses (rules.py).

    async with OpenAIServer() as openai:
        openai.then(words("Hello."), calls(("look", '{"at": "/"}')), Fault(429, retry_after="60"), Cut())

`sent` has every request, also those that were refused, in the order in which they came.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Self, cast

from aiohttp import web

from tests.wire.openai.rules import Refusal, check

KEY = "sk-test-do-not-show-this"
REPORTED = "gpt-test-2026-11"


@dataclass(frozen=True)
class Answer:
    """One choice of a completion (platform.openai.com/docs/api-reference/chat/object)."""

    content: str | None = None
    calls: Sequence[tuple[str, str]] = ()
    finish: str = "stop"
    refusal: str | None = None
    ids: Sequence[str] = ()
    """Of the calls; the server makes some where there are none."""


@dataclass(frozen=True)
class Fault:
    """An error instead of an answer (platform.openai.com/docs/guides/error-codes)."""

    status: int
    code: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True)
class Cut:
    """The connection is cut in the middle of the answer."""


@dataclass(frozen=True)
class Stall:
    """No answer at all, until the client gives up."""


Line = Answer | Fault | Cut | Stall


def words(text: str, finish: str = "stop") -> Answer:
    """An answer of words."""
    return Answer(text, finish=finish)


def calls(*wanted: tuple[str, str], ids: Sequence[str] = ()) -> Answer:
    """An answer that calls functions, with the arguments as text."""
    return Answer(None, wanted, "tool_calls", ids=ids)


class OpenAIServer:
    """One account with one key."""

    def __init__(self) -> None:
        self.script: list[Line] = []
        self.sent: list[Mapping[str, object]] = []
        self.refused: list[str] = []
        self._numbers = count(1)
        self._ended = asyncio.Event()

    def then(self, *lines: Line) -> None:
        """What the next requests meet."""
        self.script.extend(lines)

    @property
    def base_url(self) -> str:
        """Where clients are pointed."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._complete)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._port = cast("tuple[str, int]", self._runner.addresses[0])[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = cast("Mapping[str, object]", await request.json())
        self.sent.append(body)
        if request.headers.get("Authorization") != f"Bearer {KEY}":  # error codes: 401, Incorrect API key provided
            shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
            return _error(401, f"Incorrect API key provided: {shown}.", "invalid_api_key")
        try:
            check(body)
        except Refusal as refusal:
            self.refused.append(str(refusal))
            return _error(400, str(refusal), None)
        assert self.script, "the script is at its end, and the model is asked once more"
        match self.script.pop(0):
            case Answer() as answer:
                return web.json_response(self._completion(answer))
            case Fault() as fault:
                headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
                return _error(fault.status, f"It went wrong for {KEY}.", fault.code, headers)
            case Cut():
                return await _cut(request)
            case Stall():
                await self._ended.wait()
                return web.Response()

    def _completion(self, answer: Answer) -> Mapping[str, object]:
        number = next(self._numbers)
        made = [
            {
                "id": answer.ids[place] if answer.ids else f"call_{number}_{place}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for place, (name, arguments) in enumerate(answer.calls)
        ]
        message: dict[str, object] = {"role": "assistant", "content": answer.content, "refusal": answer.refusal}
        said = message | ({"tool_calls": made} if made else {})
        return {
            "id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1_790_000_000, "model": REPORTED,
            "choices": [{"index": 0, "message": said, "finish_reason": answer.finish}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }  # fmt: skip


async def _cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
    await response.prepare(request)
    await response.write(json.dumps({"id": "chatcmpl-cut"}).encode()[:-1])
    assert request.transport is not None
    request.transport.close()
    return response


def _error(status: int, message: str, code: str | None, headers: Mapping[str, str] | None = None) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)
