"""Why a server cannot be used, in one sentence for an operator; never a traceback, never one of its secrets."""

from typing import cast

from bot.redaction import Redaction
from bot.settings.tools import Mcp
from bot.tools.mcp.connection import statuses
from bot.tools.mcp.program import LineTooLong
from channels.text import one_line, visible

_LONGEST = 300


def why(error: BaseException, settings: Mcp, last_words: str) -> str:
    """What hinders it; `last_words` is what its program wrote last to its error output."""
    said = f"; the last it said: {last_words}" if last_words else ""
    words = one_line(visible(Redaction(*settings.secrets()).clean(_cause(_innermost(error), settings) + said)))
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _cause(error: BaseException, settings: Mcp) -> str:
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    noted = statuses.get() or []
    if noted and noted[-1] >= 400:
        return f"it answers with HTTP {noted[-1]}"
    match error:
        case LineTooLong():
            return str(error)
        case TimeoutError():
            return "it does not answer in time"
        case OSError() if settings.command is not None:
            return _not_started(error, settings.command)
        case MCPError() if error.code == CONNECTION_CLOSED and settings.command is not None:
            return "its program ended"
        case MCPError() if error.code == CONNECTION_CLOSED:
            return "it closed the connection"
        case MCPError():
            return f"it answered with an error: {error.message}"
        case _:
            return f"it cannot be reached ({type(error).__name__})"


def _not_started(error: OSError, command: str) -> str:
    why = f"its command {command} cannot be started ({(error.strerror or type(error).__name__).lower()})"
    if not isinstance(error, FileNotFoundError):
        return why
    looked = "" if "/" in command else ": it is looked for on the PATH"
    if " " not in command:
        return why + looked
    return f"{why}{looked}{',' if looked else ':'} and what follows a blank belongs in args"
