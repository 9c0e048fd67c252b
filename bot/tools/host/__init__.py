"""Tools for the machine the service runs on, so that the bot does real work on its first day.

Looking is read-only: disk, memory, load, processes, a service's state, the end of a log. Changing is
consequential: restarting a service, clearing a cache directory that the settings name. Nothing here goes
through a shell, and no path that is written to comes from a model.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.tools.declare import Tool
from bot.tools.host import cache, disk, logs, machine, service


def host_tools(
    caches: Mapping[str, Path], log_dirs: Sequence[Path] = (Path("/var/log"),), *, now: Callable[[], int]
) -> list[Tool]:
    """All tools of this machine.

    `caches` maps a name to the directory that `host.clear_cache` may empty; without any, the tool is not
    there (R24). `log_dirs` are the directories whose files `host.log_tail` may read. `now` gives milliseconds
    UTC. Raises `BadDeclaration` for a cache directory that must not be emptied by anybody.
    """
    return [
        *disk.tools(),
        *machine.tools(),
        *service.tools(),
        logs.tool(log_dirs),
        *([cache.tool(caches, now)] if caches else []),
    ]
