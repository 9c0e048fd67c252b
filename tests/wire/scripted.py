"""What the servers of model providers have in common: lines that a test tells them to say, and what they were sent.

    server.then(words("Hello."), calls(("look", '{"at": "/"}')), Fault(429, retry_after="60"), Cut())

Each server puts the lines into the words of its provider, and refuses what its provider refuses.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, Self, cast

from aiohttp import web

KEY = "sk-test-do-not-show-this"
HALF = "Half of it, and no more."
Body = Mapping[str, object]


Event = tuple[str | None, Body | str]
"""Of a stream: its name, where the provider gives it one, and its data."""


class Refusal(Exception):
    """The request is answered 400 with this message."""


@dataclass(frozen=True)
class Answer:
    """One answer. `finish` as OpenAI says it: `stop`, `length`, `tool_calls` or `content_filter`."""

    content: str | None = None
    calls: Sequence[tuple[str, str]] = ()
    finish: str = "stop"
    refusal: str | None = None
    ids: Sequence[str] = ()
    """Of the calls; the server makes some where there are none."""
    thought: tuple[str, str] | None = None
    """What was thought before, with its signature; OpenAI's server keeps it to itself."""


@dataclass(frozen=True)
class Fault:
    """An error instead of an answer; `code` where the provider names one. With status 200 it comes within a stream."""

    status: int
    code: str | None = None
    retry_after: str | None = None
    says: str = ""


@dataclass(frozen=True)
class Cut:
    """The connection is cut in the middle of the answer. `politely`: a stream ends as if all had been said."""

    politely: bool = False


class Halfway:
    """An answer that stops in the middle of its words; a test waits until it is `reached`, and says `go_on`.

    `then`: what comes instead of the second half. Only in a stream is the first half there before.
    """

    def __init__(self, answer: Answer, then: "Fault | Cut | None" = None) -> None:
        self.answer, self.then = answer, then
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()


@dataclass(frozen=True)
class Stall:
    """No answer at all, until the client gives up."""


@dataclass(frozen=True)
class Page:
    """A page for people, with status 200, as something between us and the provider gives one; or another `body`."""

    body: str | None = None


@dataclass(frozen=True)
class Elsewhere:
    """The request is sent on to another server."""

    address: str


Line = Answer | Halfway | Fault | Cut | Stall | Page | Elsewhere


def words(text: str, finish: str = "stop") -> Answer:
    """An answer of words."""
    return Answer(text, finish=finish)


def calls(*wanted: tuple[str, str], ids: Sequence[str] = ()) -> Answer:
    """An answer that calls functions, with the arguments as text."""
    return Answer(None, wanted, "tool_calls", ids=ids)


