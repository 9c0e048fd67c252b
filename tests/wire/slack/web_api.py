"""The Web API over HTTP: who may call what, in which form, and what a call that goes wrong looks like.

https://docs.slack.dev/apis/web-api
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import cast

from aiohttp import web

from tests.wire.slack import chat, conversations, files, showing
from tests.wire.slack.faults import Fault
from tests.wire.slack.methods import Method
from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.tokens import Token
from tests.wire.slack.workspace import Call, Workspace

FORM = "application/x-www-form-urlencoded"
# https://docs.slack.dev/apis/web-api/#errors, invalid_post_type: "Valid types are …".
POST_TYPES = ("application/json", FORM, "multipart/form-data", "text/plain")


class WebApi:
    """Answers /api/METHOD. `after` is called once a call has had its effect, whether or not it was answered."""

    def __init__(
        self, workspace: Workspace, open_socket: Callable[[], str], after: Callable[[], Awaitable[None]]
    ) -> None:
        def connect(workspace: Workspace, args: Json, token: Token) -> Json:
            return {"url": open_socket()}

        self._workspace = workspace
        self._after = after
        self._working: set[asyncio.Task[None]] = set()
        self._methods: dict[str, Method] = {
            **chat.METHODS, **conversations.METHODS, **showing.METHODS, **files.METHODS,
            # https://docs.slack.dev/reference/methods/apps.connections.open
            "apps.connections.open": Method(connect, scope="connections:write", for_the_app=True),
        }  # fmt: skip

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call."""
        workspace = self._workspace
        name = request.match_info["method"]
        args, token, wrong = await self._read(request)
        call = Call(name, request.method, args, token, workspace.clock.now())
        workspace.calls.append(call)
        workspace.changes.changed()
        if (hold := workspace.faults.held(name)) is not None:
            await hold.wait()
        fault = self._limited(name, args) or workspace.faults.take(name)
        if fault is not None and fault.prevents:
            return self._spoil(request, call, fault)
        try:
            if wrong is not None:
                raise wrong
            answer = self._answer(name, request.method, args, token)
        except Refused as refused:
            answer = refused.answer()
        if workspace.events:
            self._later(self._after())
        if fault is not None:
            return self._spoil(request, call, fault)
        call.status, call.answer = 200, answer
        if name == "chat.postMessage" and call.ok:
            workspace.limits[f"{name} {args['channel']}"] = workspace.clock.now() + workspace.pace
        workspace.changes.changed()
        # https://docs.slack.dev/authentication/installing-with-oauth: every answer names the scopes of its token.
        owner = workspace.tokens.app if token == workspace.tokens.app.text else workspace.tokens.bot
        return web.json_response(answer, headers={"X-OAuth-Scopes": ",".join(sorted(owner.scopes))})

    async def close(self) -> None:
        """Wait for what was still to be told."""
        await asyncio.gather(*self._working, return_exceptions=True)

    def _later(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _read(self, request: web.Request) -> tuple[Json, str, Refused | None]:
        """The arguments and the token, or what is wrong with how they came.

        https://docs.slack.dev/apis/web-api/#posting-json: with JSON the token must be in the header.
        """
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        query: Json = dict(request.query)
        token = bearer or str(query.pop("token", ""))
        if request.method == "GET" or not request.can_read_body:
            return query, token, None
        if not request.headers.get("Content-Type"):
            return query, token, Refused("missing_post_type")
        if request.content_type not in POST_TYPES:
            return query, token, Refused("invalid_post_type")
        if request.content_type == "application/json":
            # https://docs.slack.dev/apis/web-api/#errors: invalid_json, json_not_object.
            try:
                body = cast("object", json.loads(await request.read()))
            except ValueError:
                return query, token, Refused("invalid_json")
            if not isinstance(body, dict):
                return query, token, Refused("json_not_object")
            fields = cast("Json", body)
            # Methods that read are documented with a query or a form only; they do not look at JSON.
            method = self._methods.get(request.match_info["method"])
            return (query if method is not None and method.reads else {**query, **fields}), token, None
        form = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
        token = token or str(form.pop("token", ""))
        return {**query, **form}, token, None

    def _answer(self, name: str, verb: str, args: Json, text: str) -> Json:
        """Do it, or `Refused`. https://docs.slack.dev/apis/web-api/#errors: unknown_method."""
        method = self._methods.get(name)
        if method is None:
            raise Refused("unknown_method", req_method=name)
        # Every page names the verb: GET for what reads, POST for what writes. Slack answers many a GET that writes;
        # here it is refused, because intermediaries repeat a GET. auth.test is documented as POST, and asked by both.
        if verb == "GET" and not method.reads and name != "auth.test":
            raise Refused("invalid_arguments", f"{name} is a POST")
        token = self._workspace.tokens.of(text, for_the_app=method.for_the_app)
        return method.call(self._workspace, args, token)

    def _limited(self, name: str, args: Json) -> Fault | None:
        """Whether a limit that a test has set still stands.

        https://docs.slack.dev/apis/web-api/rate-limits: 429 with Retry-After in seconds, for one method; posting is
        counted by room.
        """
        left = 0.0
        for key in (name, f"{name} {args.get('channel')}"):
            left = max(left, self._workspace.limits.get(key, 0.0) - self._workspace.clock.now())
        return None if left <= 0 else Fault(429, "ratelimited", max(1, round(left)))

    def _spoil(self, request: web.Request, call: Call, fault: Fault) -> web.Response:
        """What is heard of a call that went wrong."""
        call.status = fault.status
        self._workspace.changes.changed()
        if fault.cut is not None:
            call.status = 0
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        if fault.body is not None:
            return web.Response(status=fault.status, text=fault.body, content_type=fault.content_type)
        if fault.status == 429:
            headers = {"Retry-After": str(fault.retry_after)}
            return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
        if fault.error:
            call.answer = {"ok": False, "error": fault.error}
            return web.json_response(call.answer, status=fault.status)
        return web.Response(status=fault.status, text="<html>Slack is having trouble.</html>", content_type="text/html")
