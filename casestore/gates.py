"""Gates: asking, deciding, expiring, withdrawing (R4 to R8). Spending an approval is in `spending.py` (R9)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from casestore import cases, leases, outbox, principals, trail, turns
from casestore.canonical import call_digest, encode
from casestore.errors import BadRequest, MoveRefused, NotFound
from casestore.leases import Lease
from casestore.models import CaseId, Gate, GateId, Principal, PrincipalId, Step, StepId, TurnId
from casestore.principals import actor
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.states import CaseState, GateKind, GateState, OnExpiry, OutboxKind, Role, Verb, WaitingOn
from casestore.tx import Tx

_VERBS = {
    GateKind.APPROVAL: (Verb.APPROVE, Verb.DENY, Verb.REVISE),
    GateKind.CONSENT: (Verb.APPROVE, Verb.DENY),
    GateKind.OUTCOME: (Verb.HAPPENED, Verb.NOT_HAPPENED, Verb.RERUN),
}
_DENIES = (Verb.DENY, Verb.REVISE)
SHORTEST_DIGEST = 8


@dataclass(frozen=True, slots=True)
class Policy:
    """Under what rules a gate is asked; copied into its row. Times in ms UTC."""

    roles: Sequence[Role]
    four_eyes: bool
    on_expiry: OnExpiry
    expires_at: int
    reminders: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Asking:
    """One call to be held, and what the approver will be shown."""

    kind: GateKind
    step: Step
    tool_version: str
    reversible: bool
    statement: str
    because: str
    policy: Policy
    effect_key: str | None = None
    effect_nth: int = 0
    earlier_step: StepId | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person answers. `digest` is (the first characters of) what they were shown; `via` the surface."""

    verb: Verb
    digest: str
    via: str
    reason: str | None = None
    changed_args: str | None = None


class Because(StrEnum):
    """Why a decision was not taken."""

    ALREADY_DECIDED = "already_decided"
    EXPIRED = "expired"
    NOT_ALLOWED = "not_allowed"
    OWN_REQUEST = "own_request"
    ONLY_REQUESTER = "only_requester"
    STALE = "stale"
    WRONG_VERB = "wrong_verb"


@dataclass(frozen=True, slots=True)
class Decided:
    """The first answer, which won."""

    gate: Gate


@dataclass(frozen=True, slots=True)
class Refused:
    """Not taken; `gate` is as it stands now."""

    because: Because
    gate: Gate


def ask(tx: Tx, now: int, lease: Lease, turn_id: TurnId, asking: Asking) -> Gate:
    """Hold a call: the gate is open, the turn parked, the cards on their way (R4, R7). Raises `LeaseLost`.

    Raises `BadRequest` for a missing or past expiry (R6) or an empty list of roles (R24), `MoveRefused` where the case
    is not in progress any more.
    """
    policy = asking.policy
    if type(policy.expires_at) is not int or policy.expires_at <= now:
        raise BadRequest("A gate needs an expiry in the future.")
    if not policy.roles:
        raise BadRequest("A gate nobody may decide is not asked. Name at least one role in [gates] roles.")
    leases.guard(tx, now, lease)
    case = cases.by_id(tx, lease.case_id)
    if case.state is not CaseState.IN_PROGRESS:
        raise MoveRefused(f"{case.label} is {case.state}; nothing is asked in it.")
    step, args = asking.step, asking.step.args or "{}"
    gate_id = tx.insert(
        """INSERT INTO gates (case_id, turn_id, step_id, kind, tenant, asked_for, tool, tool_version, tier, reversible,
                              args, statement, because, earlier_step, effect_key, effect_nth, digest_shown, four_eyes,
                              on_expiry, reminders, state, asked_at, expires_at)
           VALUES (:case_id, :turn_id, :step_id, :kind, :tenant, coalesce(
                       (SELECT acts_for FROM turns WHERE id = :turn_id),
                       (SELECT author FROM messages WHERE turn_id = :turn_id AND direction = 'in'
                           AND author IS NOT NULL ORDER BY seq LIMIT 1)),
                   :tool, :tool_version, :tier, :reversible, :args, :statement, :because, :earlier_step, :effect_key,
                   :effect_nth, :digest, :four_eyes, :on_expiry, :reminders, 'open', :now, :expires_at)
           RETURNING id""",
        case_id=case.id, turn_id=turn_id, step_id=step.id, kind=asking.kind, tenant=case.tenant, tool=step.tool,
        tool_version=asking.tool_version, tier=step.tier, reversible=int(asking.reversible), args=args,
        statement=asking.statement, because=asking.because, earlier_step=asking.earlier_step,
        effect_key=asking.effect_key, effect_nth=asking.effect_nth,
        digest=call_digest(step.id, step.tool or "", asking.tool_version, args), four_eyes=int(policy.four_eyes),
        on_expiry=policy.on_expiry, reminders=encode(sorted(policy.reminders)), now=now,
        expires_at=policy.expires_at,
    )  # fmt: skip
    for role in {*policy.roles, *({Role.ADMIN} if Role.OPERATOR in policy.roles else ())}:
        tx.run("INSERT INTO gate_roles (gate_id, role) VALUES (:gate_id, :role)", gate_id=gate_id, role=role)
    turns.park(tx, turn_id)
    consent = asking.kind is GateKind.CONSENT
    cases.wait(tx, now, case.id, WaitingOn.REQUESTER if consent else WaitingOn.APPROVAL)
    meta = {"gate": gate_id, "kind": asking.kind, "tool": step.tool, "step": step.id, "expires_at": policy.expires_at}
    trail.append(tx, case.id, now, "gate.asked", "engine", meta, {"statement": asking.statement})
    _put_cards(tx, now, case.id, GateId(gate_id))
    return by_id(tx, GateId(gate_id))


