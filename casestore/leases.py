"""The lease: the timed right to work a case, with a fence that only rises (R10, R12)."""

from dataclasses import dataclass

from casestore import trail
from casestore.errors import LeaseLost, MoveRefused
from casestore.models import Case, CaseId, LeaseRow, Principal
from casestore.principals import actor
from casestore.tx import Tx

_IS_TALK = "provenance NOT IN ('alert', 'system')"
"""Of a message to us: a person has said it, who waits for an answer also where a call waits for a decision."""


@dataclass(frozen=True, slots=True)
class Lease:
    """What a holder shows with each of its acts. `ttl` in milliseconds; every act renews by it."""

    case_id: CaseId
    fence: int
    ttl: int


def take(tx: Tx, now: int, case_id: CaseId, *, holder: str, boot: str, ttl: int) -> Lease | None:
    """Take a lease that is free or has run out; None where somebody else has it. Never waits (R11)."""
    taken = tx.value(
        """UPDATE leases SET fence = fence + 1, kind = 'run', holder = :holder, boot = :boot, principal = NULL,
               taken_at = :now, until = :until, reminded_at = NULL
           WHERE case_id = :case_id AND (kind IS NULL OR (kind = 'run' AND until <= :now)) RETURNING fence""",
        case_id=case_id, holder=holder, boot=boot, now=now, until=now + ttl,
    )  # fmt: skip
    return None if taken is None else Lease(case_id, int(str(taken)), ttl)


def holds(tx: Tx, now: int, lease: Lease, *, until: int = 0) -> bool:
    """Whether this lease still stands; if so it is renewed, at least to `until`, and never cut shorter (R14)."""
    return bool(
        tx.run(
            """UPDATE leases SET until = CASE WHEN until > :until THEN until ELSE :until END
               WHERE case_id = :case_id AND fence = :fence AND kind = 'run' AND until > :now""",
            case_id=lease.case_id,
            fence=lease.fence,
            now=now,
            until=max(now + lease.ttl, until),
        )
    )


def guard(tx: Tx, now: int, lease: Lease, *, of: CaseId, until: int = 0) -> None:
    """Refuse an act in a case (`of`) whose lease is gone, or is another case's: raises `LeaseLost` (R10)."""
    if of != lease.case_id or not holds(tx, now, lease, until=until):
        raise LeaseLost


def drop(tx: Tx, lease: Lease) -> None:
    """Let go; a lease that is no longer ours is left alone."""
    tx.run(
        """UPDATE leases SET kind = NULL, holder = NULL, boot = NULL, taken_at = NULL, until = NULL
           WHERE case_id = :case_id AND fence = :fence AND kind = 'run'""",
        case_id=lease.case_id, fence=lease.fence,
    )  # fmt: skip


def void_earlier_boots(tx: Tx, boot: str) -> int:
    """The one service frees what its own earlier boots held, instead of waiting them out (R10); how many."""
    return tx.run(
        """UPDATE leases SET fence = fence + 1, kind = NULL, holder = NULL, boot = NULL, taken_at = NULL, until = NULL
           WHERE kind = 'run' AND boot <> :boot""",
        boot=boot,
    )


def seize(tx: Tx, now: int, case: Case, principal: Principal) -> None:
    """A person takes the lease, whoever held it, without end (R12). Raises `MoveRefused` if a person has it."""
    row = of_case(tx, case.id)
    if row.kind == "human":
        whose = "already yours" if row.principal == principal.id else f"with {row.holder}"
        raise MoveRefused(f"{case.label} is {whose}.")
    tx.run(
        """UPDATE leases SET fence = fence + 1, kind = 'human', holder = :name, boot = NULL, principal = :principal,
               taken_at = :now, until = NULL, reminded_at = NULL WHERE case_id = :case_id""",
        case_id=case.id, name=principal.name, principal=principal.id, now=now,
    )  # fmt: skip
    trail.append(tx, case.id, now, "lease.taken_over", actor(principal), {"principal": principal.id})


def hand_back(tx: Tx, now: int, case: Case, *, by: str) -> None:
    """The person lets go. Raises `MoveRefused` if no person has the case."""
    moved = tx.run(
        """UPDATE leases SET fence = fence + 1, kind = NULL, holder = NULL, principal = NULL, taken_at = NULL,
               reminded_at = NULL WHERE case_id = :case_id AND kind = 'human'""",
        case_id=case.id,
    )
    if not moved:
        raise MoveRefused(f"{case.label} is not taken over by anybody.")
    trail.append(tx, case.id, now, "lease.handed_back", by)


