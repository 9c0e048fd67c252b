"""Our log: one line on stderr for each thing that happened, that nobody can forge and that holds no secret.

    2026-11-30T19:45:00.000Z INFO engine turn.settled case=C-1001 turn=3

Time, level, where from, what happened, then fields. Values with anything but plain characters in them stand in quotes.
What cannot be seen (line breaks, terminal codes, marks that turn the direction of text) is written as an escape.
"""

import logging
import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from typing import TextIO, cast

from bot.blame import OURS, what, where
from bot.redaction import Redaction
from bot.words.when import iso

LOGGERS = (*sorted(OURS), "casebound")
"""The loggers that are ours: each module's, and those named after what they are about (`casebound.http`)."""

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+#,*%")


def debug_wanted() -> bool:
    """Whether `CASEBOUND_LOG=debug` is set: more is said, and errors come with their traceback."""
    return os.environ.get("CASEBOUND_LOG", "").lower() == "debug"


def set_up(secrets: Iterable[str] = (), debug: bool = False, stream: TextIO | None = None) -> Redaction:
    """Send the log of the whole process to `stream` (None: stderr), with `secrets` masked.

    Ours from INFO on, that of libraries from WARNING on; with `debug` one level more of each. Called again it
    replaces what it did before. Secrets that become known later are given to the `hide` of what is returned.
    """
    redaction = Redaction(*secrets)
    handler = _Handler(sys.stderr if stream is None else stream)
    handler.setFormatter(_Formatter(redaction, debug))
    root = logging.getLogger()
    for one in list(root.handlers):
        if isinstance(one, _Handler):
            root.removeHandler(one)
    root.addHandler(handler)
    root.setLevel(logging.INFO if debug else logging.WARNING)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.DEBUG if debug else logging.INFO)
    return redaction


def event(logger: logging.Logger, name: str, level: int = logging.INFO, /, **fields: object) -> None:
    """Log what happened, `event(log, "turn.settled", case="C-1001", turn=3)`. An exception is a fine value."""
    logger.log(level, name, extra={"fields": fields})


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:
        """A line that cannot be put together (a wrong number of arguments) is named, not shown: it is not redacted."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError) or self.stream.closed:
            return  # there is no place left to say it
        at = f"{record.module}:{record.lineno}"
        self.stream.write(f"{_head(record)} logs.unreadable at={at} error={type(error).__name__}\n")


class _Formatter(logging.Formatter):
    def __init__(self, redaction: Redaction, debug: bool) -> None:
        super().__init__()
        self._redaction = redaction
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        parts = [_visible(self._redaction.clean(record.getMessage()))]
        fields: object = getattr(record, "fields", None)
        if isinstance(fields, Mapping):
            parts += [self._field(key, value) for key, value in cast("Mapping[str, object]", fields).items()]
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            parts.append(self._field("error", error))
            if (place := where(error)) is not None:
                parts.append(self._field("at", place))
        # Once more over the whole: a secret may stand across what was joined.
        line = f"{_head(record)} {self._redaction.clean(' '.join(parts))}"
        return line + self._traceback(error) if self._debug and error is not None else line

    def _field(self, key: str, value: object) -> str:
        return f"{key}={_quoted(self._redaction.clean(_text(value)))}"

    def _traceback(self, error: BaseException) -> str:
        """Each of its lines indented, so that none can pass for a line of the log."""
        whole = self._redaction.clean("".join(traceback.format_exception(error)))
        return "".join(f"\n    {_visible(line)}" for line in whole.split("\n") if line)


def _head(record: logging.LogRecord) -> str:
    name = record.name.removeprefix("bot.").removeprefix("casebound.")
    return f"{iso(int(record.created * 1000))} {record.levelname} {_visible(name)}"


def _text(value: object) -> str:
    match value:
        case None | bool():
            return str(value).lower()
        case BaseException():
            return what(value)
        case _:
            return str(value)


def _quoted(text: str) -> str:
    if text and PLAIN.issuperset(text):
        return text
    return '"' + _visible(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
