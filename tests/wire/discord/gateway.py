"""The gateway: https://docs.discord.com/developers/events/gateway

Everything that happens is written into every session that asked for it, whether it has a connection or not; a
connection carries its session's events in order.
"""

import json
from collections.abc import Callable
from typing import cast

from aiohttp import WSMsgType, web

from tests.wire.discord import showing
from tests.wire.discord.connection import Connection
from tests.wire.discord.intents import KNOWN, PRIVILEGED, Intent
from tests.wire.discord.payload import Json, part
from tests.wire.discord.sessions import Session
from tests.wire.discord.world import World

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 3, 6, 7, 9, 10, 11
# #sending-events: "Must not exceed 4096 bytes. If … it does, the connection will be closed with a 4002".
MOST_BYTES = 4096
# The op codes that a bot may send, and this server has nothing to say to: voice, members, soundboard, channel info.
OTHERS = (4, 8, 31, 43)


class Gateway:
    """All connections and sessions. `heartbeat`: the interval in seconds that clients are told.

    `mute`: whoever identifies or resumes hears neither Ready nor Resumed, only answers to heartbeats; `unbegun`: how
    many have met that. #connections: an app is "ready" only with "the Ready (opcode 0) event", and no time is named
    in which that comes.
    """

    def __init__(self, world: World, heartbeat: float) -> None:
        self._world = world
        self.heartbeat = heartbeat
        self.connections: list[Connection] = []
        self.sessions: list[Session] = []
        self.identified: list[Json] = []
        self.resumed: list[Json] = []
        self.mistakes: list[str] = []
        self.refuse = False
        self.turned_away = 0
        self.mute = False
        self.unbegun = 0
        self._invalid: list[bool] = []

    def open(self) -> list[Connection]:
        """The connections that have a session and carry it."""
        return [c for c in self.connections if c.open() and c.session is not None]

    def happened(self, name: str, data: Callable[[bool], Json], intent: Intent) -> None:
        """Tell every session that has asked for it."""
        for session in self.sessions:
            if session.wants(intent):
                self._write(session, name, data)

    def _write(self, session: Session, name: str, data: Callable[[bool], Json]) -> None:
        event = session.write(name, data)
        for connection in self.open():
            if connection.session is session:
                connection.put(event)

    # --- one connection -----------------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One connection, from Hello to its end."""
        if self.refuse:
            self.turned_away += 1
            self._world.changes.changed()
            return web.Response(status=503)
        socket = web.WebSocketResponse(autoping=True, max_msg_size=1 << 20)
        await socket.prepare(request)
        connection = Connection(socket, request)
        self.connections.append(connection)
        connection.start()
        # #connecting-gateway-url-query-string-params: v and encoding. 4012: "an invalid version for the gateway".
        if request.query.get("v") != "10" or request.query.get("encoding") != "json":
            connection.close(4012)
        else:
            connection.put({"op": HELLO, "s": None, "t": None, "d": {"heartbeat_interval": int(self.heartbeat * 1000)}})
        async for message in socket:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY) and connection.open():
                self._hear(connection, cast("str | bytes", message.data))
        self._lost(connection)
        return socket

    def _lost(self, connection: Connection) -> None:
        """#initiating-a-disconnect: closed by the client with 1000 or 1001 "your session will be invalidated"."""
        session = connection.session
        told = connection.closing if connection.closing is not None else connection.socket.close_code
        connection.closing = connection.closing or 0
        if session is not None and not any(c.session is session for c in self.open()):
            session.dropped_at = self._world.clock.now()
            if told in (1000, 1001) and session in self.sessions:
                self.sessions.remove(session)
        self._world.changes.changed()

    def _hear(self, connection: Connection, text: str | bytes) -> None:
        try:
            said = cast("Json", json.loads(text))
            op = int(said["op"])
        except (ValueError, KeyError, TypeError):
            connection.close(4002)
            return
        if connection.too_many():
            connection.close(4008)
        elif len(text) > MOST_BYTES:
            connection.close(4002)
        elif op == HEARTBEAT:
            connection.heartbeats += 1
            connection.beat = cast("int | None", said.get("d"))
            if not connection.unanswered:
                connection.put({"op": ACK})
        elif op in (IDENTIFY, RESUME) and self.mute:
            self.unbegun += 1
        elif op == IDENTIFY:
            self._identify(connection, part(said.get("d")))
        elif op == RESUME:
            self._resume(connection, part(said.get("d")))
        elif connection.session is None:
            connection.close(4003)  # "You sent us a payload prior to identifying"
        elif op in OTHERS:
            self.mistakes.append(f"op {op} is not answered here: {said}")
        elif op != PRESENCE:
            connection.close(4001)  # "You sent an invalid Gateway opcode"
        self._world.changes.changed()

    def _identify(self, connection: Connection, said: Json) -> None:
        """#identifying. https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes"""
        self.identified.append(said)
        asked = int(said.get("intents", -1))
        privileged = Intent(asked & PRIVILEGED) if asked >= 0 else Intent(0)
        if connection.session is not None:
            connection.close(4005)
        elif said.get("token") != self._world.token:
            connection.close(4004)
        elif asked < 0 or asked & ~KNOWN:
            connection.close(4013)
        elif privileged & ~self._world.privileged:
            connection.close(4014)
        elif not self._turned_invalid(connection):
            session = Session(self._world.clock.snowflake(), Intent(asked))
            self.sessions.append(session)
            connection.session = session
            self._write(session, "READY", lambda _: self._ready(session))
            if session.wants(Intent.GUILDS):
                for guild in self._world.guilds.values():
                    if self._world.bot.id in guild.members and not guild.away:
                        self._write(
                            session, "GUILD_CREATE", lambda _, guild=guild: showing.guild_create(self._world, guild)
                        )

    def _ready(self, session: Session) -> Json:
        """gateway-events#ready: guilds are "Guilds the user is in", and "unavailable" until they are told of."""
        world = self._world
        return {
            "v": 10, "user": world.bot.as_json() | {"verified": True, "mfa_enabled": False}, "session_id": session.id,
            "guilds": [
                {"id": guild.id, "unavailable": True}
                for guild in world.guilds.values() if world.bot.id in guild.members
            ],
            "resume_gateway_url": f"{world.url.replace('http', 'ws', 1)}/resume",
            "application": {"id": world.app, "flags": 0}, "private_channels": [], "shard": [0, 1],
        }  # fmt: skip

    def _resume(self, connection: Connection, said: Json) -> None:
        """#resuming: the missed events in order, then Resumed; Invalid Session where it is too late for that."""
        self.resumed.append(said)
        session = next((s for s in self.sessions if s.id == said.get("session_id")), None)
        if said.get("token") != self._world.token:
            connection.close(4004)
            return
        if self._turned_invalid(connection):
            return
        if session is None or session.over(self._world.clock.now()):
            connection.put({"op": INVALID, "d": False})
            return
        seq = int(said.get("seq") or 0)
        if seq > session.seq:
            connection.close(4007)  # "The sequence sent when resuming the session was invalid"
            return
        for other in self.open():
            if other.session is session:
                other.close(4000)
        session.dropped_at = None
        for event in session.after(seq):
            connection.put(event)
        connection.session = session
        self._write(session, "RESUMED", lambda _: {})

    def _turned_invalid(self, connection: Connection) -> bool:
        if not self._invalid:
            return False
        connection.put({"op": INVALID, "d": self._invalid.pop(0)})
        return True

    # --- what goes wrong ----------------------------------------------------------------------------------------

    def drop(self, code: int | None = None) -> None:
        """End every connection: with a code, or as a network does."""
        for connection in list(self.connections):
            if connection.open():
                if code is None:
                    connection.abort()
                else:
                    connection.close(code)

    def reconnect(self) -> None:
        """Op 7: "You should attempt to reconnect and resume immediately"."""
        for connection in self.open():
            connection.put({"op": RECONNECT, "d": None, "s": None, "t": None})

    def invalidate(self, *, resumable: bool) -> None:
        """Op 9 now: the session is gone, or (`resumable`) the client is to come again and resume it."""
        for connection in self.open():
            if not resumable:
                self.forget()
            connection.put({"op": INVALID, "d": resumable})

    def forget(self) -> None:
        """No session is known any more: who comes to resume hears Invalid Session."""
        self.sessions.clear()

    def invalid_next(self, *, resumable: bool) -> None:
        """The next who identifies or resumes hears Invalid Session, as when too many do at once."""
        self._invalid.append(resumable)

    async def close(self) -> None:
        """The end."""
        for connection in self.connections:
            await connection.end()
