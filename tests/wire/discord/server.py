"""A Discord for tests: `async with DiscordServer() as discord:`, and the real client connects to it.

It speaks the HTTP API (http_api.py) and the gateway (gateway.py), refuses what Discord refuses, and lets a test be
everybody else: the people (member.py), the moderators, the network.

    kim = discord.member("kim")
    room = discord.room("ops")
    asked = kim.mentions(room, "nginx is down")
    thread = (await discord.threads(room))[0]
    card = (await discord.said(thread))[0]
    await discord.answered(kim.presses(card, "Approve"))

Time stands here until `advance`. What a test waits for is waited for with `until`, never with a sleep.
"""

from collections.abc import Callable
from typing import Self, TypeVar

from aiohttp import web

from tests.wire.discord import events, saying
from tests.wire.discord.cdn import Cdn
from tests.wire.discord.clock import Clock
from tests.wire.discord.faults import Fault, Hold, When
from tests.wire.discord.gateway import Gateway
from tests.wire.discord.guilds import Guild, Role
from tests.wire.discord.http_api import BASE, HttpApi
from tests.wire.discord.intents import Intent
from tests.wire.discord.interactions import Interaction, Interactions
from tests.wire.discord.member import Member
from tests.wire.discord.messages import SYSTEM, Message
from tests.wire.discord.moderation import Moderation
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import NOTHING, USUAL, May
from tests.wire.discord.places import Place, Room, Thread
from tests.wire.discord.world import Call, World

T = TypeVar("T")
TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAwMA.GaBcDe.bot-token-of-the-test-server"
AT = 1_790_000_000.0


