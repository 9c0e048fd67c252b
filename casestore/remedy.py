"""What somebody can do about a file that cannot be used: the last sentence of what they are told."""

import errno
import sqlite3

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MAKE_ROOM = "Make room on its disk, or choose another file with --db."
_CHECK_DISK = "Check that its disk has room and works, or choose another file with --db."


def remedy(error: OSError | sqlite3.Error) -> str:
    """Of a file that could not be opened or made: more room, another disk, a backup, or more rights."""
    if isinstance(error, OSError):
        if error.errno in _FULL:
            return _MAKE_ROOM
        return _CHECK_DISK if error.errno == errno.EIO else "Choose a folder you may write to, with --db."
    if damaged(error):
        return "Check its disk; if that works, keep the file as it is and restore a backup, or choose another --db."
    match primary(error):
        case sqlite3.SQLITE_FULL:
            return _MAKE_ROOM
        case sqlite3.SQLITE_IOERR:  # what SQLite makes of every refusal that is not "no space left"
            return _CHECK_DISK
        case _:
            return "Check the file's and folder's rights, or choose another --db."


def when_to_try_again(error: BaseException) -> str:
    """Of a file that was open and could not be read or written this once."""
    match primary(error):
        case sqlite3.SQLITE_FULL:
            return "Try again once there is room on its disk."
        case sqlite3.SQLITE_IOERR:
            return "Try again; if it stays so, check that its disk has room and works."
        case _:
            return "Try again."


def damaged(error: BaseException) -> bool:
    """Whether what is in the file is not what was put there, as SQLite sees it; a disk that cannot read is the same."""
    return primary(error) in _DAMAGED


def primary(error: BaseException) -> int | None:
    """SQLite's own code of an error, without what refines it; None where it is not SQLite's."""
    code: object = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None
