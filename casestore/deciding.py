"""Deciding: one conditional UPDATE for every surface; the first answer wins, and a late one is refused (R5, R6)."""

from dataclasses import dataclass
from enum import StrEnum

from casestore import cases, gates, principals
from casestore.canonical import call_digest
from casestore.models import Gate, GateId, Principal, PrincipalId
from casestore.principals import actor
from casestore.scope import Scope
from casestore.states import GateKind, GateState, Verb
from casestore.tx import Tx

_VERBS = {
    GateKind.APPROVAL: (Verb.APPROVE, Verb.DENY, Verb.REVISE),
    GateKind.CONSENT: (Verb.APPROVE, Verb.DENY),
    GateKind.OUTCOME: (Verb.HAPPENED, Verb.NOT_HAPPENED, Verb.RERUN),
}
_DENIES = (Verb.DENY, Verb.REVISE)
_TAKES = """gates.id = :id AND gates.state = 'open' AND gates.expires_at > :now
             AND substr(gates.digest_shown, 1, length(:digest)) = :digest
             AND EXISTS (SELECT 1 FROM principals p JOIN gate_roles r ON r.gate_id = gates.id AND r.role = p.role
                         WHERE p.id = :who AND p.revoked_at IS NULL AND p.tenant = gates.tenant)
             AND (gates.four_eyes = 0 OR (gates.kind <> 'approval' AND :verb <> 'rerun')
                  OR (gates.asked_for IS DISTINCT FROM :who AND NOT EXISTS (
                    SELECT 1 FROM cases c WHERE c.id = gates.case_id AND c.requester = :who)))
             AND (gates.kind <> 'consent' OR EXISTS (
                    SELECT 1 FROM cases c WHERE c.id = gates.case_id AND c.requester = :who))"""
"""Whether a gate takes this answer of this person now: what is decided by, and what is said before it (R5)."""
SHORTEST_DIGEST = 8


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
class NotDecided:
    """Not taken; `gate` is as it stands now."""

    because: Because
    gate: Gate


def decide(tx: Tx, now: int, scope: Scope, gate_id: GateId, who: Principal, decision: Decision) -> Decided | NotDecided:
    """The one function every surface decides with: one conditional UPDATE, first answer wins (R5).

    A late answer is refused and writes the expiry, whether or not a sweep has run (R6). Four eyes are asked of whatever
    lets an effect be made: an approval, and "run it again". Whether something happened is a fact that anybody may know.
    """
    gate = gates.get(tx, scope, gate_id)
    if _makes_no_sense(gate, decision):
        return _why_not(tx, now, gate, who.id, decision)
    run_args = decision.changed_args or gate.args
    moved = tx.run(
        f"""UPDATE gates SET state = :state, verb = :verb, decided_by = :who, decided_at = :now, decided_via = :via,
               reason = :reason, changed_args = :changed_args, digest_run = :digest_run
           WHERE {_TAKES}""",
        id=gate_id, now=now, state="denied" if decision.verb in _DENIES else "approved", verb=decision.verb,
        who=who.id, via=decision.via, reason=decision.reason, digest=decision.digest,
        changed_args=decision.changed_args,
        digest_run=call_digest(gate.step_id, gate.tool, gate.tool_version, run_args),
    )  # fmt: skip
    if not moved:
        return _why_not(tx, now, gates.by_id(tx, gate_id), who.id, decision)
    gate = gates.by_id(tx, gate_id)
    meta = {"gate": gate.id, "verb": decision.verb, "via": decision.via, "principal": who.id}
    content: dict[str, object] = {"reason": decision.reason} if decision.reason else {}
    if decision.changed_args is not None:
        content["changed_args"] = decision.changed_args
    gates.conclude(tx, now, gate, f"gate.{gate.state}", actor(who), meta, content)
    return Decided(gate)


def refusal(
    tx: Tx, now: int, scope: Scope, gate_id: GateId, who: Principal, decision: Decision
) -> NotDecided | None:  # fmt: skip
    """Why this answer would not be taken, by what `decide` judges it by; None where it would be.

    Nothing is decided, but an expiry that is late is written (R6).
    """
    gate = gates.get(tx, scope, gate_id)
    taken = tx.value(
        f"SELECT 1 FROM gates WHERE {_TAKES}",
        id=gate_id, now=now, who=who.id, verb=decision.verb, digest=decision.digest,
    )  # fmt: skip
    if taken is not None and not _makes_no_sense(gate, decision):
        return None
    return _why_not(tx, now, gate, who.id, decision)


def _makes_no_sense(gate: Gate, decision: Decision) -> bool:
    return decision.verb not in _VERBS[gate.kind] or len(decision.digest) < SHORTEST_DIGEST


def may_decide(tx: Tx, who: Principal, gate: Gate) -> bool:
    """Whether an answer of this person could count, for who they are: for showing, never for deciding (R5)."""
    asked_for_it = who.id in (gate.asked_for, cases.by_id(tx, gate.case_id).requester)
    if who.revoked_at is not None or who.tenant != gate.tenant or who.role not in gates.roles_of(tx, gate.id):
        return False
    if gate.kind is GateKind.CONSENT:
        return cases.by_id(tx, gate.case_id).requester == who.id
    return not (gate.kind is GateKind.APPROVAL and gate.four_eyes and asked_for_it)


def _why_not(tx: Tx, now: int, gate: Gate, who: PrincipalId, decision: Decision) -> NotDecided:
    """The reason, judged by what is stored now: the surface may have known the person before they were revoked."""
    if (expired := gates.expire(tx, now, gate)) is not None:
        return NotDecided(Because.EXPIRED, expired)
    if gate.state is GateState.EXPIRED:
        return NotDecided(Because.EXPIRED, gate)
    if gate.state is not GateState.OPEN:
        return NotDecided(Because.ALREADY_DECIDED, gate)
    if decision.verb not in _VERBS[gate.kind]:
        return NotDecided(Because.WRONG_VERB, gate)
    principal = principals.get(tx, who)
    if (
        principal.revoked_at is not None
        or principal.role not in gates.roles_of(tx, gate.id)
        or principal.tenant != gate.tenant
    ):
        return NotDecided(Because.NOT_ALLOWED, gate)
    if len(decision.digest) < SHORTEST_DIGEST or not gate.digest_shown.startswith(decision.digest):
        return NotDecided(Because.STALE, gate)
    if gate.kind is GateKind.CONSENT:
        return NotDecided(Because.ONLY_REQUESTER, gate)
    return NotDecided(Because.OWN_REQUEST, gate)