class DiscordServer(Moderation):
    """One application and its bot, and one guild that it is in. `privileged`: the intents its settings allow it."""

    def __init__(
        self, *, token: str = TOKEN, privileged: Intent = Intent.MESSAGE_CONTENT, at: float = AT,
        heartbeat: float = 41.25, port: int = 0,
    ) -> None:  # fmt: skip
        self.token = token
        self.world = World(Clock(at), token, privileged)
        self.gateway = Gateway(self.world, heartbeat)
        self.world.gateway = self.gateway
        self.acts = self.world.interactions = Interactions(self.world)
        self.api = HttpApi(self.world)
        self.cdn = Cdn(self.world)
        self._port = port
        self._runner: web.AppRunner | None = None
        self.guild = self.new_guild("home")

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=25 * 1024 * 1024)
        app.router.add_route("*", f"{BASE}/{{tail:.*}}", self.api.handle)
        for path in ("/gateway", "/gateway/", "/resume", "/resume/"):
            app.router.add_get(path, self.gateway.handle)
        app.router.add_get("/attachments/{channel}/{file}/{name}", self.cdn.handle)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = int(self._runner.addresses[0][1])
        self.world.url = f"http://127.0.0.1:{self._port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.world.faults.release()
        await self.gateway.close()
        assert self._runner is not None
        await self._runner.cleanup()
        assert not self.api.broken, self.api.broken

    # --- what a client needs ------------------------------------------------------------------------------------

    @property
    def api_url(self) -> str:
        """The `Route.BASE` of a client."""
        return f"{self.world.url}{BASE}"

    @property
    def gateway_url(self) -> str:
        """The `DiscordWebSocket.DEFAULT_GATEWAY` of a client."""
        return f"{self.world.url.replace('http', 'ws', 1)}/gateway"

    @property
    def bot(self) -> Person:
        """The bot's own account."""
        return self.world.bot

    @property
    def clock(self) -> Clock:
        """This server's time."""
        return self.world.clock

    # --- who and where ------------------------------------------------------------------------------------------

    def new_guild(self, name: str, *, with_bot: bool = True) -> Guild:
        """A guild, with the bot in it unless said otherwise. Everybody in it may do what is usual."""
        id = self.clock.snowflake()
        owner = self.world.add(Person(self.clock.snowflake(), f"owner-of-{name}"))
        guild = Guild(id, name, owner, self.clock.iso(), Role(id, "@everyone", USUAL))
        guild.add(owner)
        self.world.guilds[id] = guild
        if with_bot:
            guild.add(self.bot)
        return guild

    def member(self, name: str, *guilds: Guild, accepts_direct: bool = True) -> Member:
        """Somebody, in the first guild unless others are named."""
        person = self.world.add(Person(self.clock.snowflake(), name, accepts_direct=accepts_direct))
        for guild in guilds or (self.guild,):
            guild.add(person)
        return Member(self.world, self.acts, person)

    def stranger(self, name: str) -> Member:
        """Somebody who is in no guild."""
        return Member(self.world, self.acts, self.world.add(Person(self.clock.snowflake(), name)))

    def other_bot(self, name: str) -> Member:
        """Another bot of the guild."""
        person = self.world.add(Person(self.clock.snowflake(), name, bot=True))
        self.guild.add(person)
        return Member(self.world, self.acts, person)

    def role(
        self, name: str, permissions: May = NOTHING, *, guild: Guild | None = None, mentionable: bool = False
    ) -> Role:
        """A role of a guild; `grant` gives it to somebody."""
        made = Role(self.clock.snowflake(), name, permissions, mentionable)
        (guild or self.guild).roles[made.id] = made
        events.role_made(self.world, guild or self.guild, made, new=True)
        return made

    def room(self, name: str = "ops", *, guild: Guild | None = None, deny: May = NOTHING) -> Room:
        """A room; `deny`: what the bot may not do in it."""
        room = Room(self.clock.snowflake(), guild or self.guild, name)
        if deny:
            room.set_rule(self.bot, deny=deny, allow=NOTHING)
        self.world.places[room.id] = room
        events.room_event(self.world, room, "CHANNEL_CREATE")
        return room

    def direct(self, member: Member) -> Place:
        """The conversation of the bot with one person."""
        return self.world.direct(member.person)

    # --- what is to be seen -------------------------------------------------------------------------------------

    def calls(self, name: str | None = None) -> list[Call]:
        """What came in over HTTP."""
        return [call for call in self.world.calls if name in (None, call.name)]

    def posts(self, where: Place | None = None) -> list[Message]:
        """What the bot has said for everybody and what still stands: in one place or everywhere; oldest first."""
        places = self.world.places.values() if where is None else [where]
        everything = [message for place in places for message in place.messages.values()]
        return [
            said for said in everything
            if said.author is self.bot and not said.deleted and said.to is None and said.type not in SYSTEM
        ]  # fmt: skip

    def whispers(self, to: Member | None = None) -> list[Message]:
        """What the bot has said to one person alone (ephemeral messages)."""
        everything = [message for place in self.world.places.values() for message in place.messages.values()]
        return [m for m in everything if m.to is not None and not m.deleted and (to is None or m.to is to.person)]

    # --- waiting ------------------------------------------------------------------------------------------------

    async def until(self, look: Callable[[], T], *, within: float = 15.0, what: str = "") -> T:
        """The first true answer of `look`, asked again whenever something happens. Fails instead of hanging."""
        return await self.world.changes.until(look, within=within, what=what)

    async def connected(self, at_least: int = 1) -> None:
        """Until so many connections have a session."""
        await self.until(lambda: len(self.gateway.open()) >= at_least, what=f"{at_least} sessions")

    async def said(self, where: Place, at_least: int = 1) -> list[Message]:
        """Until the bot has said so much there; all of it."""
        return await self.until(
            lambda: found if len(found := self.posts(where)) >= at_least else [],
            what=f"{at_least} messages of the bot; there are {len(self.posts(where))}",
        )

    async def threads(self, room: Room, at_least: int = 1) -> list[Thread]:
        """Until there are so many threads in a room; all of them."""
        return await self.until(
            lambda: found if len(found := self.world.threads_of(room)) >= at_least else [], what=f"{at_least} threads"
        )

    async def called(self, name: str, at_least: int = 1) -> list[Call]:
        """Until an endpoint was called so often."""
        return await self.until(
            lambda: found if len(found := self.calls(name)) >= at_least else [], what=f"{at_least} calls of {name}"
        )

    async def answered(self, *made: Interaction) -> None:
        """Until the bot has acknowledged all of these."""
        await self.until(lambda: all(one.answered for one in made), what="answers to interactions")

    def advance(self, seconds: float) -> None:
        """Let time pass here: links end, tokens end, quiet threads are archived. A real client's sleep is real time."""
        self.clock.advance(seconds)
        for thread in [place for place in self.world.places.values() if isinstance(place, Thread)]:
            quiet = self.clock.now() - max(thread.active_at, thread.archive_changed)
            if not thread.archived and not thread.deleted and quiet >= thread.auto_archive * 60:
                saying.set_archived(self.world, thread, True)

    # --- what goes wrong ----------------------------------------------------------------------------------------

    def fail_next(
        self, name: str, *, status: int = 500, retry_after: float | None = None, after_accepting: bool = False,
        cut: bool = False, body: str | None = None, content_type: str = "text/html", times: int | None = 1,
    ) -> None:  # fmt: skip
        """The next calls of an endpoint go wrong; `times` None: all, until `heal`. `retry_after`: 429, in seconds."""
        when = When.AFTER if after_accepting else When.BEFORE
        status = 429 if retry_after is not None else status
        self.world.faults.add(name, Fault(status, when, cut, retry_after, body=body, content_type=content_type), times)

    def heal(self, name: str) -> None:
        """It goes well again."""
        self.world.faults.clear(name)

    def hold(self, name: str, *, answer: bool = False) -> Hold:
        """Calls of an endpoint wait: `await held.arrived()`, then `held.release()`. `answer`: only their answers do."""
        return self.world.faults.hold(name, When.AFTER if answer else When.BEFORE)

    def down(self) -> None:
        """Discord is down: nobody gets onto the gateway, and every call is answered with 503."""
        self.gateway.refuse = True
        self.gateway.drop()
        self.api.down = Fault(503, body="<html>Service Unavailable</html>")

    def up(self) -> None:
        """It is up again."""
        self.gateway.refuse = False
        self.api.down = None

    def revoke(self, token: str = "another") -> None:
        """The token is reset in the settings of the application: the old one is good no more, in whatever is going on.

        …/events/gateway#identifying: "all active sessions for the app will be terminated".
        """
        self.world.token = token
        self.gateway.forget()
        self.gateway.drop(4004)

    def limit(self, name: str, calls: int, per: float) -> None:
        """So many calls of an endpoint in so many seconds of real time, for each channel: a client sleeps in it."""
        self.world.limits.set(name, calls, per)

    def limit_everything(self, retry_after: float, *, times: int = 1) -> None:
        """The next calls, whatever they are, meet the global limit."""
        self.api.everywhere += [Fault(429, retry_after=retry_after, everywhere=True)] * times