def decide(tx: Tx, now: int, scope: Scope, gate_id: GateId, who: Principal, decision: Decision) -> Decided | Refused:
    """The one function every surface decides with: one conditional UPDATE, first answer wins (R5).

    A late answer is refused and writes the expiry, whether or not a sweep has run (R6).
    """
    gate = get(tx, scope, gate_id)
    if decision.verb not in _VERBS[gate.kind] or len(decision.digest) < SHORTEST_DIGEST:
        return _why_not(tx, now, gate, who.id, decision)
    run_args = decision.changed_args or gate.args
    moved = tx.run(
        """UPDATE gates SET state = :state, verb = :verb, decided_by = :who, decided_at = :now, decided_via = :via,
               reason = :reason, changed_args = :changed_args, digest_run = :digest_run
           WHERE id = :id AND state = 'open' AND expires_at > :now
             AND substr(digest_shown, 1, length(:digest)) = :digest
             AND EXISTS (SELECT 1 FROM principals p JOIN gate_roles r ON r.gate_id = gates.id AND r.role = p.role
                         WHERE p.id = :who AND p.revoked_at IS NULL AND p.tenant = gates.tenant)
             AND (four_eyes = 0 OR kind <> 'approval' OR (asked_for IS DISTINCT FROM :who AND NOT EXISTS (
                    SELECT 1 FROM cases c WHERE c.id = gates.case_id AND c.requester = :who)))
             AND (kind <> 'consent' OR EXISTS (
                    SELECT 1 FROM cases c WHERE c.id = gates.case_id AND c.requester = :who))""",
        id=gate_id, now=now, state="denied" if decision.verb in _DENIES else "approved", verb=decision.verb,
        who=who.id, via=decision.via, reason=decision.reason, digest=decision.digest,
        changed_args=decision.changed_args,
        digest_run=call_digest(gate.step_id, gate.tool, gate.tool_version, run_args),
    )  # fmt: skip
    if not moved:
        return _why_not(tx, now, by_id(tx, gate_id), who.id, decision)
    gate = by_id(tx, gate_id)
    meta = {"gate": gate.id, "verb": decision.verb, "via": decision.via, "principal": who.id}
    content: dict[str, object] = {"reason": decision.reason} if decision.reason else {}
    if decision.changed_args is not None:
        content["changed_args"] = decision.changed_args
    _conclude(tx, now, gate, f"gate.{gate.state}", actor(who), meta, content)
    return Decided(gate)


def expire_due(tx: Tx, now: int, most: int = 100) -> list[Gate]:
    """Every open gate whose time has come is denied by expiry (R6); returns them."""
    due = tx.all(
        Gate,
        "SELECT * FROM gates WHERE state = 'open' AND expires_at <= :now ORDER BY expires_at LIMIT :most",
        now=now, most=most,
    )  # fmt: skip
    return [expired for gate in due if (expired := _expire(tx, now, gate)) is not None]


