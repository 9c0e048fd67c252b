"""Gates: how one ends without an answer, and how they are found (R4, R6 to R8).

A question is asked in `asking.py`, answered in `deciding.py`, and an approval is spent in `spending.py`.
"""

from collections.abc import Mapping, Sequence

from casestore import cases, outbox, trail, turns
from casestore.canonical import encode
from casestore.errors import MoveRefused, NotFound
from casestore.models import CaseId, Gate, GateId, Principal, StepId
from casestore.principals import actor
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.states import GateKind, GateState, Role, WaitingOn
from casestore.tx import Tx


def expire_due(tx: Tx, now: int, most: int = 100) -> list[Gate]:
    """Every open gate whose time has come is denied by expiry (R6); returns them."""
    due = tx.all(
        Gate,
        "SELECT * FROM gates WHERE state = 'open' AND expires_at <= :now ORDER BY expires_at LIMIT :most",
        now=now, most=most,
    )  # fmt: skip
    return [expired for gate in due if (expired := expire(tx, now, gate)) is not None]


def expire(tx: Tx, now: int, gate: Gate) -> Gate | None:
    """Deny one open gate by expiry if its time has come; None where it has not, or an answer was first (R6)."""
    moved = tx.run(
        """UPDATE gates SET state = 'expired', decided_at = :now WHERE id = :id AND state = 'open'
           AND expires_at <= :now""",
        id=gate.id,
        now=now,
    )
    if not moved:
        return None
    gate = by_id(tx, gate.id)
    conclude(tx, now, gate, "gate.expired", "engine", {"gate": gate.id, "expires_at": gate.expires_at})
    return gate


def withdraw(
    tx: Tx, now: int, gate: Gate, *, by: str, reason: str, who: Principal | None = None, via: str | None = None
) -> Gate:  # fmt: skip
    """Take the question back: a denial for the turn. Raises `MoveRefused` if it is not open any more.

    `who` does it through `via`: an operator, or the requester of the case, whose call it is; what became of a call is
    for operators alone to leave open. None: the engine, for what has become of the case.
    """
    moved = tx.run(
        """UPDATE gates SET state = 'withdrawn', decided_at = :now, decided_by = :who, decided_via = :via,
               reason = :reason
           WHERE id = :id AND state = 'open' AND (:who IS NULL OR (expires_at > :now AND EXISTS (
               SELECT 1 FROM principals p JOIN cases c ON c.id = gates.case_id
               WHERE p.id = :who AND p.revoked_at IS NULL AND p.tenant = gates.tenant
                 AND (p.role IN ('operator', 'admin') OR (gates.kind <> 'outcome' AND c.requester = p.id)))))""",
        id=gate.id, now=now, who=None if who is None else who.id, via=via, reason=reason or None,
    )  # fmt: skip
    gate = by_id(tx, gate.id)
    if not moved and gate.state is GateState.OPEN:
        raise MoveRefused(f"You may not withdraw gate {gate.id}; an operator may.")
    if not moved:
        raise MoveRefused(f"Gate {gate.id} is {gate.state}; there is nothing to withdraw.")
    meta = {"gate": gate.id, **({} if who is None else {"via": via, "principal": who.id})}
    conclude(tx, now, gate, "gate.withdrawn", by, meta, {"reason": reason} if reason else {})
    return gate


def void(tx: Tx, now: int, gate: Gate, *, by: str, reason: str) -> Gate:
    """An approval that was not spent is spent no more (R9)."""
    moved = tx.run(
        """UPDATE gates SET state = 'void', void_reason = :reason WHERE id = :id AND state = 'approved'
           AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.gate_id = gates.id)""",
        id=gate.id, reason=reason,
    )  # fmt: skip
    gate = by_id(tx, gate.id)
    if moved:
        trail.append(tx, gate.case_id, now, "gate.void", by, {"gate": gate.id}, {"reason": reason})
        outbox.refresh_cards(tx, now, gate)
    return gate


def end_for_case(tx: Tx, now: int, case_id: CaseId, *, by: str, reason: str) -> Gate | None:
    """The case is resolved, closed or taken over: its open gate is withdrawn, its unspent approval void (R9).

    An answer to "did it happen?" is no approval but a fact, and stays; so does a consent that has been made use of.
    """
    for gate in tx.all(
        Gate,
        """SELECT g.* FROM gates g JOIN steps w ON w.id = g.step_id WHERE g.case_id = :id AND g.state = 'approved'
           AND w.result IS NULL AND (w.state = 'waiting' OR (w.state = 'unknown' AND g.verb = 'rerun'))
           AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.gate_id = g.id)""",
        id=case_id,
    ):
        void(tx, now, gate, by=by, reason=reason)
    opened = open_gate(tx, case_id)
    return None if opened is None else withdraw(tx, now, opened, by=by, reason=reason)


