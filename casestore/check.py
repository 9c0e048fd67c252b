"""Is the file whole? What SQLite itself can say about it, every trail, and whether the gates are as the trails say."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from casestore import trail
from casestore.batch import translated
from casestore.canonical import decode
from casestore.models import CaseId, Gate
from casestore.scope import System
from casestore.trail import Verification
from casestore.tx import Tx

_OK = "ok"


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` found: rows that refer to one that is not there, and of each case, by its number, its trail.

    contradictions: gates that are not as their trail says, which is the authority.
    """

    dangling: tuple[str, ...]
    trails: tuple[tuple[int, Verification], ...]
    contradictions: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """All that is wrong, in words."""
        broken = [f"C-{number}: {problem}" for number, found in self.trails for problem in found.problems]
        return (*self.dangling, *broken, *self.contradictions)


def check(tx: Tx) -> Checked:
    """Look at every reference and every trail, as one snapshot. It takes as long as reading them."""
    dangling = tx.tuples('SELECT "table", parent FROM pragma_foreign_key_check ORDER BY "table", parent')
    cases = tx.tuples("SELECT number, id FROM cases ORDER BY id")
    return Checked(
        tuple(f"a row of {table} refers to a row of {parent} that is not there" for table, parent in dangling),
        tuple(
            (int(str(number)), trail.verify(tx, System(), CaseId(int(str(case_id))))) for number, case_id in cases
        ),
        _contradictions(tx),
    )  # fmt: skip


def _contradictions(tx: Tx) -> tuple[str, ...]:
    """A gate whose row says something else than the trail: who decided what, or until when it is open."""
    state, decider, until = dict[int, str](), dict[int, object](), dict[int, object]()
    for kind, text in tx.tuples("SELECT kind, meta FROM trail WHERE kind LIKE 'gate.%' ORDER BY case_id, seq"):
        what, meta = str(kind).removeprefix("gate."), decode(str(text))
        gate_id = meta.get("gate")
        if not isinstance(gate_id, int):
            continue  # not ours; the chain says so
        if "expires_at" in meta:
            until[gate_id] = meta["expires_at"]
        if "principal" in meta:
            decider[gate_id] = meta["principal"]
        if what != "extended":
            state[gate_id] = "open" if what == "asked" else what
    gates = tx.all(Gate, "SELECT * FROM gates ORDER BY id")
    found = [
        f"gate {gate_id} is gone, the trail speaks of it" for gate_id in sorted(state.keys() - {g.id for g in gates})
    ]
    for gate in gates:
        told = state.get(gate.id)
        if told != gate.state:
            found.append(f"gate {gate.id} is {gate.state}, but the trail says {told or 'nothing of it'}")
        elif gate.id in decider and decider[gate.id] != gate.decided_by:
            found.append(f"gate {gate.id} was decided by another person, says the trail")
        elif until.get(gate.id) != gate.expires_at:
            found.append(f"gate {gate.id} expires at another time, says the trail")
    return tuple(found)


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
