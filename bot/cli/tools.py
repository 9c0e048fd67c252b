"""`casebound tools …`: what the assistant may do here, and what is asked first."""

import asyncio
from collections.abc import Mapping
from typing import Annotated

import typer

from bot.cli import who
from bot.cli.arguments import Json
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import block, document, say
from bot.cli.toolbox import own, reached
from bot.policy import policy, profiles
from bot.settings import Settings
from bot.settings.profiles import Profile
from bot.tools.declare import Tool
from bot.tools.mcp.server import Server
from bot.turns.desk import Toolbox
from bot.words.durations import duration_text
from bot.words.present import Document
from casestore.states import Tier
from channels.storable import storable

app = group("tools", "Tools: what the assistant may do here, and what is asked first.")

_INDENT = " " * 4

For = Annotated[
    str | None,
    typer.Option("--for", metavar="PRINCIPAL", parser=storable, help="As it is in what is done for this person."),
]


@command(app, "list")
def list_(here: Here, for_: For = None, json: Json = False) -> None:
    """Each tool: what it is, what is done with a call of it and why, and the words an approver reads."""
    settings = here.settings
    whom = None if for_ is None else here.read(who.known, for_)
    narrowing = profiles.NONE if whom is None else profiles.of(settings, whom)
    tools, servers = asyncio.run(_asked(here)) if settings.mcp else (own(here), [])
    if json:
        document(
            {
                "tools": [_json(tool, settings, narrowing) for tool in tools.tools.values()],
                "servers": [
                    {"name": one.name, "ok": one.trouble is None, "why": one.trouble, "refused": [*one.refused]}
                    for one in servers
                ],
            }
        )
        return
    for tool in tools.tools.values():
        say(f"{tool.name}  {policy.explain(tool, settings, narrowing)}")
        for line in (
            f"{_why(tool, settings, narrowing)}; {'reversible' if tool.reversible else 'not reversible'}; "
            f"at most {duration_text(tool.timeout_ms)}",
            f"In words: {tool.statement}",
        ):
            for wrapped in block(line, first=_INDENT, indent=_INDENT + "  "):
                say(wrapped)
    for server in servers:
        for sentence in (server.trouble, *server.refused):
            for wrapped in block(f"MCP server {server.name}: {sentence}", indent=_INDENT) if sentence else ():
                say(wrapped)


async def _asked(here: Here) -> tuple[Toolbox, list[Server]]:
    """The tools, and the servers, as they were when they were asked."""
    async with reached(here) as (tools, servers):
        return tools, [*servers.all.values()]


def _json(tool: Tool, settings: Settings, narrowing: Mapping[str, Profile]) -> Document:
    return {
        "name": tool.name,
        "description": tool.description,
        "tier": tool.tier,
        "policy": policy.explain(tool, settings, narrowing),
        "why": _why(tool, settings, narrowing),
        "statement": tool.statement,
        "reversible": tool.reversible,
        "sensitive": tool.sensitive,
        "verified": tool.verified,
        "effect_key": tool.effect_key,
        "idempotent": tool.idempotent,
        "may_change": [*sorted(tool.may_change)],
        "timeout_ms": tool.timeout_ms,
        "ttl_ms": tool.ttl_ms,
        "version": tool.version,
    }


def _why(tool: Tool, settings: Settings, narrowing: Mapping[str, Profile]) -> str:
    """Why the policy does with a tool what it does."""
    where = _whence(tool, settings)
    rule = f'[policy] {tool.tier} = "{getattr(settings.policy, tool.tier)}"'
    reasons = [f"it is {tool.tier.replace('_', ' ')}{where}, and {rule}"]
    if settings.policy.observe and tool.tier is not Tier.READ_ONLY:
        reasons.append("this installation only observes")
    for where, profile in narrowing.items():
        if not profile.leaves(tool.name):
            reasons.append(f"[{where}] leaves it out")
        elif (said_there := profile.says(tool.tier)) is not None:
            reasons.append(f'[{where}] {tool.tier} = "{said_there}", which can only narrow')
    if tool.verified:
        reasons.append("the requester has to be verified first")
    if tool.sensitive:
        reasons.append("the requester has to consent first")
    if tool.effect_key is not None:
        reasons.append("a second call with the same effect is always asked")
    return "; ".join(reasons)


def _whence(tool: Tool, settings: Settings) -> str:
    """Who says what a tool is, where it is not the tool itself."""
    said, name = settings.tools.get(tool.name), tool.name.partition(".")[0]
    server = settings.mcp.get(name)
    if said is not None and said.tier is not None:
        return f', as [tools."{tool.name}"] says'
    if server is None:
        return ""
    if server.tier is None:
        return ", since nobody has said what it is"
    return (
        f", as [mcp.{name}] says" if tool.tier is server.tier else f", as its server says, whatever [mcp.{name}] does"
    )
