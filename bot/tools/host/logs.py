"""The end of a log: of a file in the directories that may be read, or of a service's journal."""

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.tools.declare import Tool, ToolFailed, declare
from bot.tools.host.beneath import FILE, open_beneath
from bot.tools.host.command import run, service_manager
from bot.tools.host.read import absolute, failed, quoted
from bot.tools.host.service import PATTERN
from bot.tools.host.service import unit as unit_of
from casestore.states import Tier

MAX_BYTES = 64 * 1024
MAX_LINE = 500


def tool(directories: Sequence[Path]) -> Tool:
    """`host.log_tail`, which reads files in `directories` and nowhere else; without any, only the journal."""
    where = ", ".join(str(one) for one in directories) or "none"
    file = Field(description=f"An absolute path of a log file. Directories that may be read: {where}.")
    service = Field(pattern=PATTERN, description="The name of a service, to read its journal.")
    count = Field(ge=1, le=200, description="How many lines to read.")

    async def log_tail(
        path: Annotated[str | None, file] = None,
        unit: Annotated[str | None, service] = None,
        lines: Annotated[int, count] = 50,
    ) -> dict[str, object]:
        """The last lines of a log file or of a service's journal. Give either a path or a unit."""
        if (path is None) == (unit is None):
            raise ToolFailed("Give either the path of a log file or the name of a service, not both.")
        text = _end_of(directories, path) if path is not None else await _journal(str(unit), lines)
        return {"source": path or unit, "lines": [_short(line) for line in text.splitlines()[-lines:]]}

    return declare(
        log_tail,
        name="host.log_tail",
        statement="Read the last {lines} lines of the log (file {path}, service {unit}) on this host",
        tier=Tier.READ_ONLY,
        reversible=True,
        idempotent=True,
    )


def open_inside(directories: Sequence[Path], path: str) -> int:
    """A descriptor of the regular file at `path`, which must really lie inside one of the directories.

    Links are resolved once, then every part is opened without following any: a link that is put in place
    meanwhile is refused by the system. Raises `ToolFailed`.
    """
    real = os.path.realpath(absolute(path))
    for directory in directories:
        top = os.path.realpath(directory)
        if os.path.commonpath([top, real]) == top and real != top:
            try:
                return open_beneath(top, os.path.relpath(real, top).split(os.sep), FILE)
            except OSError as error:
                raise failed(f"Cannot read {quoted(path)}", error) from None
    allowed = ", ".join(str(one) for one in directories) or "none"
    raise ToolFailed(f"{quoted(path)} is not in a directory whose logs may be read ({allowed}).")


def _end_of(directories: Sequence[Path], path: str) -> str:
    descriptor = open_inside(directories, path)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ToolFailed(f"{quoted(path)} is not a regular file.")
        start = max(0, found.st_size - MAX_BYTES)
        text = os.pread(descriptor, MAX_BYTES, start).decode("utf-8", "replace")
    finally:
        os.close(descriptor)
    # A read that begins in the middle begins in the middle of a line.
    return text.partition("\n")[2] if start and "\n" in text else text


async def _journal(name: str, lines: int) -> str:
    program = shutil.which("journalctl")
    if service_manager() is None or program is None:
        raise ToolFailed(f"The journal of {quoted(name)} cannot be read: there is no service manager here.")
    options = ("--no-pager", "--quiet", "--output=short-iso", f"--lines={lines}", f"--unit={unit_of(name)}")
    done = await run(program, *options, seconds=20)
    if done.code != 0:
        raise ToolFailed(f"The journal of {quoted(name)} cannot be read.")
    return done.out


def _short(line: str) -> str:
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…"
