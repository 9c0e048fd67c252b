"""The tools of an installation's own Python module, which `[python]` names."""

import contextlib
import importlib
import sys
import traceback
from pathlib import Path

from bot import blame
from bot.errors import SettingsError
from bot.tools.arguments import BadDeclaration
from bot.tools.declare import Tool


def tools_in(module: str, path: Path) -> list[Tool]:
    """Every tool that the module declares, in its order; what it prints goes to the error output.

    `path` is where it is looked for first. Raises `SettingsError` for a module that cannot be
    imported, or that holds no tool.
    """
    directory = str(path.resolve())
    sys.path.insert(0, directory)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = importlib.import_module(module)
    except BadDeclaration as error:
        raise SettingsError(f"[python] module {module}: {error}") from None
    except (Exception, SystemExit) as error:
        raise SettingsError(
            f"[python] module {module} cannot be imported from {directory}: {_what(error)}; mend it or its name"
        ) from None
    finally:
        sys.path.remove(directory)
    tools = [value for value in vars(found).values() if isinstance(value, Tool)]
    if not tools:
        raise SettingsError(f"[python] module {module} declares no tool; docs/tools.md shows how one is declared")
    if any(tool.apply is not None for tool in tools):
        raise SettingsError(f"[python] module {module}: applies=True is for the bundled tools alone; leave it out")
    return tools


def _what(error: BaseException) -> str:
    """The kind of the error and where it happened, in one line; never its whole traceback."""
    text = " ".join(str(error).split())[:200]
    frames = (one for one in reversed(traceback.extract_tb(error.__traceback__)) if _is_code(one.filename))
    at = blame.theirs(error) or next(frames, None)
    where = "" if at is None else f" at line {at.lineno} of {at.filename}"
    return f"{type(error).__name__}{f': {text}' if text else ''}{where}"


def _is_code(filename: str) -> bool:
    return not filename.startswith("<") and filename not in (__file__, importlib.__file__)
