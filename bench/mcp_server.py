"""The free tool of the workload on an MCP server made with the real SDK: `python -m bench.mcp_server`, over stdio."""

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from bench import workload

_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}


async def _list(_: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
    looks = ToolAnnotations(read_only_hint=True)
    return ListToolsResult(
        tools=[Tool(name="look", description="Look at something.", input_schema=_SCHEMA, annotations=looks)]
    )


async def _call(_: Any, asked: CallToolRequestParams) -> CallToolResult:
    found = await workload.look(**(asked.arguments or {}))
    return CallToolResult(content=[TextContent(text=found)])


async def serve() -> None:
    """Answer until the client goes."""
    server = Server("bench", version="1", on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
