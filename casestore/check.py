"""Is the file whole? What SQLite itself can say about it, and every trail."""

from dataclasses import dataclass

from casestore import trail
from casestore.models import CaseId
from casestore.scope import System
from casestore.trail import Verification
from casestore.tx import Tx

_OK = "ok"


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` found. Nothing in `damage` and `dangling`, and no problem in a trail: the file is whole."""

    damage: tuple[str, ...]
    """What SQLite says is wrong with pages, indexes and constraints."""
    dangling: tuple[str, ...]
    """Rows that refer to a row that is not there."""
    trails: tuple[tuple[int, Verification], ...]
    """Of each case, by its number."""

    @property
    def problems(self) -> tuple[str, ...]:
        """All of it, in words."""
        broken = [f"C-{number}: {problem}" for number, found in self.trails for problem in found.problems]
        return (*self.damage, *self.dangling, *broken)


def check(tx: Tx) -> Checked:
    """Look at the whole file, as one snapshot. It takes as long as reading all of it."""
    damage = tuple(line for found in tx.column("PRAGMA integrity_check") if (line := str(found)) != _OK)
    dangling = tuple(
        f"a row of {table} refers to a row of {parent} that is not there"
        for table, parent in zip(
            tx.column('SELECT "table" FROM pragma_foreign_key_check ORDER BY "table", parent'),
            tx.column('SELECT parent FROM pragma_foreign_key_check ORDER BY "table", parent'),
            strict=True,
        )
    )
    cases = zip(
        tx.column("SELECT number FROM cases ORDER BY id"), tx.column("SELECT id FROM cases ORDER BY id"), strict=True
    )
    trails = [(int(str(number)), trail.verify(tx, System(), CaseId(int(str(case_id))))) for number, case_id in cases]
    return Checked(damage, dangling, tuple(trails))
