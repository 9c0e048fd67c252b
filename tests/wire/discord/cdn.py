"""Where files are fetched: https://docs.discord.com/developers/reference#signed-attachment-cdn-urls"""

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from tests.wire.discord import showing
from tests.wire.discord.faults import Fault, When
from tests.wire.discord.messages import Attached
from tests.wire.discord.world import World

DOWNLOAD = "cdn"
"""The name of a download, for `fail_next` and `hold`."""
_CHUNK = 64 * 1024


@dataclass(frozen=True)
class Asked:
    """Somebody asks for a file."""

    link: str
    headers: Mapping[str, str]


class Cdn:
    """Gives a file out to who has a link that is signed and not over. It asks for no token."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.asked: list[Asked] = []
        self.fetched: list[str] = []
        self.cut_off: list[str] = []
        """Of what was fetched, that of which somebody went away before its end."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One file. "hm: Unique signature that remains valid until the URL's expiration"."""
        world = self._world
        self.asked.append(Asked(f"{world.url}{request.raw_path}", request.headers.copy()))
        world.changes.changed()
        if (hold := world.faults.held(DOWNLOAD, When.BEFORE)) is not None:
            await hold.wait()
        file = self._find(request.match_info["channel"], request.match_info["file"])
        if (fault := world.faults.take(DOWNLOAD)) is not None:
            return await self._spoil(request, fault, file)
        until = request.query.get("ex", "")
        signed = file is not None and request.query.get("hm") == showing.signature(file.id, until)
        if file is None or not signed or int(until, 16) < world.clock.now():
            return web.Response(status=404, text="This content is no longer available.")
        if (hold := world.faults.held(DOWNLOAD, When.AFTER)) is not None:
            await hold.wait()
        return await self._give(request, file)

    async def _give(self, request: web.Request, file: Attached) -> web.StreamResponse:
        """The file piece by piece, as far as it is taken."""
        response = web.StreamResponse(headers={"Content-Type": file.mimetype})
        response.content_length = len(file.content)
        self.fetched.append(file.id)
        try:
            await response.prepare(request)
            for begin in range(0, len(file.content), _CHUNK):
                await response.write(file.content[begin : begin + _CHUNK])
            await response.write_eof()
        except ConnectionError:
            self.cut_off.append(file.id)
        self._world.changes.changed()
        return response

    async def _spoil(self, request: web.Request, fault: Fault, file: Attached | None) -> web.StreamResponse:
        """A download that goes wrong: cut in its middle, sent elsewhere (to itself, once more), or another answer."""
        if fault.cut and file is not None:
            response = web.StreamResponse(headers={"Content-Type": file.mimetype})
            response.content_length = len(file.content)
            await response.prepare(request)
            await response.write(file.content[: len(file.content) // 2])
            if request.transport is not None:
                request.transport.close()
            return response
        headers = {"Content-Type": fault.content_type}
        if 300 <= fault.status < 400:
            headers["Location"] = request.path_qs
        return web.Response(status=fault.status, body=(fault.body or "").encode(), headers=headers)

    def _find(self, channel: str, id: str) -> Attached | None:
        place = self._world.places.get(channel)
        everything = [] if place is None else [m for m in place.messages.values() if not m.deleted]
        return next((file for said in everything for file in said.attachments if file.id == id), None)
