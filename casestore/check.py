"""Is the file whole? What SQLite itself can say about it, and every trail."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from casestore import trail
from casestore.batch import translated
from casestore.models import CaseId
from casestore.scope import System
from casestore.trail import Verification
from casestore.tx import Tx

_OK = "ok"


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` found: rows that refer to one that is not there, and of each case, by its number, its trail."""

    dangling: tuple[str, ...]
    trails: tuple[tuple[int, Verification], ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """All that is wrong, in words."""
        broken = [f"C-{number}: {problem}" for number, found in self.trails for problem in found.problems]
        return (*self.dangling, *broken)


def check(tx: Tx) -> Checked:
    """Look at every reference and every trail, as one snapshot. It takes as long as reading them."""
    dangling = tx.tuples('SELECT "table", parent FROM pragma_foreign_key_check ORDER BY "table", parent')
    cases = tx.tuples("SELECT number, id FROM cases ORDER BY id")
    return Checked(
        tuple(f"a row of {table} refers to a row of {parent} that is not there" for table, parent in dangling),
        tuple(
            (int(str(number)), trail.verify(tx, System(), CaseId(int(str(case_id))))) for number, case_id in cases
        ),
    )  # fmt: skip


def damage(path: Path) -> tuple[str, ...]:
    """What SQLite finds wrong with pages, indexes and constraints; nothing where the file is whole.

    Called while a `Store` has the file open. On a connection that may write, though it does not: on a read-only one
    SQLite leaves the CHECK constraints out. Raises `StoreUnavailable`.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)) as raw:
            raw.execute("PRAGMA wal_autocheckpoint = 0")
            raw.execute("PRAGMA query_only = ON")
            found = [str(line) for (line,) in raw.execute("PRAGMA integrity_check")]
    except sqlite3.Error as error:
        raise translated(error) from None
    return tuple(line for line in found if line != _OK)