def free(tx: Tx, case_id: CaseId) -> None:
    """Whoever holds the case, their tenure is over: the case has ended. The fence rises."""
    tx.run(
        """UPDATE leases SET fence = fence + 1, kind = NULL, holder = NULL, boot = NULL, principal = NULL,
               taken_at = NULL, until = NULL, reminded_at = NULL WHERE case_id = :case_id AND kind IS NOT NULL""",
        case_id=case_id,
    )


def of_case(tx: Tx, case_id: CaseId) -> LeaseRow:
    """Who has a case."""
    return tx.all(LeaseRow, "SELECT * FROM leases WHERE case_id = :case_id", case_id=case_id)[0]


def long_held(tx: Tx, cutoff: int, most: int = 100) -> list[LeaseRow]:
    """Cases a person has had, unreminded, since before `cutoff`."""
    return tx.all(
        LeaseRow,
        """SELECT * FROM leases
           WHERE kind = 'human' AND taken_at <= :cutoff AND coalesce(reminded_at, taken_at) <= :cutoff
           LIMIT :most""",
        cutoff=cutoff, most=most,
    )  # fmt: skip


def mark_reminded(tx: Tx, now: int, case_id: CaseId) -> None:
    """Note that the person holding the case was reminded."""
    tx.run("UPDATE leases SET reminded_at = :now WHERE case_id = :id AND kind = 'human'", id=case_id, now=now)


def ready(tx: Tx, now: int, most: int, *, talks: bool = False) -> list[CaseId]:
    """Cases with work that nobody holds: an unread message or a turn to go on with, and no gate or delay before it.

    Where the assistant `talks`, a person's message at an open gate is work too: it is answered beside the parked turn.
    Those that have waited longest come first: under load a busy case does not pass by a quiet one.
    """
    found = tx.column(
        f"""SELECT w.case_id FROM (
               SELECT case_id, queued_at AS since, 1 AS talk FROM turns
               WHERE state IN ('queued', 'running') AND not_before <= :now
               UNION ALL
               SELECT case_id, at, {_IS_TALK} FROM messages
               WHERE direction = 'in' AND turn_id IS NULL
           ) w JOIN leases l ON l.case_id = w.case_id JOIN cases c ON c.id = w.case_id
           WHERE (l.kind IS NULL OR (l.kind = 'run' AND l.until <= :now))
             AND c.state IN ('new', 'in_progress', 'resolved')
             AND NOT EXISTS (SELECT 1 FROM turns u WHERE u.case_id = w.case_id AND u.beside IS NULL
                             AND u.state IN ('queued', 'running', 'parked')
                             AND (u.not_before > :now OR (u.state = 'parked' AND (
                               w.talk = 0 OR :talks = 0 OR EXISTS (
                                 SELECT 1 FROM turns b WHERE b.case_id = w.case_id AND b.beside IS NOT NULL
                                   AND b.state IN ('queued', 'running', 'parked') AND b.not_before > :now)))))
           GROUP BY w.case_id ORDER BY min(w.since), w.case_id LIMIT :most""",
        now=now, most=most, talks=int(talks),
    )  # fmt: skip
    return [CaseId(int(str(value))) for value in found]


def has_work(tx: Tx, case_id: CaseId, *, talks: bool = False) -> bool:
    """Whether a case has an unread message or a queued turn: exactly what ends of runs test (R11).

    At an open gate only what is answered beside it is work, and only where the assistant `talks`.
    """
    # spelled as the partial indexes on turns are, or every turn the case ever had is read (R19)
    unsettled = "SELECT 1 FROM turns WHERE case_id = :case_id AND state IN ('queued', 'running', 'parked')"
    return (
        tx.value(
            f"""SELECT 1 FROM cases c WHERE c.id = :case_id AND c.state IN ('new', 'in_progress', 'resolved')
               AND (:talks = 1 OR NOT EXISTS ({unsettled} AND beside IS NULL AND state = 'parked'))
               AND (EXISTS ({unsettled} AND beside IS NULL AND state <> 'parked')
                    OR EXISTS ({unsettled} AND beside IS NOT NULL AND state <> 'parked')
                    OR EXISTS (SELECT 1 FROM messages WHERE case_id = :case_id AND direction = 'in'
                               AND turn_id IS NULL AND ({_IS_TALK} OR NOT EXISTS (
                                 {unsettled} AND beside IS NULL AND state = 'parked'))))""",
            case_id=case_id,
            talks=int(talks),
        )
        is not None
    )
