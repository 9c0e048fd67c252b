"""What is asked of a server, and what its silence or its refusal means for a call: not done, or nobody knows (R14)."""

import logging
from typing import TYPE_CHECKING

from bot.tools.declare import OutcomeOpen, ToolFailed
from bot.tools.mcp.connection import statuses
from bot.tools.mcp.result import LONGEST_ERROR, result_of
from channels.text import storable

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.exceptions import MCPError
    from mcp_types import Tool as Definition


log = logging.getLogger("casebound.mcp")


class SessionGone(ToolFailed):
    """The server does not know the session any more (it was started anew): nothing was done, a new one is needed."""


MOST_TOOLS = 1_000
"""More than this no server is asked for."""


async def shake_hands(session: "ClientSession") -> None:
    """Agree on a version of the protocol: by the handshake all know, or by what came after it."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION):
            raise
        await session.discover()


async def listed(session: "ClientSession") -> "list[Definition]":
    """Every tool of the server, in its order."""
    from mcp_types import PaginatedRequestParams

    found: list[Definition] = []
    cursor: str | None = None
    while len(found) < MOST_TOOLS:
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        found += page.tools
        if not page.next_cursor or page.next_cursor == cursor:
            break
        cursor = page.next_cursor
    return found[:MOST_TOOLS]


async def call(session: "ClientSession", tool: str, args: dict[str, object]) -> object:
    """Make one call. Raises `ToolFailed` where it was certainly not done, `OutcomeOpen` where it may have been."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

    noted: list[int] = []
    statuses.set(noted)
    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=args))
    try:
        # not `call_tool`, which would also hold the result against the server's schema, and drop it after the fact
        answered = await session.send_request(request, CallToolResult)
    except MCPError as error:
        raise _meant(error, noted) from None
    except Exception as error:  # whatever it was, the call was sent, or may have been
        log.debug("mcp.error", exc_info=error, extra={"fields": {"tool": tool}})
        raise OutcomeOpen(f"what its server answered cannot be read ({type(error).__name__})") from None
    return result_of(answered)


def _meant(error: "MCPError", noted: list[int]) -> Exception:
    from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND

    status = noted[-1] if noted else 200
    if error.code in (METHOD_NOT_FOUND, INVALID_PARAMS):
        return ToolFailed(storable(f"its server refuses the call: {error.message[:LONGEST_ERROR]}"))
    if status == 404:
        return SessionGone(f"its server refuses the call (HTTP {status})")
    if 400 <= status < 500 and status != 408:
        return ToolFailed(f"its server refuses the call (HTTP {status})")
    if status >= 500:
        return OutcomeOpen(f"its server answered with HTTP {status}")
    if error.code == CONNECTION_CLOSED:
        return OutcomeOpen("the connection to its server was lost")
    return OutcomeOpen(storable(f"its server answered with an error: {error.message[:LONGEST_ERROR]}"))
