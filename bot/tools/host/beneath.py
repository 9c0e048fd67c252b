"""Opening what lies beneath a directory, one part at a time, without following any link."""

import os
from collections.abc import Sequence

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # non-blocking, so that a pipe cannot hold the service up


def open_beneath(top: str, parts: Sequence[str], last: int) -> int:
    """A descriptor of `top/part/part/…`, the last one opened with the flags `last`.

    Raises `OSError` when any part is a link, whenever it was put there: each part is opened relative to the
    descriptor of the one above, so there is no moment between a check and its use.
    """
    at = os.open(top, DIRECTORY)
    for position, part in enumerate(parts):
        flags = last if position == len(parts) - 1 else DIRECTORY
        try:
            below = os.open(part, flags, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at
