"""Question: a call that only a person may decide is held, and its turn is parked (R4, R6, R7, R24)."""

from collections.abc import Sequence
from dataclasses import dataclass

from casestore import cases, gates, leases, outbox, trail, turns
from casestore.canonical import call_digest, encode
from casestore.errors import BadRequest, MoveRefused
from casestore.leases import Lease
from casestore.models import CaseId, Gate, GateId, Step, StepId, TurnId
from casestore.states import CaseState, GateKind, OnExpiry, OutboxKind, Role, WaitingOn
from casestore.tx import Tx


@dataclass(frozen=True, slots=True)
class Policy:
    """Under what rules a gate is asked; copied into its row. Times in ms UTC."""

    roles: Sequence[Role]
    four_eyes: bool
    on_expiry: OnExpiry
    expires_at: int
    reminders: Sequence[int] = ()
    also_at: Sequence[str] = ()
    """Addresses where it is asked too, beside the threads of its case: a room of those who approve."""


@dataclass(frozen=True, slots=True)
class Question:
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


def ask(tx: Tx, now: int, lease: Lease, turn_id: TurnId, question: Question) -> Gate:
    """Hold a call: the gate is open, the turn parked, the cards on their way (R4, R7). Raises `LeaseLost`.

    Raises `BadRequest` for a missing or past expiry (R6) or an empty list of roles (R24), `MoveRefused` where the case
    is not in progress any more.
    """
    policy = question.policy
    if type(policy.expires_at) is not int or policy.expires_at <= now:
        raise BadRequest("A gate needs an expiry in the future.")
    if not policy.roles:
        raise BadRequest("A gate nobody may decide is not asked. Name at least one role in [gates] roles.")
    leases.guard(tx, now, lease, of=question.step.case_id)
    case = cases.by_id(tx, lease.case_id)
    if case.state is not CaseState.IN_PROGRESS:
        raise MoveRefused(f"{case.label} is {case.state}; nothing is asked in it.")
    step, args = question.step, question.step.args or "{}"
    gate_id = tx.insert(
        """INSERT INTO gates (case_id, turn_id, step_id, kind, tenant, asked_for, tool, tool_version, tier, reversible,
                              args, statement, because, earlier_step, effect_key, effect_nth, digest_shown, four_eyes,
                              on_expiry, reminders, remind_at, state, asked_at, expires_at)
           VALUES (:case_id, :turn_id, :step_id, :kind, :tenant, coalesce(
                       (SELECT acts_for FROM turns WHERE id = :turn_id),
                       (SELECT author FROM messages WHERE turn_id = :turn_id AND direction = 'in'
                           AND author IS NOT NULL ORDER BY seq LIMIT 1)),
                   :tool, :tool_version, :tier, :reversible, :args, :statement, :because, :earlier_step, :effect_key,
                   :effect_nth, :digest, :four_eyes, :on_expiry, :reminders, :remind_at, 'open', :now, :expires_at)
           RETURNING id""",
        case_id=case.id, turn_id=turn_id, step_id=step.id, kind=question.kind, tenant=case.tenant, tool=step.tool,
        tool_version=question.tool_version, tier=step.tier, reversible=int(question.reversible), args=args,
        statement=question.statement, because=question.because, earlier_step=question.earlier_step,
        effect_key=question.effect_key, effect_nth=question.effect_nth,
        digest=call_digest(step.id, step.tool or "", question.tool_version, args), four_eyes=int(policy.four_eyes),
        on_expiry=policy.on_expiry, reminders=encode(sorted(policy.reminders)),
        remind_at=min(policy.reminders, default=None), now=now, expires_at=policy.expires_at,
    )  # fmt: skip
    for role in {*policy.roles, *({Role.ADMIN} if Role.OPERATOR in policy.roles else ())}:
        tx.run("INSERT INTO gate_roles (gate_id, role) VALUES (:gate_id, :role)", gate_id=gate_id, role=role)
    turns.park(tx, turn_id)
    consent = question.kind is GateKind.CONSENT
    cases.wait(tx, now, case.id, WaitingOn.REQUESTER if consent else WaitingOn.APPROVAL)
    meta = {"gate": gate_id, "kind": question.kind, "tool": step.tool, "step": step.id, "expires_at": policy.expires_at}
    trail.append(tx, case.id, now, "gate.asked", "engine", meta, {"statement": question.statement})
    _put_cards(tx, now, case.id, GateId(gate_id), policy.also_at)
    return gates.by_id(tx, GateId(gate_id))


def _put_cards(tx: Tx, now: int, case_id: CaseId, gate_id: GateId, also_at: Sequence[str]) -> None:
    found = tx.column("SELECT address FROM bindings WHERE case_id = :id AND state = 'live' ORDER BY id", id=case_id)
    for address in dict.fromkeys([*map(str, found), *also_at]):
        outbox.put(tx, now, case_id, address, OutboxKind.CARD, gate_id=gate_id)
