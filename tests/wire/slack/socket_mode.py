"""Socket Mode: the connections of the app, and what goes over them.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import json
from dataclasses import dataclass
from typing import cast

from aiohttp import WSCloseCode, WSMsgType, web

from tests.wire.slack.deliveries import Attempt, Deliveries, Delivery
from tests.wire.slack.payload import Json
from tests.wire.slack.workspace import Workspace

# "Socket Mode allows your app to maintain up to 10 open WebSocket connections at the same time."
MOST_CONNECTIONS = 10


@dataclass(eq=False)
class Connection:
    """One open socket. A deaf one takes what is sent and answers no ping."""

    name: str
    socket: web.WebSocketResponse
    request: web.Request
    leaving: bool = False
    deaf: bool = False

    @property
    def open(self) -> bool:
        """Whether something can be sent over it."""
        return not self.socket.closed and not self.leaving


class SocketMode:
    """All connections. "When multiple connections are active, each payload may be sent to any of the connections.\""""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tickets: set[str] = set()
        self._turn = 0
        self.deliveries: Deliveries | None = None
        self.connections: list[Connection] = []
        self.mistakes: list[str] = []
        self.refuse = False
        self.turned_away = 0

    def ticket(self) -> str:
        """A new address: "The URL is created at runtime" and lets in once."""
        ticket = self._workspace.id("ticket")
        self._tickets.add(ticket)
        base = self._workspace.url.replace("http://", "ws://", 1)
        return f"{base}/link/?ticket={ticket}&app_id={self._workspace.app_id}"

    def forget_tickets(self) -> None:
        """The addresses that were handed out let nobody in any more.

        https://docs.slack.dev/reference/methods/apps.connections.open: "a temporary Socket Mode WebSocket URL".
        """
        self._tickets.clear()

    def open(self) -> list[Connection]:
        """Those over which something can be sent."""
        return [connection for connection in self.connections if connection.open]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One connection, from its beginning to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or self.refuse:
            self.turned_away += 1
            self._workspace.changes.changed()
            return web.Response(status=408, text="the ticket is used or unknown")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        # "disconnect", reason too_many_websockets.
        if len(self.open()) >= MOST_CONNECTIONS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return socket
        connection = Connection(self._workspace.id("socket"), socket, request)
        self.connections.append(connection)
        # "hello": "num_connections", "connection_info", "debug_info".
        await socket.send_json({
            "type": "hello", "num_connections": len(self.open()),
            "connection_info": {"app_id": self._workspace.app_id},
            "debug_info": {"host": "applink-1", "build_number": 1, "approximate_connection_time": 18060},
        })  # fmt: skip
        self._workspace.changes.changed()
        async for message in socket:
            if connection.deaf:
                continue
            if message.type is WSMsgType.PING:
                await socket.pong(cast("bytes", message.data))
            elif message.type is WSMsgType.TEXT:
                self._hear(cast("str", message.data))
        self._workspace.changes.changed()
        return socket

    def _hear(self, text: str) -> None:
        """An acknowledgement: an object with the `envelope_id`, and a `payload` where the envelope accepts one."""
        try:
            said = cast("Json", json.loads(text))
            envelope_id = str(said["envelope_id"])
        except (ValueError, KeyError, TypeError):
            self.mistakes.append(f"no acknowledgement: {text}")
            return
        assert self.deliveries is not None
        answer = cast("Json", said.get("payload") or {})
        delivery = self.deliveries.acknowledge(envelope_id, answer)
        if delivery is None:
            self.mistakes.append(f"acknowledges what was not sent, or once more: {text}")
        # "accepts_response_payload": an event has no answer.
        elif answer and delivery.kind == "events_api":
            self.mistakes.append(f"answers an event: {text}")

    async def carry(self, delivery: Delivery, attempt: Attempt) -> None:
        """Over one of the open connections, by turns."""
        connections = self.open()
        if not connections:
            return
        connection = connections[self._turn % len(connections)]
        self._turn += 1
        attempt.by = connection.name
        envelope: Json = {
            "envelope_id": attempt.envelope_id, "type": delivery.kind, "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }  # fmt: skip
        if delivery.kind == "events_api":
            # On every event envelope, zero and empty the first time.
            envelope |= {"retry_attempt": attempt.number, "retry_reason": "timeout" if attempt.number else ""}
        await connection.socket.send_json(envelope)

    async def disconnect(self, reason: str) -> None:
        """Ask the app to connect anew. `warning` comes about ten seconds before the end of a connection, which goes on
        until then; after `refresh_requested` nothing more comes over it."""
        for connection in self.open():
            connection.leaving = reason != "warning"
            await connection.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "wss-1"}})

    async def drop(self, *, politely: bool = False) -> None:
        """End every connection: with a closing handshake, or as a network does."""
        for connection in self.open():
            if politely:
                await connection.socket.close(code=WSCloseCode.GOING_AWAY)
            else:
                connection.leaving = True
                if connection.request.transport is not None:
                    connection.request.transport.abort()
        self._workspace.changes.changed()

    async def close(self) -> None:
        """The end."""
        for connection in self.connections:
            await connection.socket.close()
