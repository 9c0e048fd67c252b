"""The HTTP API: who may call, how it is read, and what is answered.

https://docs.discord.com/developers/reference#http-api
"""

import json
import re
from typing import cast

from aiohttp import web
from aiohttp.multipart import BodyPartReader

from tests.wire.discord import channels_api, commands_api, interactions_api, messages_api, threads_api
from tests.wire.discord.endpoints import Answer, Endpoint
from tests.wire.discord.faults import Fault, When
from tests.wire.discord.limits import refusal
from tests.wire.discord.payload import ApiError, Json, invalid
from tests.wire.discord.refusals import invalid_json, not_found, unauthorized, wrong_method
from tests.wire.discord.world import Call, World

BASE = "/api/v10"
ENDPOINTS: tuple[Endpoint, ...] = (
    *messages_api.ENDPOINTS, *threads_api.ENDPOINTS, *channels_api.ENDPOINTS, *commands_api.ENDPOINTS,
    *interactions_api.ENDPOINTS,
)  # fmt: skip
FILE = re.compile(r"files\[(\d+)\]")


class HttpApi:
    """Every endpoint under one address."""

    def __init__(self, world: World) -> None:
        self._world = world
        # One limit for all endpoints but those of interactions, which "are not bound to the bot's Global Rate Limit".
        self.everywhere: list[Fault] = []
        # Discord is down: every call meets this.
        self.down: Fault | None = None
        # What this server itself got wrong. It is answered with 501, which no client tries again.
        self.broken: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call."""
        world = self._world
        path = request.path.removeprefix(BASE)
        call = Call("", request.method, path, {}, dict(request.query), {}, {}, world.clock.now())
        world.calls.append(call)
        headers: dict[str, str] = {}
        fault: Fault | None = None
        try:
            endpoint = self._endpoint(call, request)
            # Read before anything is answered: a proxy has the whole request before Discord sees it.
            wrong = await self._read(call, endpoint, request)
            world.changes.changed()
            if (hold := world.faults.held(call.name, When.BEFORE)) is not None:
                await hold.wait()
            fault, headers = self._trouble(call, endpoint)
            if fault is not None and fault.when is When.BEFORE:
                return self._spoil(request, call, fault, headers)
            if wrong is not None:
                raise wrong
            status, body = self._answer(call, endpoint)
            if (hold := world.faults.held(call.name, When.AFTER)) is not None:
                await hold.wait()
        except ApiError as refused:
            status, body = refused.status, refused.answer()
        if fault is not None:
            return self._spoil(request, call, fault, headers)
        call.status, call.answer, call.headers = status, body, headers
        world.changes.changed()
        return respond(status, body, headers)

    def _endpoint(self, call: Call, request: web.Request) -> Endpoint:
        """The endpoint that is meant. 404 where there is none, 405 where there is, for another verb."""
        fits = [(e, match) for e in ENDPOINTS if (match := e.pattern.fullmatch(call.path)) is not None]
        if not fits:
            raise not_found()
        # An address with an id in it fits more than one pattern where a word may stand instead of the id.
        for endpoint, match in fits:
            if endpoint.verb == call.verb:
                call.name, call.params = endpoint.name, match.groupdict()
                break
        else:
            raise wrong_method()
        if not endpoint.open:
            # …/reference#authentication: "Authorization: Bot TOKEN"; #user-agent: "DiscordBot ($url, $versionNumber)".
            if request.headers.get("Authorization") != f"Bot {self._world.token}":
                raise unauthorized()
            if re.match(r"DiscordBot \(\S+,? \S+\)", request.headers.get("User-Agent", "")) is None:
                raise ApiError(403, 40333, "internal network error")
        return endpoint

    async def _read(self, call: Call, endpoint: Endpoint, request: web.Request) -> ApiError | None:
        """The body, or what is wrong with it.

        #content-type: JSON or a form; "Failing to do so will result in a 50035". #uploading-files: files come as
        `files[n]` with the rest in `payload_json`.
        """
        if unknown := call.query.keys() - set(endpoint.query):
            return invalid(sorted(unknown)[0], "UNKNOWN_FIELD", "This server knows no such parameter.")
        raw: str | bytes = b""
        if request.content_type == "multipart/form-data":
            if not endpoint.files:
                return invalid("", "CONTENT_TYPE_INVALID", "This endpoint takes no files.")
            raw = await self._parts(call, request)
        elif request.can_read_body:
            raw = await request.read()
            if raw and request.content_type != "application/json":
                return invalid("", "CONTENT_TYPE_INVALID", 'Expected "Content-Type" header to be "application/json".')
        if not raw:
            return None
        try:
            body = cast("object", json.loads(raw))
        except ValueError:
            return invalid_json()
        call.body = cast("Json", {"": body} if isinstance(body, list) else body)
        return None

    async def _parts(self, call: Call, request: web.Request) -> str:
        raw = ""
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader)
            name = part.name or ""
            if name == "payload_json":
                raw = await part.text()
            elif (match := FILE.fullmatch(name)) is not None and part.filename:
                mimetype = part.headers.get("Content-Type", "application/octet-stream")
                call.files[int(match[1])] = (part.filename, bytes(await part.read()), mimetype)
            else:
                raise invalid(name, "UNKNOWN_FIELD", "A part is `payload_json`, or `files[n]` with a filename.")
        return raw

    def _trouble(self, call: Call, endpoint: Endpoint) -> tuple[Fault | None, dict[str, str]]:
        """What this call meets: what a test has asked for, or the end of a bucket."""
        if self.down is not None:
            return self.down, {}
        if self.everywhere and not endpoint.open:
            return self.everywhere.pop(0), {}
        headers, limited = self._world.limits.take(call.name, endpoint.resource(call.params))
        return limited or self._world.faults.take(call.name), headers

    def _answer(self, call: Call, endpoint: Endpoint) -> Answer:
        try:
            return endpoint.does(self._world, call)
        except ApiError:
            raise
        except Exception as wrong:
            self.broken.append(f"{call.verb} {call.path} {call.body}: {wrong!r}")
            raise ApiError(501, 0, "The server of the tests is broken.") from wrong

    def _spoil(
        self, request: web.Request, call: Call, fault: Fault, headers: dict[str, str]
    ) -> web.StreamResponse:  # fmt: skip
        """What is heard of a call that went wrong.

        A page instead of Discord's JSON is that of the proxy in front of it, which says nothing of `Via`: topics/
        rate-limits#invalid-request-limit-aka-cloudflare-bans.
        """
        self._world.changes.changed()
        if fault.cut:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        call.status = fault.status
        if fault.status == 429 and fault.body is None:
            body, more = refusal(fault)
            return respond(429, body, headers | more)
        if fault.body is not None:
            # not by aiohttp's own argument, which puts a charset behind it
            sent = {"Content-Type": fault.content_type}
            return web.Response(status=fault.status, body=fault.body.encode(), headers=sent)
        return respond(fault.status, {"message": f"{fault.status}: Internal Server Error", "code": 0}, headers)


def respond(status: int, body: object, headers: dict[str, str]) -> web.Response:
    """An answer. Discord's media type is `application/json` and nothing behind it; clients compare it so."""
    if body is None:
        return web.Response(status=status, headers=headers)
    return web.Response(
        status=status, body=json.dumps(body).encode(), headers={"Content-Type": "application/json", **headers}
    )
