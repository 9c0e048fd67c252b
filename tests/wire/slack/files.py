"""Files: what an event says of one, and the download, which without the right token is a login page.

https://docs.slack.dev/reference/objects/file-object, `url_private_download`: "requires … the token in an
Authorization header". Without it Slack sends a person's browser to the sign-in page: status 200, HTML.
"""

import asyncio
import re

from aiohttp import web

from tests.wire.slack.faults import Cut, Fault
from tests.wire.slack.methods import Method
from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.tokens import Token
from tests.wire.slack.workspace import Call, Shared, Workspace

DOWNLOAD = "files-pri"
"""Under this name a download is held, goes wrong and is counted, as a method is."""
LOGIN_PAGE = (
    "<!DOCTYPE html><html><head><title>Slack: sign in</title></head><body>Sign in to your workspace</body></html>"
)


def in_event(workspace: Workspace, file: Shared, *, shared: bool) -> Json:
    """What an event says of a file. In a room shared with others it says no more than to ask files.info.

    https://docs.slack.dev/apis/slack-connect: `file_access` is `check_file_info`.
    """
    if not shared:
        return as_json(workspace, file)
    return {
        "id": file.id, "created": int(workspace.clock.now()), "timestamp": int(workspace.clock.now()),
        "user": file.person.id, "mode": "file_access", "file_access": "check_file_info",
    }  # fmt: skip


def info(workspace: Workspace, args: Json, token: Token) -> Json:
    """files.info. https://docs.slack.dev/reference/methods/files.info#errors"""
    file = workspace.files.get(str(args["file"]))
    if file is None:
        raise Refused("file_not_found")
    if file.deleted:
        raise Refused("file_deleted")
    return {"file": as_json(workspace, file), "comments": []}


METHODS = {"files.info": Method(info, ("file",), ("count", "page", "limit", "cursor"), "files:read", reads=True)}


def as_json(workspace: Workspace, file: Shared) -> Json:
    """The whole of what there is to say of a file."""
    url = file.address or f"{workspace.url}/{DOWNLOAD}/{workspace.team}-{file.id}"
    name = re.sub(r"[^a-z0-9._-]+", "_", file.name.lower())  # as Slack's own addresses have it
    return {
        "id": file.id, "created": int(workspace.clock.now()), "timestamp": int(workspace.clock.now()),
        "name": file.name, "title": file.name, "mimetype": file.mimetype,
        "filetype": file.name.rpartition(".")[2], "pretty_type": file.name.rpartition(".")[2].upper(),
        "user": file.person.id, "user_team": file.person.team, "mode": file.mode,
        "size": len(file.content) if file.claims is None else file.claims,
        "is_external": file.external, "is_public": True, "url_private": f"{url}/{name}",
        "url_private_download": f"{url}/download/{name}", "permalink": f"{url}/view", "file_access": "visible",
    }  # fmt: skip


class Downloads:
    """Answers the addresses above."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The file for who may have it, else the login page. A download is a GET, with the token in its header."""
        workspace = self._workspace
        file = workspace.files.get(request.match_info["file"].rpartition("-")[2])
        token = workspace.tokens.bot
        came = request.headers.get("Authorization", "").removeprefix("Bearer ")
        call = Call(DOWNLOAD, request.method, dict(request.query), came, workspace.clock.now())
        workspace.calls.append(call)
        workspace.changes.changed()
        if (hold := workspace.faults.held(DOWNLOAD)) is not None:
            await hold.wait()
        if request.method != "GET" or request.query:
            return web.Response(status=405, text="A file is got, by its address alone")
        fault = workspace.faults.take(DOWNLOAD)
        if fault is not None and fault.cut is None:
            return _spoiled(fault)
        if file is None or file.deleted:
            return web.Response(status=404, text="File not found")
        if came != token.text or token.gone or "files:read" not in token.scopes:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        if file.redirects_to:
            return web.Response(status=302, headers={"Location": file.redirects_to})
        call.status = 200
        return await _streamed(request, file, None if fault is None else fault.cut)


def _spoiled(fault: Fault) -> web.Response:
    """What comes instead of the file."""
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    return web.Response(
        status=fault.status, text=fault.body or "Slack is having trouble.", content_type="text/html", headers=headers
    )


async def _streamed(request: web.Request, file: Shared, cut: Cut | None) -> web.StreamResponse:
    """The bytes, of which one that lies about its size does not say how many come; or half of them.

    https://www.rfc-editor.org/rfc/rfc9112#section-6.3: a body without a length ends where the connection does.
    """
    transport = request.transport
    assert transport is not None
    half = file.content[: len(file.content) // 2]
    if cut is not None and file.claims is not None:
        transport.write(f"HTTP/1.1 200 OK\r\nContent-Type: {file.mimetype}\r\nConnection: close\r\n\r\n".encode())
        transport.write(half)
        transport.close()
        raise asyncio.CancelledError
    response = web.StreamResponse(headers={"Content-Type": file.mimetype})
    if file.claims is None:
        response.content_length = len(file.content)
    await response.prepare(request)
    if cut is None:
        await response.write(file.content)
        await response.write_eof()
        return response
    await response.write(half)
    transport.close()
    raise asyncio.CancelledError
