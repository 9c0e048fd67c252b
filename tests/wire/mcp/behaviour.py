"""A server made with the real SDK, whose tools misbehave in the ways that tools do.

What it did is in files of a folder: `effects` has a line for each effect, and `version`, where it is there, makes it
define its tools differently from then on. The protocol is the SDK's (modelcontextprotocol.io, revision 2025-11-25).
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

FLOOD = 5_000_000
LONG = "a_tool_whose_name_goes_on_and_on_" * 3
TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


class Behaviour:
    """The tools of the server, and what a call of each does."""

    def __init__(self, folder: Path, *, many: int = 0) -> None:
        self.folder, self.many = folder, many
        self.calls: list[str] = []
        self._does: Mapping[str, Callable[[dict[str, Any]], Any]] = {
            "echo": lambda args: args["text"],
            "measure": lambda args: str(len(args["text"])),
            "record": self._record,
            "flood": lambda _: "x" * FLOOD,
            "picture": lambda _: ImageContent(data="QUJD" * 1024, mime_type="image/png"),
            "secret": lambda _: os.environ.get("API_KEY", "none"),
        }

    def server(self) -> Server[Any]:
        """The server, for a transport."""
        return Server("misbehaving", version="1", on_list_tools=self._list, on_call_tool=self._call)

    def effects(self) -> list[str]:
        """What was done, in order."""
        file = self.folder / "effects"
        return file.read_text("utf-8").splitlines() if file.exists() else []

    def define_anew(self) -> None:
        """From now on `record` takes another argument, as after a deploy of the server."""
        (self.folder / "version").write_text("2", "utf-8")

    def _record(self, args: dict[str, Any]) -> str:
        with (self.folder / "effects").open("a", encoding="utf-8") as file:
            file.write(f"{args['text'][:80]}\n")
        return "recorded"

    async def _list(self, _: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
        looks, destroys = ToolAnnotations(read_only_hint=True), ToolAnnotations(destructive_hint=True)
        second = (self.folder / "version").exists()
        record = {**TEXT, "properties": {**TEXT["properties"], "copies": {"type": "integer"}}} if second else TEXT
        tools = [
            Tool(name="echo", description="Say it back.", input_schema=TEXT, annotations=looks),
            Tool(name="measure", description="How long it is.", input_schema=TEXT, annotations=looks),
            Tool(name="record", description="Write it down.", input_schema=record),
            Tool(name="wipe", description="Forget all.", input_schema=NOTHING, annotations=destroys),
            Tool(name="flood", description="Say much.", input_schema=NOTHING, annotations=looks),
            Tool(name="picture", description="Show it.", input_schema=NOTHING, annotations=looks),
            Tool(name="fail", description="Fail.", input_schema=NOTHING, annotations=looks),
            Tool(name="raise", description="Raise.", input_schema=NOTHING, annotations=looks),
            Tool(name="grow", description="Define them anew, and say so.", input_schema=NOTHING, annotations=looks),
            Tool(name="hang", description="Never return.", input_schema=NOTHING),
            Tool(name="die", description="Write it down, and die.", input_schema=TEXT),
            Tool(name="secret", description="Say the key.", input_schema=NOTHING, annotations=looks),
            Tool(name=f"{LONG}one", description="One.", input_schema=NOTHING, annotations=looks),
            Tool(name=f"{LONG}two", description="Two.", input_schema=NOTHING, annotations=looks),
            Tool(name="écrire/ça", description="Odd.", input_schema=NOTHING, annotations=looks),
            *(
                Tool(name=f"tool_{n}", description=f"Number {n}.", input_schema=NOTHING, annotations=looks)
                for n in range(self.many)
            ),
        ]
        return ListToolsResult(tools=tools)

    async def _call(self, ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        args = params.arguments or {}
        self.calls.append(params.name)
        match params.name:
            case "fail":
                return CallToolResult(content=[TextContent(text="the disk is full")], is_error=True)
            case "raise":
                raise KeyError("secret detail")
            case "hang":
                await anyio.Event().wait()
            case "grow":
                self.define_anew()
                await ctx.session.send_tool_list_changed()
            case "die":
                self._record(args)
                os._exit(3)
            case _:
                pass
        does = self._does.get(params.name)
        said = f"this is {params.name}" if does is None else does(args)
        return CallToolResult(content=[said if isinstance(said, ImageContent) else TextContent(text=said)])


async def over_stdio(behaviour: Behaviour) -> None:
    """Serve until the client goes."""
    server = behaviour.server()
    async with stdio_server() as (incoming, outgoing):
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        await server.run(incoming, outgoing, options)
