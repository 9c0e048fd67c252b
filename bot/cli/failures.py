"""What a person is told when a command fails: one line, and what to do. Never a traceback, never a secret."""

import sys
import traceback

from bot.blame import where
from bot.errors import CaseboundError
from bot.logs import debug_wanted
from bot.tools.arguments import BadArguments, BadDeclaration
from casestore.errors import ConstraintBroken, NotFound, StoreError
from channels.errors import ChannelError
from channels.text import one_line

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130
_MEANT = (CaseboundError, StoreError, ChannelError, BadArguments, BadDeclaration)


def report(error: BaseException) -> int:
    """Say on stderr why a command did not do what it was asked; the exit code."""
    if debug_wanted():
        traceback.print_exception(error, file=sys.stderr)
    print(_line(error), file=sys.stderr)
    return FAILED


def _line(error: BaseException) -> str:
    if isinstance(error, _MEANT) and not isinstance(error, ConstraintBroken):  # that is a bug, in SQLite's words
        see = f" See: casebound {error.listed_by}" if isinstance(error, NotFound) and error.listed_by else ""
        return one_line(" ".join(f"{error}{see}".split()))
    if isinstance(error, OSError) and error.strerror:
        about = f"{error.filename}: " if error.filename else ""
        return one_line(f"{about}{error.strerror}. Check that the file and its folder can be used from here.")
    place = where(error)
    return (
        f"This failed in a way nobody foresaw ({type(error).__name__}{f' at {place}' if place else ''}). "
        "Run it again with CASEBOUND_LOG=debug for the traceback, and report it."
    )
