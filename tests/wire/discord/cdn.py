"""Where files are fetched: https://docs.discord.com/developers/reference#signed-attachment-cdn-urls"""

from aiohttp import web

from tests.wire.discord import showing
from tests.wire.discord.messages import Attached
from tests.wire.discord.world import World


class Cdn:
    """Gives a file out to who has a link that is signed and not over. It asks for no token."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.fetched: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One file. "hm: Unique signature that remains valid until the URL's expiration"."""
        file = self._find(request.match_info["channel"], request.match_info["file"])
        until = request.query.get("ex", "")
        signed = file is not None and request.query.get("hm") == showing.signature(file.id, until)
        if file is None or not signed or int(until, 16) < self._world.clock.now():
            return web.Response(status=404, text="This content is no longer available.")
        self.fetched.append(file.id)
        self._world.changes.changed()
        return web.Response(body=file.content, content_type=file.mimetype)

    def _find(self, channel: str, id: str) -> Attached | None:
        place = self._world.places.get(channel)
        everything = [] if place is None else [m for m in place.messages.values() if not m.deleted]
        return next((file for said in everything for file in said.attachments if file.id == id), None)
