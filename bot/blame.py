"""Saying in one line what went wrong and where, without a traceback."""

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path, PurePath
from types import FrameType
from typing import cast

OURS = frozenset({"bot", "casestore", "channels"})
MOST = 3
_NOT_THEIRS = (Path(__file__).parent, *(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")))


def what(error: BaseException) -> str:
    """Type and message; for a group those of its first members, and for an error with a named cause the cause's too."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if members := _members(error):
        said = f"{said}: {'; '.join(what(member) for member in members[:MOST])}"
    cause = error.__cause__
    return said if cause is None else f"{said} (because of {type(cause).__name__}: {cause})"


def where(error: BaseException) -> str | None:
    """The innermost place in our own code that it went through, `bot/turns/engine.py:120`; None when there is none."""
    for member in _members(error):
        if place := where(member):
            return place
    places = [_place(frame, line) for frame, line in _frames(error) if _module(frame).partition(".")[0] in OURS]
    return places[-1] if places else None


def theirs(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost place in what an installation wrote itself: no part of Casebound, of a package or of Python."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    return next((one for one in frames if _is_theirs(Path(one.filename))), None)


def _is_theirs(file: Path) -> bool:
    return file.is_absolute() and not any(file.is_relative_to(place) for place in _NOT_THEIRS)


def _members(error: BaseException) -> tuple[BaseException, ...]:
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).exceptions
    return ()


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame, at.tb_lineno
        at = at.tb_next


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _place(frame: FrameType, line: int) -> str:
    """As a path from the root of the source: where that is on this machine is nobody's business."""
    path = PurePath(frame.f_code.co_filename)
    depth = _module(frame).count(".") + (2 if path.name == "__init__.py" else 1)
    return f"{'/'.join(path.parts[-depth:])}:{line}"
