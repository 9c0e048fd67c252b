"""Episodes: the members of an alert group, each by fingerprint and start."""

from collections.abc import Mapping
from dataclasses import dataclass

from casestore.canonical import encode
from casestore.models import CaseId, Episode, Row
from casestore.states import EpisodeState
from casestore.tx import Tx


@dataclass(frozen=True, slots=True)
class Firing:
    """One alert as a notification reports it. Times in ms UTC; `ends_at` None while it fires."""

    fingerprint: str
    starts_at: int
    ends_at: int | None
    labels: Mapping[str, str]
    annotations: Mapping[str, str]

    @property
    def state(self) -> EpisodeState:
        """Firing until it has an end."""
        return EpisodeState.FIRING if self.ends_at is None else EpisodeState.RESOLVED

    @property
    def identity(self) -> tuple[str, int]:
        """What one episode of one alert is known by."""
        return self.fingerprint, self.starts_at


class _Known(Row):
    fingerprint: str
    starts_at: int
    state: EpisodeState


def find(tx: Tx, case_id: CaseId, firing: Firing) -> Episode | None:
    """The episode as stored."""
    return tx.maybe(
        Episode,
        """SELECT * FROM episodes WHERE case_id = :id AND fingerprint = :fingerprint AND starts_at = :starts_at""",
        id=case_id, fingerprint=firing.fingerprint, starts_at=firing.starts_at,
    )  # fmt: skip


def record(tx: Tx, now: int, case_id: CaseId, firing: Firing) -> None:
    """Write what a notification says of one alert; once resolved, an episode stays resolved."""
    tx.run(
        """INSERT INTO episodes (case_id, fingerprint, starts_at, state, ends_at, labels, annotations, first_seen_at,
                                 last_seen_at)
           VALUES (:case_id, :fingerprint, :starts_at, :state, :ends_at, :labels, :annotations, :now, :now)
           ON CONFLICT (case_id, fingerprint, starts_at) DO UPDATE SET last_seen_at = excluded.last_seen_at,
               state = CASE episodes.state WHEN 'resolved' THEN 'resolved' ELSE excluded.state END,
               ends_at = coalesce(episodes.ends_at, excluded.ends_at)""",
        case_id=case_id, fingerprint=firing.fingerprint, starts_at=firing.starts_at, state=firing.state,
        ends_at=firing.ends_at, labels=encode(dict(firing.labels)), annotations=encode(dict(firing.annotations)),
        now=now,
    )  # fmt: skip


def end_earlier(tx: Tx, now: int, case_id: CaseId, firing: Firing) -> None:
    """An alert has one episode at a time: those whose end was never reported ended before this one began."""
    tx.run(
        """UPDATE episodes SET state = 'resolved', ends_at = :starts_at, last_seen_at = :now
           WHERE case_id = :case_id AND fingerprint = :fingerprint AND starts_at < :starts_at AND state = 'firing'""",
        case_id=case_id, fingerprint=firing.fingerprint, starts_at=firing.starts_at, now=now,
    )  # fmt: skip


def known(tx: Tx, case_id: CaseId) -> dict[tuple[str, int], EpisodeState]:
    """The state of every member of a case's group, by identity: one read, however large the group."""
    rows = tx.all(_Known, "SELECT fingerprint, starts_at, state FROM episodes WHERE case_id = :id", id=case_id)
    return {(row.fingerprint, row.starts_at): row.state for row in rows}


def of_case(tx: Tx, case_id: CaseId) -> list[Episode]:
    """The members of a case's group, in order of their start."""
    return tx.all(Episode, "SELECT * FROM episodes WHERE case_id = :id ORDER BY starts_at, id", id=case_id)


def all_over(tx: Tx, case_id: CaseId) -> bool:
    """Whether a case is an alert's, no member fires any more, and nobody has asked for anything in it."""
    return (
        tx.value(
            """SELECT 1 FROM episodes e JOIN cases c ON c.id = e.case_id WHERE e.case_id = :id
                 AND NOT EXISTS (SELECT 1 FROM episodes f WHERE f.case_id = e.case_id AND f.state = 'firing')
                 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.case_id = e.case_id AND m.direction = 'in'
                                 AND m.author IS NOT NULL) LIMIT 1""",
            id=case_id,
        )
        is not None
    )


def still_firing(tx: Tx, case_id: CaseId) -> int:
    """How many members still fire."""
    return tx.integer("SELECT count(*) FROM episodes WHERE case_id = :id AND state = 'firing'", id=case_id)
