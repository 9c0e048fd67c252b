"""Steps: a call is written `started` before it is made and `finished` after, so a kill leaves no doubt unasked (R14).

Model calls are in `model_steps.py`; what a new holder makes of steps that were never finished, in `recovery.py`.

Acts (start) carry the lease. Facts (finished, failed) are accepted by the step's own id while it has no result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from casestore import leases, outbox, runs, trail
from casestore.canonical import decode
from casestore.errors import MoveRefused
from casestore.leases import Lease
from casestore.models import Run, RunId, Step, StepId, TurnId
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.states import Tier
from casestore.tx import Tx


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a response, as the journal keeps it; `args` is canonical JSON."""

    position: int
    call_id: str
    tool: str
    tool_version: str
    tier: Tier
    args: str


def bear(tx: Tx, run: Run, model_step: StepId, calls: Sequence[Call]) -> list[Step]:
    """The calls of a response are born waiting, in its order: nothing of a response is dropped (R7)."""
    return [_insert(tx, run, model_step, call) for call in calls]


def start_tool(
    tx: Tx, now: int, lease: Lease, run_id: RunId, step: Step, *, deadline: int, effect_key: str | None = None,
    idempotency_key: str | None = None,
) -> None:  # fmt: skip
    """Journal a free call before it is made. The lease is stretched over its deadline (R14). Raises `LeaseLost`."""
    leases.guard(tx, now, lease, of=step.case_id, until=deadline)
    started = tx.run(
        """UPDATE steps SET state = 'started', run_id = :run_id, started_at = :now, deadline = :deadline,
               effect_key = :effect_key, idempotency_key = :idempotency_key WHERE id = :id AND state = 'waiting'""",
        id=step.id, run_id=run_id, now=now, deadline=deadline, effect_key=effect_key,
        idempotency_key=idempotency_key,
    )  # fmt: skip
    if not started:
        raise MoveRefused(f"Step {step.id} is not waiting any more; it is not started twice.")
    runs.count_tool_call(tx, run_id)
    tell(tx, now, step, "tool.started", {"step": step.id, "run": run_id})


def finish_tool(tx: Tx, now: int, step_id: StepId, *, ok: bool, result: str) -> Step | None:
    """A fact: this started step ended so. None where it already has a result, which then stays (R10, R14)."""
    finished = tx.maybe(
        Step,
        """UPDATE steps SET state = :state, finished_at = :now, result = :result
           WHERE id = :id AND result IS NULL AND (state = 'started' OR (state = 'unknown' AND NOT EXISTS (
               SELECT 1 FROM steps s WHERE s.model_step = steps.model_step AND s.position = steps.position
                 AND s.id > steps.id)))
           RETURNING *""",
        id=step_id, now=now, result=result, state="finished" if ok else "failed",
    )  # fmt: skip
    if finished is None:
        tell(tx, now, by_id(tx, step_id), "tool.late_result", {"step": step_id})
        return None
    tell(tx, now, finished, "tool.finished" if ok else "tool.failed", {"step": step_id})
    outbox.refresh_card_of(tx, now, finished)
    return finished


def refuse(tx: Tx, now: int, run_id: RunId | None, step: Step, result: str, *, why: str) -> None:
    """A waiting call is not made; its one result says why (R7)."""
    moved = tx.run(
        """UPDATE steps SET state = 'refused', finished_at = :now, result = :result,
               run_id = coalesce(:run_id, run_id) WHERE id = :id AND state = 'waiting'""",
        id=step.id, now=now, result=result, run_id=run_id,
    )  # fmt: skip
    if moved:
        tell(tx, now, step, "tool.refused", {"step": step.id, "why": why})


def of_response(tx: Tx, model_step: StepId) -> list[Step]:
    """The calls of a response, each by its newest attempt, in the order of the response."""
    return tx.all(
        Step,
        """SELECT s.* FROM steps s WHERE s.turn_id = (SELECT turn_id FROM steps WHERE id = :model_step)
             AND s.model_step = :model_step AND NOT EXISTS (
               SELECT 1 FROM steps n WHERE n.turn_id = s.turn_id AND n.model_step = s.model_step
                 AND n.position = s.position AND n.id > s.id)
           ORDER BY s.position""",
        model_step=model_step,
    )


