"""`casebound tools …`: what the assistant may do here, and what is asked first."""

from collections.abc import Mapping
from typing import Annotated

import typer

from bot.cli import who
from bot.cli.arguments import Json
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import block, document, say
from bot.cli.toolbox import box
from bot.settings import Settings
from bot.settings.profiles import Profile
from bot.tools.declare import Tool
from bot.turns import policy, profiles
from bot.words.durations import duration_text
from bot.words.present import Document
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
    settings, tools = here.settings, box(here).tools.values()
    whom = None if for_ is None else here.read(who.known, for_)
    narrowing = profiles.NONE if whom is None else profiles.of(settings, whom)
    if json:
        document({"tools": [_json(tool, settings, narrowing) for tool in tools]})
        return
    for tool in tools:
        say(f"{tool.name}  {policy.explain(tool, settings, narrowing.values())}")
        for line in (
            f"{_why(tool, settings, narrowing)}; {'reversible' if tool.reversible else 'not reversible'}; "
            f"at most {duration_text(tool.timeout_ms)}",
            f"In words: {tool.statement}",
        ):
            for wrapped in block(line, first=_INDENT, indent=_INDENT + "  "):
                say(wrapped)


def _json(tool: Tool, settings: Settings, narrowing: Mapping[str, Profile]) -> Document:
    return {
        "name": tool.name,
        "description": tool.description,
        "tier": tool.tier,
        "policy": policy.explain(tool, settings, narrowing.values()),
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
    said = settings.tools.get(tool.name)
    where = f', as [tools."{tool.name}"] says' if said is not None and said.tier is not None else ""
    rule = f'[policy] {tool.tier} = "{getattr(settings.policy, tool.tier)}"'
    reasons = [f"it is {tool.tier.replace('_', ' ')}{where}, and {rule}"]
    if not policy.offered(tool, settings) and policy.explain(tool, settings) == "refuse" and settings.policy.observe:
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
