"""The tools of an installation: the bundled ones and its own, with what the operator's settings say about each."""

import difflib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bot import logs
from bot.errors import SettingsError
from bot.policy import unknown
from bot.settings import Settings
from bot.tools.case import case_tools
from bot.tools.declare import BadDeclaration, Tool
from bot.tools.host import host_tools
from bot.tools.module import tools_in
from bot.turns.desk import Toolbox

log = logging.getLogger("casebound.tools")


def toolbox(
    settings: Settings, caches: Mapping[str, Path], now: Callable[[], int], further: Sequence[Tool] = ()
) -> Toolbox:
    """Every tool by name, `further` ones beside the bundled or in their place.

    Raises `SettingsError` for a setting about a tool that is not there, or that cannot be.
    """
    try:
        bundled = (*case_tools(), *host_tools(caches, settings.host.log_dirs, now=now))
    except BadDeclaration as error:
        raise SettingsError(f"[host] {error}") from None
    own = settings.python
    theirs = [] if own.module is None else tools_in(own.module, own.path)
    declared = {tool.name: tool for tool in (*bundled, *further)}
    for tool in theirs:
        if (server := tool.name.partition(".")[0]) in settings.mcp:
            raise SettingsError(
                f"The tool {tool.name} of [python] module would pass for one of the server [mcp.{server}]: "
                "give one of the two another name"
            )
        if declared.setdefault(tool.name, tool) is not tool:
            raise SettingsError(f"Two tools are called {tool.name}: give the one in [python] module another name")
    for name in settings.tools:
        if name not in declared and name.partition(".")[0] not in settings.mcp:
            near = difflib.get_close_matches(name, declared, 1)
            hint = f"; did you mean {near[0]}?" if near else "; see: casebound tools list"
            raise SettingsError(f'[tools."{name}"] is about a tool that does not exist{hint}')
    if strange := unknown.tools(settings, declared):
        raise SettingsError(strange[0])
    try:
        tools = {name: _as_set(tool, settings) for name, tool in declared.items()}
    except BadDeclaration as error:
        raise SettingsError(f"[tools] {error}") from None
    box = Toolbox(tools, settings)
    settings.check_lease(max(box.longest_call_ms, settings.model.timeout))
    return box


def put(box: Toolbox, settings: Settings, server: str, tools: Sequence[Tool]) -> None:
    """Put what a server offers into the toolbox, as the settings say; a tool they cannot be said about is left out."""
    found: dict[str, Tool] = {}
    for tool in tools:
        try:
            found[tool.name] = _as_set(tool, settings)
        except BadDeclaration as error:
            logs.event(log, "mcp.tool_refused", logging.WARNING, server=server, why=error)
    for name in settings.tools:
        if name.partition(".")[0] == server and name not in found:
            logs.event(log, "mcp.no_such_tool", logging.WARNING, server=server, tool=name)
    for why in unknown.tools(settings, found, server):
        logs.event(log, "mcp.no_such_tool", logging.WARNING, server=server, why=why)
    box.put(server, found)


def _as_set(tool: Tool, settings: Settings) -> Tool:
    said = settings.tools.get(tool.name)
    if said is None:
        return tool
    changed = tool.with_settings(
        tier=said.tier, sensitive=said.sensitive, verified=said.verified, effect_key=said.effect_key,
        idempotent=said.idempotent, may_change=said.may_change, ttl_ms=said.ttl,
    )  # fmt: skip
    return changed if said.timeout is None else replace(changed, timeout_ms=said.timeout)