def extend(tx: Tx, now: int, gate: Gate, who: Principal, *, expires_at: int, reminders: Sequence[int]) -> Gate:
    """Move the expiry further away, before it has passed. Raises `MoveRefused`."""
    moved = tx.run(
        """UPDATE gates SET expires_at = :expires_at, reminders = :reminders, remind_at = :remind_at
           WHERE id = :id AND state = 'open' AND expires_at > :now AND :expires_at > expires_at
             AND EXISTS (SELECT 1 FROM principals p JOIN gate_roles r ON r.gate_id = gates.id AND r.role = p.role
                         WHERE p.id = :who AND p.revoked_at IS NULL AND p.tenant = gates.tenant)""",
        id=gate.id, now=now, expires_at=expires_at, reminders=encode(sorted(reminders)),
        remind_at=min(reminders, default=None), who=who.id,
    )  # fmt: skip
    gate = by_id(tx, gate.id)
    if not moved:
        raise MoveRefused(
            f"Gate {gate.id} was not extended: it must be open, the new expiry later, and you one who may decide it."
        )
    trail.append(tx, gate.case_id, now, "gate.extended", actor(who), {"gate": gate.id, "expires_at": expires_at})
    outbox.refresh_cards(tx, now, gate)
    return gate


def to_remind(tx: Tx, now: int, most: int = 100) -> list[Gate]:
    """Open gates of which a reminder's time has passed; each comes once, several that are past come as one."""
    due = tx.all(
        Gate,
        """SELECT * FROM gates WHERE state = 'open' AND remind_at <= :now AND expires_at > :now
           ORDER BY remind_at LIMIT :most""",
        now=now, most=most,
    )  # fmt: skip
    for gate in due:
        later = min((at for at in gate.reminders if at > now), default=None)
        tx.run("UPDATE gates SET remind_at = :later WHERE id = :id AND state = 'open'", id=gate.id, later=later)
    return due


def open_gate(tx: Tx, case_id: CaseId) -> Gate | None:
    """The gate of a case that is open."""
    return tx.maybe(Gate, "SELECT * FROM gates WHERE case_id = :id AND state = 'open'", id=case_id)


def of_step(tx: Tx, step_id: StepId, kind: GateKind) -> Gate | None:
    """The newest gate of a kind that was asked for a call."""
    return tx.maybe(
        Gate,
        "SELECT * FROM gates WHERE step_id = :id AND kind = :kind ORDER BY id DESC LIMIT 1",
        id=step_id, kind=kind,
    )  # fmt: skip


def of_call(tx: Tx, step_id: StepId) -> dict[GateKind, Gate]:
    """The newest gate of each kind that was asked for a call."""
    asked = tx.all(Gate, "SELECT * FROM gates WHERE step_id = :id ORDER BY id", id=step_id)
    return {gate.kind: gate for gate in asked}


def of_case(tx: Tx, case_id: CaseId) -> list[Gate]:
    """All gates of a case, oldest first."""
    return tx.all(Gate, "SELECT * FROM gates WHERE case_id = :id ORDER BY id", id=case_id)


def get(tx: Tx, scope: Scope, gate_id: int) -> Gate:
    """A gate whose case is in scope. Raises `NotFound`."""
    found = tx.maybe(
        Gate,
        f"SELECT g.* FROM gates g JOIN cases c ON c.id = g.case_id WHERE g.id = :id AND {IN_SCOPE}",
        id=gate_id, **parameters(scope),
    )  # fmt: skip
    if found is None:
        raise NotFound(f"No gate {gate_id}.", listed_by="gate list")
    return found


def listing(tx: Tx, scope: Scope, *, only_open: bool, most: int = 100) -> list[Gate]:
    """Gates, those that expire first at the top."""
    return tx.all(
        Gate,
        f"""SELECT g.* FROM gates g JOIN cases c ON c.id = g.case_id
            WHERE (:only_open = 0 OR g.state = 'open') AND {IN_SCOPE} ORDER BY g.expires_at, g.id LIMIT :most""",
        only_open=int(only_open), most=most, **parameters(scope),
    )  # fmt: skip


def roles_of(tx: Tx, gate_id: GateId) -> list[Role]:
    """Who may decide it."""
    return [Role(str(role)) for role in tx.column("SELECT role FROM gate_roles WHERE gate_id = :id", id=gate_id)]


def by_id(tx: Tx, gate_id: GateId) -> Gate:
    """A gate whose id came from our own tables."""
    return tx.all(Gate, "SELECT * FROM gates WHERE id = :id", id=gate_id)[0]


def conclude(
    tx: Tx, now: int, gate: Gate, kind: str, by: str, meta: Mapping[str, object],
    content: dict[str, object] | None = None,
) -> None:  # fmt: skip
    """What follows every end of a gate: the trail says so, the turn can go on, the cards change."""
    trail.append(tx, gate.case_id, now, kind, by, meta, content)
    turns.requeue(tx, gate.turn_id)
    cases.wait(tx, now, gate.case_id, WaitingOn.NOBODY)
    outbox.refresh_cards(tx, now, gate)
