"""A Slack for tests: `async with SlackServer() as slack:`, and the real clients connect to `slack.api_url`.

It speaks the Web API (web_api.py), Socket Mode (socket_mode.py) and HTTP mode (http_mode.py), refuses what Slack
refuses, and lets a test be everybody else: the people (member.py), the admin, the network.

    kim = slack.member("kim")
    room = slack.room("ops", kim)
    said = await kim.mentions(room, "nginx is down")
    card = (await slack.said(said))[0]
    await slack.acked(await kim.presses(card, "Approve"))

Time stands here until `advance`. What a test waits for is waited for with `until`, never with a sleep.
"""

from collections.abc import Callable
from typing import Self, TypeVar

from aiohttp import web

from tests.wire.slack import events
from tests.wire.slack.clock import Clock
from tests.wire.slack.deliveries import Deliveries, Delivery
from tests.wire.slack.faults import Cut, Fault, Hold
from tests.wire.slack.files import Downloads
from tests.wire.slack.http_mode import HttpMode
from tests.wire.slack.interactions import Interactions
from tests.wire.slack.member import Member, Said
from tests.wire.slack.people import Person, Standing
from tests.wire.slack.rooms import Kind, Message, Room
from tests.wire.slack.socket_mode import SocketMode
from tests.wire.slack.tokens import EVERY_SCOPE, Token, Tokens
from tests.wire.slack.web_api import WebApi
from tests.wire.slack.workspace import Call, Interaction, Workspace

T = TypeVar("T")
BOT_TOKEN = "xoxb-1-bot"
APP_TOKEN = "xapp-1-app"
SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
AT = 1_790_000_000.0