def of_run(tx: Tx, scope: Scope, run_id: RunId) -> list[Step]:
    """The steps of one run, in order."""
    return tx.all(
        Step,
        f"""SELECT s.* FROM steps s JOIN cases c ON c.id = s.case_id
            WHERE s.run_id = :id AND {IN_SCOPE} ORDER BY s.seq""",
        id=run_id, **parameters(scope),
    )  # fmt: skip


def of_turn(tx: Tx, turn_id: TurnId) -> list[Step]:
    """The steps of one turn, in order."""
    return tx.all(Step, "SELECT * FROM steps WHERE turn_id = :id ORDER BY seq", id=turn_id)


def open_calls(tx: Tx, turn_id: TurnId) -> list[Step]:
    """The calls of a turn whose newest attempt waits, is being made, or ended nobody knows how; in order."""
    return tx.all(
        Step,
        """SELECT s.* FROM steps s WHERE s.turn_id = :id AND s.kind = 'tool'
             AND s.state IN ('waiting', 'started', 'unknown') AND NOT EXISTS (
               SELECT 1 FROM steps n WHERE n.turn_id = s.turn_id AND n.model_step = s.model_step
                 AND n.position = s.position AND n.id > s.id)
           ORDER BY s.seq""",
        id=turn_id,
    )


def earlier_effect(tx: Tx, tenant: str, effect_key: str) -> Step | None:
    """The newest call with this key that was made or may have been: the same intent (design, section 7)."""
    return tx.maybe(
        Step,
        """SELECT * FROM steps WHERE tenant = :tenant AND effect_key = :key AND state NOT IN ('waiting', 'refused')
           ORDER BY effect_nth DESC LIMIT 1""",
        tenant=tenant, key=effect_key,
    )  # fmt: skip


def by_id(tx: Tx, step_id: StepId) -> Step:
    """A step whose id came from our own tables."""
    return tx.all(Step, "SELECT * FROM steps WHERE id = :id", id=step_id)[0]


def failures_in_a_row(tx: Tx, turn_id: TurnId) -> int:
    """How many calls at the end of a turn were refused for what the model wrote: bad arguments, unknown tools."""
    results = tx.column(
        """SELECT result FROM steps WHERE turn_id = :id AND kind = 'tool' AND result IS NOT NULL
           ORDER BY seq DESC LIMIT 10""",
        id=turn_id,
    )
    count = 0
    for result in results:
        if decode(str(result)).get("kind") != "invalid":
            break
        count += 1
    return count


def _insert(tx: Tx, run: Run, model_step: StepId, call: Call) -> Step:
    return tx.one(
        Step,
        """INSERT INTO steps (case_id, turn_id, run_id, seq, kind, state, tenant, model_step, position, call_id, tool,
                              tool_version, tier, args)
           VALUES (:case_id, :turn_id, :run_id, (SELECT coalesce(max(seq), 0) + 1 FROM steps WHERE turn_id = :turn_id),
                   'tool', 'waiting', :tenant, :model_step, :position, :call_id, :tool, :tool_version, :tier, :args)
           RETURNING *""",
        case_id=run.case_id, turn_id=run.turn_id, run_id=run.id, tenant=run.tenant, model_step=model_step,
        position=call.position, call_id=call.call_id, tool=call.tool, tool_version=call.tool_version, tier=call.tier,
        args=call.args,
    )  # fmt: skip


def tell(tx: Tx, now: int, step: Step, kind: str, meta: dict[str, object]) -> None:
    """Append what happened to a call to the trail; its arguments where it starts."""
    content = {"args": decode(step.args or "{}")} if kind == "tool.started" else {}
    trail.append(tx, step.case_id, now, kind, "engine", {"tool": step.tool, "tier": step.tier, **meta}, content)
