"""From what a server says about a tool to a tool of ours: its name, its words, its tier, and how it is checked."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from bot.settings.tools import Mcp
from bot.tools.declare import NAME, BadDeclaration, Tool, wire
from bot.tools.mcp.check import check_of
from casestore.states import Tier
from channels.text import storable

if TYPE_CHECKING:
    from mcp_types import Tool as Definition
    from mcp_types import ToolAnnotations


class Caller(Protocol):
    """What stands behind the tools of a server."""

    async def call(self, asked: "Definition", args: dict[str, object]) -> object:
        """Make a call of a tool that was defined so."""
        ...

    async def confirm(self, asked: "Definition") -> None:
        """See that it is still defined so; raises `ToolFailed` (R9)."""
        ...


LONGEST_NAME = 64
"""Characters of a name that every provider takes."""
LONGEST_DESCRIPTION = 4_000
LARGEST_SCHEMA = 60_000
"""Characters of one tool's schema: it is sent with every request to the model."""

_CAN_BE_FILLED_IN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Understood:
    """The tools of a server, and what is wrong with those that cannot be offered, a sentence each."""

    tools: tuple[Tool, ...] = ()
    refused: tuple[str, ...] = ()


def tools_of(server: str, settings: Mcp, definitions: Sequence["Definition"], caller: Caller) -> Understood:
    """What a server offers, as tools of ours."""
    tools: dict[str, Tool] = {}
    refused: list[str] = []
    for one in definitions:
        try:
            tool = _tool(server, settings, one, caller)
            if tool.name in tools:
                raise BadDeclaration(f"Tool {tool.name}: the server names it twice.")
        except BadDeclaration as error:
            refused.append(str(error))
        else:
            tools[tool.name] = tool
    return Understood(tuple(tools.values()), tuple(refused))


def digest(definition: "Definition") -> str:
    """Over all that a server says about a tool (R9)."""
    said = json.dumps(definition.model_dump(mode="json", exclude={"meta", "icons"}), sort_keys=True)
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()


def name_of(server: str, tool: str) -> str:
    """`git.git_status`. A name that does not fit, or is too long, is made to, and told from others by a hash of it."""
    whole = f"{server}.{tool}"
    if NAME.fullmatch(whole) and len(wire(whole)) <= LONGEST_NAME:
        return whole
    mark = hashlib.sha256(tool.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    room = LONGEST_NAME - len(server) - len(mark) - 3
    words = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9-]", "_", tool)).strip("_")[:room]
    return f"{server}.{words}-{mark}" if words else f"{server}.{mark}"


def tier_of(settings: Mcp, hints: "ToolAnnotations | None") -> Tier:
    """What the settings say about the server, and consequential where they do not (R24); hints can only raise it."""
    tier = Tier.CONSEQUENTIAL if settings.tier is None else settings.tier
    if hints is None:
        return tier
    destroys = hints.destructive_hint is True and hints.read_only_hint is not True
    writes = hints.read_only_hint is False and tier is Tier.READ_ONLY
    return Tier.CONSEQUENTIAL if destroys or writes else tier


def _tool(server: str, settings: Mcp, definition: "Definition", caller: Caller) -> Tool:
    name, schema = name_of(server, definition.name), _schema(definition.input_schema)
    if schema is None:
        raise BadDeclaration(f"Tool {name}: the schema of its arguments is none.")
    if len(json.dumps(schema)) > LARGEST_SCHEMA:
        raise BadDeclaration(f"Tool {name}: the schema of its arguments has more than {LARGEST_SCHEMA} characters.")
    described = storable(definition.description or definition.title or definition.name).strip()

    tier = tier_of(settings, definition.annotations)

    async def made(args: dict[str, object]) -> object:
        return await caller.call(definition, args)

    return Tool(
        name=name, description=described[:LONGEST_DESCRIPTION] or name, schema=schema,
        statement=_statement(server, definition.name, schema), check=check_of(name, schema),
        tier=tier, reversible=tier is Tier.READ_ONLY, timeout_ms=settings.timeout, call=made,
        confirm=lambda: caller.confirm(definition),
    )  # fmt: skip


def _schema(given: dict[str, object]) -> dict[str, object] | None:
    """The schema as providers take it: text that can be stored, and of one object."""
    try:
        schema: object = json.loads(storable(json.dumps(given, ensure_ascii=False, allow_nan=False)))
    except (ValueError, RecursionError):
        return None
    if not isinstance(schema, dict):
        return None
    empty: dict[str, object] = {"type": "object", "properties": dict[str, object]()}
    found = empty | cast("dict[str, object]", schema)
    return found if found["type"] == "object" and isinstance(found["properties"], dict) else None


def _statement(server: str, tool: str, schema: dict[str, object]) -> str:
    """The engine's words for a call: what is called, where, and every argument that has to be given."""
    required = schema.get("required")
    given = cast("list[object]", required) if isinstance(required, list) else []
    known = cast("dict[str, object]", schema["properties"])
    named = [
        one for one in given if isinstance(one, str) and one in known and _CAN_BE_FILLED_IN.fullmatch(one) is not None
    ]
    what = storable(tool)[:100].replace("{", "{{").replace("}", "}}")
    words = f"Call {what} of the MCP server {server}"
    return f"{words}: {', '.join(f'{one} {{{one}}}' for one in named)}" if named else words