class SlackServer:
    """One workspace with one app in it. `echo`: the app hears its own messages too, as it does with `message.*`."""

    def __init__(
        self, *, team: str = "T0CASEBOUND", enterprise: str | None = None, scopes: frozenset[str] = EVERY_SCOPE,
        app_scopes: frozenset[str] = frozenset({"connections:write"}), at: float = AT, echo: bool = True, port: int = 0,
    ) -> None:  # fmt: skip
        tokens = Tokens(Token(BOT_TOKEN, scopes), Token(APP_TOKEN, app_scopes))
        self.workspace = Workspace(Clock(at), tokens, team, enterprise)
        self.sockets = SocketMode(self.workspace)
        self.deliveries = Deliveries(self.workspace, self.sockets)
        self.sockets.deliveries = self.deliveries
        self._acts = Interactions(self.workspace)
        self._api = WebApi(self.workspace, self.sockets.ticket, self._echo)
        self._http: HttpMode | None = None
        self._port = port
        self._runner: web.AppRunner | None = None
        self._echoes = echo
        self._holds: list[Hold] = []

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=10 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._api.handle)
        app.router.add_get("/link/", self.sockets.handle)
        app.router.add_route("*", "/files-pri/{file}/{tail:.*}", Downloads(self.workspace).handle)
        app.router.add_post("/actions/{team}/{name}", self._acts.answer)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = int(self._runner.addresses[0][1])
        self.workspace.url = f"http://127.0.0.1:{self._port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        for hold in list(self._holds):
            hold.release()
        await self._api.close()
        await self.sockets.close()
        if self._http is not None:
            await self._http.close()
        assert self._runner is not None
        await self._runner.cleanup()

    # --- what a client needs ------------------------------------------------------------------------------------

    @property
    def api_url(self) -> str:
        """The `base_url` of a client."""
        return f"{self.workspace.url}/api/"

    @property
    def team(self) -> str:
        """The id of the workspace."""
        return self.workspace.team

    @property
    def bot(self) -> Person:
        """The app's own account."""
        return self.workspace.bot

    @property
    def clock(self) -> Clock:
        """This server's time."""
        return self.workspace.clock

    def speaks_http(self, url: str, secret: str = SIGNING_SECRET) -> None:
        """From now on the app is told by requests to this address, not over sockets."""
        self._http = HttpMode(self.workspace, self.deliveries, url, secret)
        self.deliveries.carrier = self._http

    # --- who and where ------------------------------------------------------------------------------------------

    def member(
        self, name: str, *, team: str | None = None, standing: Standing = Standing.MEMBER, id: str | None = None
    ) -> Member:
        """Somebody; with another `team`, a member of another workspace (Slack Connect)."""
        who = Person(
            id or self.workspace.id("U"), team or self.team, name, self.workspace.enterprise, standing=standing
        )
        return Member(self.workspace, self.deliveries, self._acts, self.workspace.add(who))

    def other_bot(self, name: str) -> Member:
        """Another app of the workspace; what it says has a `bot_id`."""
        number = self.workspace.id("")
        who = Person(f"U{number}", self.team, name, self.workspace.enterprise, f"B{number}", f"A{number}")
        return Member(self.workspace, self.deliveries, self._acts, self.workspace.add(who))

    def room(
        self, name: str = "ops", *members: Member, kind: Kind = Kind.PUBLIC, with_bot: bool = True,
        shared: bool = False, id: str | None = None,
    ) -> Room:  # fmt: skip
        """A room with these people in it, and the app unless said otherwise."""
        inside = {member.id for member in members} | ({self.bot.id} if with_bot else set[str]())
        room = Room(id or self.workspace.id("C"), name, self.team, kind, inside, shared=shared)
        self.workspace.rooms[room.id] = room
        return room

    def direct(self, member: Member) -> Room:
        """The conversation of the app with one person."""
        return self.workspace.direct(member.person)

    # --- what is to be seen -------------------------------------------------------------------------------------

    def calls(self, method: str | None = None) -> list[Call]:
        """What came in over the Web API."""
        return [call for call in self.workspace.calls if method in (None, call.method)]

    def posts(self, where: Room | Message | Said | None = None) -> list[Message]:
        """What the app has said and what still stands: everywhere, in a room, or below a message; oldest first."""
        message = where.message if isinstance(where, Said) else where
        return [
            said
            for room in self.workspace.rooms.values()
            for said in room.messages.values()
            if said.author is self.bot and not said.deleted and said.to is None
            and (message is None or room is message
                 or (isinstance(message, Message) and message.room is room and said.thread_ts == message.root))
        ]  # fmt: skip

    def whispers(self, to: Member | None = None) -> list[Message]:
        """What the app has said to one person alone (ephemeral messages)."""
        everything = [said for room in self.workspace.rooms.values() for said in room.messages.values()]
        return [said for said in everything if said.to is not None and (to is None or said.to is to.person)]

    def answers(self, delivery: Delivery) -> Interaction:
        """What the app has posted to the `response_url` of a press, a shortcut or a command."""
        return self.workspace.interactions[str(delivery.payload["response_url"]).rpartition("/")[2]]

    def status(self, thread: Message | Said) -> str:
        """The status line of a thread; empty: none."""
        message = thread.message if isinstance(thread, Said) else thread
        return self.workspace.statuses.get((message.room.id, message.root), "")

    # --- waiting ------------------------------------------------------------------------------------------------

    async def until(self, look: Callable[[], T], *, within: float = 15.0, what: str = "") -> T:
        """The first true answer of `look`, asked again whenever something happens. Fails instead of hanging."""
        return await self.workspace.changes.until(look, within=within, what=what)

    async def connected(self, at_least: int = 1) -> None:
        """Until the app listens."""
        await self.until(lambda: len(self.sockets.open()) >= at_least, what=f"{at_least} open sockets")

    async def said(self, where: Room | Message | Said, at_least: int = 1) -> list[Message]:
        """Until the app has said so much there; all of it."""
        return await self.until(
            lambda: found if len(found := self.posts(where)) >= at_least else [],
            what=f"{at_least} messages of the app; there are {len(self.posts(where))}",
        )

    async def called(self, method: str, at_least: int = 1) -> list[Call]:
        """Until the app has called a method so often."""
        return await self.until(
            lambda: found if len(found := self.calls(method)) >= at_least else [], what=f"{at_least} calls of {method}"
        )

    async def acked(self, *deliveries: Delivery) -> None:
        """Until the app has acknowledged all of these."""
        await self.until(lambda: all(d.acked for d in deliveries), what="acknowledgements")

    async def advance(self, seconds: float) -> None:
        """Let time pass here, and send again what has become due. Retry-After of a real client is real time."""
        self.clock.advance(seconds)
        await self.deliveries.catch_up()

    async def again(self, delivery: Delivery, *, as_retry: bool = True) -> None:
        """Deliver once more, now, acknowledged or not; `as_retry` False: with its counter reset (bolt-js 2487)."""
        await self.deliveries.attempt(delivery, as_retry=as_retry)

    # --- what goes wrong ----------------------------------------------------------------------------------------

    def fail_next(
        self, method: str, *, status: int = 200, error: str = "", retry_after: int | None = None,
        cut_before: bool = False, cut_after_accepting: bool = False, cut_halfway: bool = False, body: str | None = None,
        content_type: str = "text/html", accepted: bool = False, times: int | None = 1, after: int = 0,
    ) -> None:  # fmt: skip
        """The next calls of a method (or downloads, `files.DOWNLOAD`) go wrong; `times` None: all, until `heal`.

        `after`: so many go well before. `accepted`: it is done all the same, as Slack says of some errors.
        """
        cuts = {Cut.BEFORE: cut_before, Cut.AFTER_ACCEPTING: cut_after_accepting, Cut.HALFWAY: cut_halfway}
        cut = next((cut for cut, wanted in cuts.items() if wanted), None)
        status = 429 if retry_after is not None else status
        fault = Fault(status, error, retry_after, cut, body, content_type, accepted)
        self.workspace.faults.add(method, fault, times, after)

    def heal(self, method: str) -> None:
        """It goes well again."""
        self.workspace.faults.clear(method)

    def hold(self, method: str) -> Hold:
        """Calls of a method wait at the door: `await held.arrived()`, then `held.release()`."""
        hold = self.workspace.faults.hold(method)
        self._holds.append(hold)
        return hold

    def limit(self, method: str, seconds: float, *, room: Room | None = None) -> None:
        """429 for so long, of this server's time; for one room, where posting is counted."""
        key = method if room is None else f"{method} {room.id}"
        self.workspace.limits[key] = self.clock.now() + seconds

    def pace(self, seconds: float) -> None:
        """From now on every room takes one message in so many seconds of this server's time, and 429s those in between.

        https://docs.slack.dev/apis/web-api/rate-limits: "1 per second" for each room; Slack lets short bursts through.
        """
        self.workspace.pace = seconds

    async def revoke(self, token: str = BOT_TOKEN, error: str = "token_revoked") -> None:
        """The token is no longer good, in the middle of everything: `token_revoked`, `account_inactive`, …"""
        tokens = self.workspace.tokens
        found = tokens.bot if token == tokens.bot.text else tokens.app
        found.gone = error
        if found is tokens.bot:
            await self._tell(events.revoked(self.workspace), None)

    def restore(self, token: str = BOT_TOKEN) -> None:
        """The token is good again."""
        tokens = self.workspace.tokens
        (tokens.bot if token == tokens.bot.text else tokens.app).gone = ""

    async def archive(self, room: Room) -> None:
        """A room is archived: it can be read, and nothing said."""
        room.archived = True
        await self._tell(events.about_room(self.workspace, self._about(room, "archive"), room), room)

    async def delete_room(self, room: Room) -> None:
        """A room is gone."""
        room.deleted = True
        await self._tell(events.about_room(self.workspace, self._about(room, "deleted"), room), room)

    async def remove_bot(self, room: Room) -> None:
        """Somebody sends the app out of a room: reference/events/channel_left."""
        event = events.about_room(self.workspace, self._about(room, "left"), room)
        await self._tell(event, room)
        room.members.discard(self.bot.id)

    def add_bot(self, room: Room) -> None:
        """Somebody invites the app."""
        room.members.add(self.bot.id)

    @staticmethod
    def _about(room: Room, what: str) -> str:
        return f"{'group' if room.kind is Kind.PRIVATE else 'channel'}_{what}"

    async def _tell(self, event: dict[str, object], room: Room | None) -> None:
        if room is not None and self.bot.id not in room.members:
            return
        wrapped = events.callback(self.workspace, event, self.workspace.id("Ev"), room)
        await self.deliveries.send("events_api", wrapped)

    async def _echo(self) -> None:
        """Tell the app of what it has done itself."""
        happened, self.workspace.events[:] = list(self.workspace.events), []
        for event in happened if self._echoes else []:
            await self._tell(event, self.workspace.rooms[str(event["channel"])])
