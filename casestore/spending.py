"""Spending: the one way from an approval to an effect (R9). Separate from deciding, and at most once."""

from dataclasses import dataclass
from enum import StrEnum

from casestore import gates, holds, leases, principals, recovery, runs, steps, trail
from casestore.canonical import call_digest, decode
from casestore.errors import BadRequest
from casestore.leases import Lease
from casestore.models import Gate, RunId, Step
from casestore.states import GateKind, GateState, StepState, Verb
from casestore.tx import Tx


class NotSpent(StrEnum):
    """Why an approval was not spent. After the first four the call is asked anew; after the others it is refused."""

    DECIDER_REVOKED = "the one who approved it has been revoked since"
    TOOL_CHANGED = "the tool's definition has changed since it was shown"
    EFFECT_TAKEN = "the same effect was started elsewhere since it was shown"
    DIGEST = "the arguments are not those that were approved"
    FROZEN = "it is frozen by an operator"
    VOID = "the approval is not standing any more"


ASK_ANEW = (NotSpent.DECIDER_REVOKED, NotSpent.TOOL_CHANGED, NotSpent.EFFECT_TAKEN, NotSpent.DIGEST)


@dataclass(frozen=True, slots=True)
class Spent:
    """The step has started; `args` is what it runs with."""

    step: Step
    args: dict[str, object]


def spend(
    tx: Tx, now: int, lease: Lease, run_id: RunId, gate: Gate, *, tool_version: str, deadline: int,
    idempotency_key: str | None = None,
) -> Spent | NotSpent:  # fmt: skip
    """Start the step this gate allows, or say why not; an approval that cannot be spent is void. Raises `LeaseLost`.

    For an `outcome` gate answered "run it again" the step is a further attempt of the same call.
    """
    if gate.kind is GateKind.OUTCOME and gate.verb is not Verb.RERUN:
        raise BadRequest("Only the answer 'run it again' lets an unknown call be made once more.")
    leases.guard(tx, now, lease, of=gate.case_id, until=deadline)
    if tx.value("SELECT 1 FROM steps WHERE gate_id = :id", id=gate.id) is not None:
        return NotSpent.VOID  # spent already; the unique index would say the same, and louder
    step = steps.by_id(tx, gate.step_id)
    if gate.kind is GateKind.OUTCOME and step.state is StepState.UNKNOWN:
        step = recovery.attempt_again(tx, step)
    args = gate.changed_args or gate.args
    started = tx.run(
            """UPDATE steps SET state = 'started', gate_id = :gate_id, run_id = :run_id, started_at = :now,
                   deadline = :deadline, args = :args, effect_key = :effect_key, effect_nth = :effect_nth,
                   idempotency_key = :idempotency_key
               WHERE id = :step_id AND state = 'waiting'
                 AND EXISTS (SELECT 1 FROM gates g JOIN principals p ON p.id = g.decided_by AND p.revoked_at IS NULL
                             WHERE g.id = :gate_id AND g.state = 'approved' AND g.tool_version = :tool_version
                               AND g.digest_run = :digest)
                 AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.lifted_at IS NULL
                                 AND (h.tool IS NULL OR h.tool = steps.tool))
                 AND NOT EXISTS (SELECT 1 FROM steps e WHERE e.tenant = steps.tenant AND e.effect_key = :effect_key
                                 AND e.effect_nth = :effect_nth AND e.state NOT IN ('waiting', 'refused'))""",
            step_id=step.id, gate_id=gate.id, run_id=run_id, now=now, deadline=deadline, args=args,
            effect_key=gate.effect_key, effect_nth=gate.effect_nth, idempotency_key=idempotency_key,
            tool_version=tool_version, digest=call_digest(gate.step_id, gate.tool, gate.tool_version, args),
        )  # fmt: skip
    if not started:
        return _refused(tx, now, gate, _why_not(tx, gate, tool_version, args))
    runs.count_tool_call(tx, run_id)
    meta = {"gate": gate.id, "step": step.id, "run": run_id, "tool": gate.tool, "tier": gate.tier}
    trail.append(tx, gate.case_id, now, "tool.started", "engine", meta, {"args": decode(args)})
    return Spent(steps.by_id(tx, step.id), decode(args))


def _why_not(tx: Tx, gate: Gate, tool_version: str, args: str) -> NotSpent:
    gate = gates.by_id(tx, gate.id)
    if gate.state is not GateState.APPROVED or gate.decided_by is None:
        return NotSpent.VOID
    if holds.standing(tx, gate.tool) is not None:
        return NotSpent.FROZEN
    if principals.get(tx, gate.decided_by).revoked_at is not None:
        return NotSpent.DECIDER_REVOKED
    if gate.tool_version != tool_version:
        return NotSpent.TOOL_CHANGED
    if gate.digest_run != call_digest(gate.step_id, gate.tool, gate.tool_version, args):
        return NotSpent.DIGEST
    return NotSpent.EFFECT_TAKEN if _taken(tx, gate) else NotSpent.VOID


def _taken(tx: Tx, gate: Gate) -> bool:
    earlier = steps.earlier_effect(tx, gate.tenant, gate.effect_key) if gate.effect_key is not None else None
    return earlier is not None and earlier.effect_nth >= gate.effect_nth


def _refused(tx: Tx, now: int, gate: Gate, why: NotSpent) -> NotSpent:
    gates.void(tx, now, gate, by="engine", reason=str(why))
    return why
