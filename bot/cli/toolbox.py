"""The tools of this installation, put together only for a command that needs them."""

import difflib

from bot.cli.here import Here
from bot.errors import Refused
from bot.tools.declare import Tool
from bot.turns.desk import Toolbox


def box(here: Here) -> Toolbox:
    """All of them, with what the settings say about each. Raises `SettingsError`."""
    from bot import first_start
    from bot.toolkit import toolbox

    return toolbox(here.settings, first_start.caches(here.settings, here.db), lambda: here.now)


def tool_named(here: Here, name: str) -> Tool:
    """One of them. Raises `Refused` for a name that is none."""
    tools = box(here)
    found = tools.get(name)
    if found is None:
        near = difflib.get_close_matches(name, tools.tools, 1)
        raise Refused(
            f"There is no tool {name}{f'; did you mean {near[0]}?' if near else '.'} See: casebound tools list"
        )
    return found