def withdraw(tx: Tx, now: int, gate: Gate, *, by: str, reason: str, who: Principal | None = None) -> Gate:
    """Take the question back: a denial for the turn. Raises `MoveRefused` if it is not open any more."""
    moved = tx.run(
        """UPDATE gates SET state = 'withdrawn', decided_at = :now, decided_by = :who, reason = :reason
           WHERE id = :id AND state = 'open'""",
        id=gate.id, now=now, who=None if who is None else who.id, reason=reason,
    )  # fmt: skip
    gate = by_id(tx, gate.id)
    if not moved:
        raise MoveRefused(f"Gate {gate.id} is {gate.state}; there is nothing to withdraw.")
    _conclude(tx, now, gate, "gate.withdrawn", by, {"gate": gate.id}, {"reason": reason})
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
        """UPDATE gates SET expires_at = :expires_at, reminders = :reminders, reminded = 0
           WHERE id = :id AND state = 'open' AND expires_at > :now AND :expires_at > expires_at
             AND EXISTS (SELECT 1 FROM principals p JOIN gate_roles r ON r.gate_id = gates.id AND r.role = p.role
                         WHERE p.id = :who AND p.revoked_at IS NULL AND p.tenant = gates.tenant)""",
        id=gate.id, now=now, expires_at=expires_at, reminders=encode(sorted(reminders)), who=who.id,
    )  # fmt: skip
    gate = by_id(tx, gate.id)
    if not moved:
        raise MoveRefused(
            f"Gate {gate.id} was not extended: it must be open, the new expiry later, and you one who may decide it."
        )
    trail.append(tx, gate.case_id, now, "gate.extended", actor(who), {"gate": gate.id, "expires_at": expires_at})
    outbox.refresh_cards(tx, now, gate)
    return gate


def to_remind(tx: Tx, now: int) -> list[Gate]:
    """Open gates of which a reminder's time has passed; marks each step as done, so each comes once."""
    due: list[Gate] = []
    for gate in tx.all(Gate, "SELECT * FROM gates WHERE state = 'open' AND expires_at > :now", now=now):
        passed = sum(1 for at in gate.reminders if at <= now)
        if passed > gate.reminded:
            tx.run("UPDATE gates SET reminded = :n WHERE id = :id AND state = 'open'", id=gate.id, n=passed)
            due.append(by_id(tx, gate.id))
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
        raise NotFound(f"No gate {gate_id}. See: casebound gate list")
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


def _expire(tx: Tx, now: int, gate: Gate) -> Gate | None:
    moved = tx.run(
        """UPDATE gates SET state = 'expired', decided_at = :now WHERE id = :id AND state = 'open'
           AND expires_at <= :now""",
        id=gate.id,
        now=now,
    )
    if not moved:
        return None
    gate = by_id(tx, gate.id)
    _conclude(tx, now, gate, "gate.expired", "engine", {"gate": gate.id, "expires_at": gate.expires_at})
    return gate


def _conclude(
    tx: Tx, now: int, gate: Gate, kind: str, by: str, meta: Mapping[str, object],
    content: dict[str, object] | None = None,
) -> None:  # fmt: skip
    """What follows every end of a gate: the trail says so, the turn can go on, the cards change."""
    trail.append(tx, gate.case_id, now, kind, by, meta, content)
    turns.requeue(tx, gate.turn_id)
    cases.wait(tx, now, gate.case_id, WaitingOn.NOBODY)
    outbox.refresh_cards(tx, now, gate)


def _why_not(tx: Tx, now: int, gate: Gate, who: PrincipalId, decision: Decision) -> Refused:
    """The reason, judged by what is stored now: the surface may have known the person before they were revoked."""
    if (expired := _expire(tx, now, gate)) is not None:
        return Refused(Because.EXPIRED, expired)
    if gate.state is GateState.EXPIRED:
        return Refused(Because.EXPIRED, gate)
    if gate.state is not GateState.OPEN:
        return Refused(Because.ALREADY_DECIDED, gate)
    if decision.verb not in _VERBS[gate.kind]:
        return Refused(Because.WRONG_VERB, gate)
    principal = principals.get(tx, who)
    if (
        principal.revoked_at is not None
        or principal.role not in roles_of(tx, gate.id)
        or principal.tenant != gate.tenant
    ):
        return Refused(Because.NOT_ALLOWED, gate)
    if len(decision.digest) < SHORTEST_DIGEST or not gate.digest_shown.startswith(decision.digest):
        return Refused(Because.STALE, gate)
    if gate.kind is GateKind.CONSENT:
        return Refused(Because.ONLY_REQUESTER, gate)
    return Refused(Because.OWN_REQUEST, gate)


def _put_cards(tx: Tx, now: int, case_id: CaseId, gate_id: GateId) -> None:
    addresses = tx.column("SELECT address FROM bindings WHERE case_id = :id AND state = 'live' ORDER BY id", id=case_id)
    for address in addresses:
        outbox.put(tx, now, case_id, str(address), OutboxKind.CARD, gate_id=gate_id)
