"""Files: what an event says of one, and the download, which without the right token is a login page.

https://docs.slack.dev/reference/objects/file-object, `url_private_download`: "requires … the token in an
Authorization header". Without it Slack sends a person's browser to the sign-in page: status 200, HTML.
"""

from aiohttp import web

from tests.wire.slack.methods import Method
from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.tokens import Token
from tests.wire.slack.workspace import Shared, Workspace

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
    return {"file": as_json(workspace, file), "comments": []}


METHODS = {"files.info": Method(info, ("file",), ("count", "page", "limit", "cursor"), "files:read", reads=True)}


def as_json(workspace: Workspace, file: Shared) -> Json:
    """The whole of what there is to say of a file."""
    url = f"{workspace.url}/files-pri/{workspace.team}-{file.id}"
    return {
        "id": file.id, "created": int(workspace.clock.now()), "timestamp": int(workspace.clock.now()),
        "name": file.name, "title": file.name, "mimetype": file.mimetype,
        "filetype": file.name.rpartition(".")[2], "pretty_type": file.name.rpartition(".")[2].upper(),
        "user": file.person.id, "user_team": file.person.team, "size": len(file.content), "mode": "hosted",
        "is_external": False, "is_public": True, "url_private": f"{url}/{file.name}",
        "url_private_download": f"{url}/download/{file.name}", "permalink": f"{url}/view", "file_access": "visible",
    }  # fmt: skip


class Downloads:
    """Answers the addresses above."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def handle(self, request: web.Request) -> web.Response:
        """The file for who may have it, else the login page."""
        file = self._workspace.files.get(request.match_info["file"].rpartition("-")[2])
        token = self._workspace.tokens.bot
        came = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if file is None:
            return web.Response(status=404, text="File not found")
        if came != token.text or token.gone or "files:read" not in token.scopes:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        return web.Response(body=file.content, content_type=file.mimetype)
