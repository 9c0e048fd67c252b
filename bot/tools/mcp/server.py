"""One MCP server: a task owns the connection, and makes a new one when it is lost. Calls come from anywhere.

The last known tools stay while a server is down: what was asked or approved meanwhile is not forgotten (R8).
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from bot import logs
from bot.settings.tools import Mcp
from bot.tools.declare import NotReached, Tool, ToolFailed
from bot.tools.mcp import definition
from bot.tools.mcp.call import SessionGone, call, listed, shake_hands
from bot.tools.mcp.connection import connection, statuses
from bot.tools.mcp.streams import LastWords
from bot.tools.mcp.trouble import why

if TYPE_CHECKING:
    from mcp.client.session import ClientSession, IncomingMessage
    from mcp_types import Tool as Definition

log = logging.getLogger("casebound.mcp")

Changed = Callable[[str, Sequence[Tool]], None]
"""Told the server's name and all its tools, whenever they are others than before."""

HANDSHAKE_S = 15.0
"""How long a server may take to say what it is and which tools it has."""
LOOK_S = 10.0
"""How long a call waits for a server that is down, and for its tools to be looked at again."""
RETRY_AFTER_S = (1.0, 2.0, 5.0, 15.0, 60.0)


class Server:
    """A server by its name in the settings; `run` is its task."""

    def __init__(
        self, name: str, settings: Mcp, changed: Changed, *, retry_after_s: Sequence[float] = RETRY_AFTER_S
    ) -> None:
        self.name, self._settings, self._changed = name, settings, changed
        self._retry_after_s = tuple(retry_after_s)
        self._last_words = LastWords()
        self._session: ClientSession | None = None
        self._definitions: dict[str, Definition] = {}
        self._up, self._woken, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._over = self._look_again = self._told_of_garbage = False
        self.leaving = False
        """Set before its task is cancelled for good."""
        self.tried = asyncio.Event()
        """Set once it is known whether it can be reached at all."""
        self.trouble: str | None = "it has not been reached yet"
        """Why it cannot be used, in words; None while it can."""
        self.refused: tuple[str, ...] = ()
        """What is wrong with tools of it that are not offered, a sentence each."""
        self.names: frozenset[str] = frozenset()
        """What its tools are called here."""

    async def run(self) -> None:
        """Until cancelled: be connected, and after a while be connected again."""
        failures = 0
        while True:
            try:
                await self._be_connected()
                failures, trouble = 0, "the connection was lost; it is being made again"
            except Exception as error:
                trouble = why(error, self._settings, self._last_words.line)
                log.debug("mcp.error", exc_info=error, extra={"fields": {"server": self.name}})
            if self.leaving:  # what cancelled us came while a connection ended, where the SDK may swallow it
                return
            if self.trouble != trouble:
                logs.event(log, "mcp.down", logging.WARNING, server=self.name, why=trouble)
            self.trouble = trouble
            self.tried.set()
            delay = self._retry_after_s[min(failures, len(self._retry_after_s) - 1)]
            failures += 1
            try:
                async with asyncio.timeout(delay):
                    await self._hurry.wait()
            except TimeoutError:
                continue
            finally:
                self._hurry.clear()

    async def call(self, asked: "Definition", args: dict[str, object]) -> object:
        """Make a call. Raises `ToolFailed`, or `OutcomeOpen` where nobody knows whether it was done."""
        session = await self._connected()
        try:
            return await call(session, asked.name, args)
        except SessionGone:  # the server was started anew, and may be another by now
            self._drop(session)
        await self.confirm(asked)
        return await call(await self._connected(), asked.name, args)

    async def confirm(self, asked: "Definition") -> None:
        """Look at the tools again; raises `ToolFailed` for one that is not what it was, or cannot be looked at (R9).

        A server that only does not answer keeps its connection: it may be busy with a call that is not to be cut off.
        """
        for last in (False, True):
            session = await self._connected()
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._look(session)
                break
            except Exception as error:
                if not isinstance(error, TimeoutError):
                    self._drop(session)
                if last or isinstance(error, TimeoutError):
                    raise self._cannot_be_used(why(error, self._settings, "")) from None
        now = self._definitions.get(asked.name)
        if now is None or definition.digest(now) != definition.digest(asked):
            what = "is gone" if now is None else "has been changed"
            raise ToolFailed(f"not run: the tool {what} on the MCP server {self.name} since it was asked about")

    async def _connected(self) -> "ClientSession":
        if self._session is None:
            self._hurry.set()
            with suppress(TimeoutError):  # said below, as it is when the connection was lost again at once
                async with asyncio.timeout(LOOK_S):
                    await self._up.wait()
        if self._session is None:
            raise self._cannot_be_used(self.trouble or "the connection was lost")
        return self._session

    def _cannot_be_used(self, reason: str) -> NotReached:
        return NotReached(f"not run: the MCP server {self.name} cannot be used: {reason}")

    def _drop(self, session: "ClientSession") -> None:
        """Give a connection up, unless another has taken its place; the task makes one."""
        if self._session is session:
            self._session = None
            self._up.clear()
            self._ended()

    async def _be_connected(self) -> None:
        """Connect, say which tools there are, and stay until the connection ends. Raises whatever hinders it."""
        from mcp.client.session import ClientSession

        self._over = self._look_again = self._told_of_garbage = False
        statuses.set([])
        async with (
            connection(self._settings, self._last_words, self._ended) as (incoming, outgoing),
            ClientSession(incoming, outgoing, message_handler=self._heard) as session,
        ):
            async with asyncio.timeout(HANDSHAKE_S):
                await shake_hands(session)
                await self._look(session)
            self._session, self.trouble = session, None
            self._up.set()
            self.tried.set()
            logs.event(log, "mcp.up", server=self.name, tools=len(self._definitions))
            try:
                await self._stay(session)
            finally:
                self._session = None
                self._up.clear()

    async def _stay(self, session: "ClientSession") -> None:
        while not self._over:
            await self._woken.wait()
            self._woken.clear()
            if self._look_again and not self._over:
                self._look_again = False
                try:
                    async with asyncio.timeout(HANDSHAKE_S):
                        await self._look(session)
                except TimeoutError:  # it is busy, and is asked once more
                    self._look_again = True
                    self._woken.set()

    async def _look(self, session: "ClientSession") -> None:
        """Ask which tools there are, and tell if they are others than before."""
        statuses.set([])
        found = {one.name: one for one in reversed(await listed(session))}
        if self._definitions == found and self.tried.is_set():
            return
        self._definitions = found
        understood = definition.tools_of(self.name, self._settings, list(found.values())[::-1], self)
        for sentence in understood.refused:
            logs.event(log, "mcp.tool_refused", logging.WARNING, server=self.name, why=sentence)
        self.refused, self.names = understood.refused, frozenset(tool.name for tool in understood.tools)
        self._changed(self.name, understood.tools)

    def _ended(self) -> None:
        self._over = True
        self._woken.set()

    async def _heard(self, message: "IncomingMessage") -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._look_again = True
            self._woken.set()
        elif isinstance(message, Exception) and not self._told_of_garbage:  # it is skipped; once is enough to say so
            self._told_of_garbage = True
            logs.event(log, "mcp.garbage", logging.WARNING, server=self.name)