class ModelServer:
    """One account with one `key`. `sent` has every request, also those that were refused, in the order they came, and
    `streamed` whether each asked for a stream.

    `otherwise` is what it says once the script is at its end.
    """

    path: ClassVar[str]
    name: ClassVar[str]
    """Of its model, as the settings say it."""
    reported: ClassVar[str]
    """What it says that the model is."""
    used_up: ClassVar[Fault]
    """What it answers where the credit is used up."""
    usage: ClassVar[str] = "usage"
    """Where an answer says how many tokens it took."""
    wrong_key: ClassVar[int] = 401
    """The status of what it answers to a key that is none."""

    def __init__(self) -> None:
        self.script: list[Line] = []
        self.sent: list[Body] = []
        self.streamed: list[bool] = []
        self.refused: list[str] = []
        self.key = KEY
        self.otherwise: Line | None = None
        self._numbers = count(1)
        self._ended = asyncio.Event()

    def then(self, *lines: Line) -> None:
        """What the next requests meet."""
        self.script.extend(lines)

    @property
    def address(self) -> str:
        """Where it listens, without any path."""
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post(self.path, self._asked)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._port = cast("tuple[str, int]", self._runner.addresses[0])[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        await self._runner.cleanup()

    # What each provider says in its own way

    def streams(self, request: web.Request, body: Body) -> bool:
        """Whether the answer is wanted as a stream."""
        return bool(body.get("stream"))

    def shut(self, headers: Mapping[str, str]) -> Fault | None:
        """Why somebody with these headers is not let in; None where they are."""
        raise NotImplementedError

    def check(self, body: Body) -> None:
        """Raises `Refusal` for the first thing that the provider would refuse."""
        raise NotImplementedError

    def answer(self, answer: Answer, number: int) -> Body:
        """An answer, in the provider's words."""
        raise NotImplementedError

    def error(self, status: int, message: str, code: str | None) -> Body:
        """An error, in the provider's words."""
        raise NotImplementedError

    @property
    def base_url(self) -> str:
        """Where clients are pointed."""
        raise NotImplementedError

    def response_id(self, number: int) -> str:
        """How it calls an answer."""
        raise NotImplementedError

    def offered(self) -> list[str]:
        """The tools in the last request, by their names."""
        raise NotImplementedError

    def said(self) -> list[str]:
        """The words of people and of the engine in the last request."""
        raise NotImplementedError

    def results(self) -> list[tuple[str, str]]:
        """The results in the last request, each with the id of its call."""
        raise NotImplementedError

    def history(self, request: int = -1) -> Sequence[Body]:
        """The messages of a request."""
        return cast("Sequence[Body]", self.sent[request]["messages"])

    def events(self, answer: Body, body: Body) -> Iterator[Event]:
        """The same as a stream, in the provider's events."""
        raise NotImplementedError

    def speaks(self, event: Event) -> bool:
        """Whether words are in an event."""
        raise NotImplementedError

    def failure(self, fault: Fault) -> Event:
        """What is sent where it goes wrong in the middle of a stream."""
        raise NotImplementedError

    async def _asked(self, request: web.Request) -> web.StreamResponse:
        body = cast("Body", await request.json())
        self.sent.append(body)
        self.streamed.append(self.streams(request, body))
        if (shut := self.shut(request.headers)) is not None:
            return self._fault(shut)
        try:
            self.check(body)
        except Refusal as refusal:
            self.refused.append(str(refusal))
            return web.json_response(self.error(400, str(refusal), None), status=400)
        line = self.script.pop(0) if self.script else self.otherwise
        assert line is not None, "the script is at its end, and the model is asked once more"
        match line:
            case Answer() as answer:
                return await self._respond(request, body, Halfway(answer), stops=False)
            case Halfway():
                return await self._respond(request, body, line, stops=True)
            case Fault(status=200) | Cut() if self.streams(request, body):
                return await self._respond(request, body, Halfway(words(HALF), line), stops=False)
            case Fault() as fault:
                return self._fault(fault)
            case Cut():
                return await self._cut(request)
            case Page(None):
                return web.Response(text="<html>Please sign in.</html>", content_type="text/html")
            case Page(said):
                return web.Response(text=said, content_type="application/json")
            case Elsewhere(address):
                raise web.HTTPTemporaryRedirect(f"{address}{request.path_qs}")
            case Stall():
                await self._ended.wait()
                return web.Response()

    async def _respond(self, request: web.Request, body: Body, line: Halfway, *, stops: bool) -> web.StreamResponse:
        """Send an answer as the request wants to have it: whole, or as server-sent events."""
        answer = self.answer(line.answer, next(self._numbers))
        streams = self.streams(request, body)
        if stops and not streams:
            await self._until_told(line)
        if not streams:
            return web.json_response(answer)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        events = [*self.events(answer, body)]
        half = self._half(events) if stops or line.then else len(events)
        await _send(response, events[:half])
        if stops:
            await self._until_told(line)
        match line.then:
            case Fault() as fault:
                await _send(response, [self.failure(fault)])
            case Cut(politely=False):
                return gone(request, response)
            case Cut():
                pass
            case None:
                await _send(response, events[half:])
        return response

    def _half(self, events: Sequence[Event]) -> int:
        """How many of these events come until the middle of the words."""
        spoken = [place for place, event in enumerate(events) if self.speaks(event)]
        return spoken[(len(spoken) - 1) // 2] + 1

    async def _until_told(self, line: Halfway) -> None:
        line.reached.set()
        told = [asyncio.create_task(event.wait()) for event in (line.go_on, self._ended)]
        await asyncio.wait(told, return_when=asyncio.FIRST_COMPLETED)
        for task in told:
            task.cancel()

    async def _cut(self, request: web.Request) -> web.StreamResponse:
        """Send the beginning of a whole answer, and be gone."""
        next(self._numbers)
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
        await response.prepare(request)
        await response.write(json.dumps({"id": "cut"}).encode()[:-1])
        return gone(request, response)

    def _fault(self, fault: Fault) -> web.Response:
        headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
        # providers repeat keys in their errors (OpenAI: "Incorrect API key provided: …"), so this one does always
        told = self.error(fault.status, f"{fault.says}It went wrong for {KEY}.", fault.code)
        return web.json_response(told, status=fault.status, headers=headers)


def pieces(text: str) -> list[str]:
    """Words as they come in a stream: a few at a time, their spaces in front of them."""
    return re.findall(r"\s*\S+(?:\s+$)?", text)


async def _send(response: web.StreamResponse, events: Sequence[Event]) -> None:
    for name, data in events:
        named = "" if name is None else f"event: {name}\n"
        await response.write(f"{named}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode())


def gone(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Cut the connection, with what was sent of the response so far."""
    assert request.transport is not None
    request.transport.close()
    return response
