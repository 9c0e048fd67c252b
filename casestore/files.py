"""The files that a store has open, told from what lies at their paths now.

A file that was deleted or replaced under an open connection still takes writes, which nobody would ever see again.
"""

from pathlib import Path

from casestore.errors import CompanionGone, StoreUnavailable
from casestore.locks import beside, identity


class OpenFiles:
    """The database, its WAL and its shared memory, as they were when the writer's connection was opened."""

    def __init__(self, db: Path) -> None:
        self._db = db
        self._opened = identity(db)
        self._companions = {path: identity(path) for path in (beside(db, "-wal"), beside(db, "-shm"))}

    def refuse_if_replaced(self) -> None:
        """Raises `StoreUnavailable` where a commit would go into a file that nobody finds.

        `CompanionGone` where only the WAL or the shared memory is missing.
        """
        found = identity(self._db)
        if found is None:
            raise StoreUnavailable(f"{self._db} is gone. Put it back, or restart.")
        if found != self._opened:
            raise StoreUnavailable(f"{self._db} is another file than the one that was opened. Restart.")
        self.refuse_if_taken_apart()

    def refuse_if_taken_apart(self) -> None:
        """The same for the WAL and the shared memory alone."""
        now = {path: identity(path) for path in self._companions}
        for path, opened in self._companions.items():
            if now[path] not in (opened, None):
                raise StoreUnavailable(
                    f"{path} is another file than the one that was opened. Stop every casebound that uses {self._db}, "
                    f"move {path} away, and start again."
                )
        for path, found in now.items():
            if found is None:
                raise CompanionGone(f"{path} is gone. Try again.")


def wal_bytes(db: Path) -> int:
    """How long the WAL is: what no checkpoint has moved into the file and emptied yet."""
    try:
        return beside(db, "-wal").stat().st_size
    except OSError:
        return 0
