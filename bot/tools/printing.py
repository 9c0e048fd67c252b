"""What a tool prints while it is called: kept out of what we print ourselves, and told of in the log.

Our output may be a conversation, or a document that a script reads; a library that a tool uses may print all the same.
"""

import io
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO, cast

MOST = 2_000
"""Characters that are kept of what one call prints."""

_heard: ContextVar[io.StringIO | None] = ContextVar("heard", default=None)


@contextmanager
def heard() -> Generator[io.StringIO]:
    """What is printed in this context, or in threads and tasks that are begun in it, goes there."""
    if not isinstance(sys.stdout, _Output):
        sys.stdout = cast("TextIO", _Output(sys.stdout))
    kept = io.StringIO()
    token = _heard.set(kept)
    try:
        yield kept
    finally:
        _heard.reset(token)


class _Output:
    """The standard output, but for what is heard."""

    def __init__(self, own: TextIO) -> None:
        self._own = own

    def write(self, text: str) -> int:
        """Write it where it belongs."""
        kept = _heard.get()
        if kept is None:
            return self._own.write(text)
        kept.write(text[: max(0, MOST - kept.tell())])
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._own, name)
