"""Steps: written `started` before they are made and `finished` after, so that a kill leaves no doubt unasked (R14).

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
class ModelCall:
    """What a model step names so that its request can be rebuilt (R17); `request` is JSON, `deadline` in ms UTC."""

    request: str
    digest: str
    deadline: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model call used and how it ended."""

    finish_reason: str
    model_reported: str | None
    provider_response_id: str | None
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a response, as the journal keeps it; `args` is canonical JSON."""

    position: int
    call_id: str
    tool: str
    tool_version: str
    tier: Tier
    args: str


def start_model(tx: Tx, now: int, lease: Lease, run: Run, call: ModelCall) -> StepId:
    """Journal a model call before it is made. Raises `LeaseLost`."""
    leases.guard(tx, now, lease, until=call.deadline)
    step_id = tx.insert(
        """INSERT INTO steps (case_id, turn_id, run_id, seq, kind, state, tenant, started_at, deadline, request,
                              request_digest)
           VALUES (:case_id, :turn_id, :run_id, :seq, 'model', 'started', :tenant, :now, :deadline, :request,
                   :digest) RETURNING id""",
        case_id=run.case_id, turn_id=run.turn_id, run_id=run.id, seq=_next_seq(tx, run.turn_id), tenant=run.tenant,
        now=now, deadline=call.deadline, request=call.request, digest=call.digest,
    )  # fmt: skip
    return StepId(step_id)


def finish_model(tx: Tx, now: int, step_id: StepId, run_id: RunId, usage: Usage, response_seq: int | None) -> None:
    """Record a response and what it used, once. `response_seq` None: the lease was lost, the response was dropped.

    What it used is a fact (R10): it counts also where the next holder has given the call up, which then stays failed.
    """
    finished = tx.run(
        """UPDATE steps SET state = CASE state WHEN 'started' THEN :state ELSE state END,
               finished_at = coalesce(finished_at, :now), error = CASE state WHEN 'started' THEN :error ELSE error END,
               response_seq = CASE state WHEN 'started' THEN :response_seq END, finish_reason = :finish_reason,
               model_reported = :model_reported, provider_response_id = :provider_response_id,
               input_tokens = :input_tokens, output_tokens = :output_tokens, cached_tokens = :cached_tokens,
               cost_usd = :cost_usd
           WHERE id = :id AND finish_reason IS NULL""",
        id=step_id, now=now, response_seq=response_seq, state="failed" if response_seq is None else "finished",
        error="the lease was lost" if response_seq is None else None, finish_reason=usage.finish_reason,
        model_reported=usage.model_reported, provider_response_id=usage.provider_response_id,
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cached_tokens=usage.cached_tokens,
        cost_usd=usage.cost_usd,
    )  # fmt: skip
    if finished:
        runs.add_usage(
            tx, run_id, model_reported=usage.model_reported, input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens, cached_tokens=usage.cached_tokens, cost_usd=usage.cost_usd,
        )  # fmt: skip


def fail_model(tx: Tx, now: int, step_id: StepId, error: str) -> None:
    """Record that a model call gave no response."""
    tx.run(
        "UPDATE steps SET state = 'failed', finished_at = :now, error = :error WHERE id = :id AND state = 'started'",
        id=step_id, now=now, error=error,
    )  # fmt: skip


def bear(tx: Tx, run: Run, model_step: StepId, calls: Sequence[Call]) -> list[Step]:
    """The calls of a response are born waiting, in its order: nothing of a response is dropped (R7)."""
    for call in calls:
        _insert(tx, run, model_step, call)
    return of_response(tx, model_step) if calls else []


def start_tool(
    tx: Tx, now: int, lease: Lease, run_id: RunId, step: Step, *, deadline: int, effect_key: str | None = None,
    idempotency_key: str | None = None,
) -> None:  # fmt: skip
    """Journal a free call before it is made. The lease is stretched over its deadline (R14). Raises `LeaseLost`."""
    leases.guard(tx, now, lease, until=deadline)
    started = tx.run(
        """UPDATE steps SET state = 'started', run_id = :run_id, started_at = :now, deadline = :deadline,
               effect_key = :effect_key, idempotency_key = :idempotency_key WHERE id = :id AND state = 'waiting'""",
        id=step.id, run_id=run_id, now=now, deadline=deadline, effect_key=effect_key,
        idempotency_key=idempotency_key,
    )  # fmt: skip
    if not started:
        raise MoveRefused(f"Step {step.id} is not waiting any more; it is not started twice.")
    runs.count_tool_call(tx, run_id)
    _tell(tx, now, step, "tool.started", {"step": step.id, "run": run_id})


def finish_tool(tx: Tx, now: int, step_id: StepId, *, ok: bool, result: str) -> bool:
    """A fact: this started step ended so. False where it already has a result, which then stays (R10, R14)."""
    step = by_id(tx, step_id)
    moved = tx.run(
        """UPDATE steps SET state = :state, finished_at = :now, result = :result
           WHERE id = :id AND result IS NULL AND (state = 'started' OR (state = 'unknown' AND NOT EXISTS (
               SELECT 1 FROM steps s WHERE s.model_step = steps.model_step AND s.position = steps.position
                 AND s.id > steps.id)))""",
        id=step_id, now=now, result=result, state="finished" if ok else "failed",
    )  # fmt: skip
    kind = ("tool.finished" if ok else "tool.failed") if moved else "tool.late_result"
    _tell(tx, now, step, kind, {"step": step_id})
    if moved:
        outbox.refresh_card_of(tx, now, step)
    return bool(moved)


def refuse(tx: Tx, now: int, run_id: RunId | None, step: Step, result: str, *, why: str) -> None:
    """A waiting call is not made; its one result says why (R7)."""
    moved = tx.run(
        """UPDATE steps SET state = 'refused', finished_at = :now, result = :result,
               run_id = coalesce(:run_id, run_id) WHERE id = :id AND state = 'waiting'""",
        id=step.id, now=now, result=result, run_id=run_id,
    )  # fmt: skip
    if moved:
        _tell(tx, now, step, "tool.refused", {"step": step.id, "why": why})


def leave_unknown(tx: Tx, step: Step, result: str) -> None:
    """Nobody could say what became of a call; its result says that, and it is never run by itself (R14)."""
    tx.run(
        "UPDATE steps SET result = :result WHERE id = :id AND state = 'unknown' AND result IS NULL",
        id=step.id,
        result=result,
    )


def settle_unknown(tx: Tx, now: int, step: Step, *, happened: bool, result: str, actor: str) -> None:
    """A person said what became of a call."""
    moved = tx.run(
        """UPDATE steps SET state = :state, finished_at = :now, result = :result
           WHERE id = :id AND state = 'unknown' AND result IS NULL""",
        id=step.id, now=now, result=result, state="finished" if happened else "failed",
    )  # fmt: skip
    if moved:
        trail.append(tx, step.case_id, now, "tool.outcome_told", actor, {"step": step.id, "happened": happened})
        outbox.refresh_card_of(tx, now, step)


def mark_unknown(tx: Tx, now: int, step: Step) -> None:
    """Started, never finished, and its deadline has passed: the outcome is unknown (R14)."""
    moved = tx.run(
        "UPDATE steps SET state = 'unknown', finished_at = :now WHERE id = :id AND state = 'started'",
        id=step.id,
        now=now,
    )
    if moved:
        _tell(tx, now, step, "tool.outcome_unknown", {"step": step.id})
        outbox.refresh_card_of(tx, now, step)


def recover(tx: Tx, now: int, turn_id: TurnId) -> int:
    """What a new holder finds started by an earlier one (design, "Crash points").

    A model call is asked again and a read-only call runs again. Another call is `unknown` once its deadline has passed;
    until then the return value is that deadline, before which the turn cannot go on; otherwise 0.
    """
    wait_until = 0
    for step in tx.all(Step, "SELECT * FROM steps WHERE turn_id = :id AND state = 'started'", id=turn_id):
        if step.tool is None:
            fail_model(tx, now, step.id, "interrupted")
        elif step.tier is Tier.READ_ONLY:
            tx.run("UPDATE steps SET state = 'waiting', started_at = NULL, deadline = NULL WHERE id = :id", id=step.id)
        elif step.deadline is not None and step.deadline > now:
            wait_until = max(wait_until, step.deadline)
        else:
            mark_unknown(tx, now, step)
    return wait_until


def in_flight_until(tx: Tx, turn_id: TurnId | None) -> int:
    """Until when a call of a turn that was ended from outside may still come back by itself; 0 for none (R14)."""
    return tx.integer(
        "SELECT max(deadline) FROM steps WHERE turn_id = :id AND state = 'started' AND tier <> 'read_only'", id=turn_id
    )


def attempt_again(tx: Tx, step: Step) -> Step:
    """A further attempt beside one whose outcome is unknown, born waiting; the gate that allows it spends it."""
    tx.run(
        """INSERT INTO steps (case_id, turn_id, run_id, seq, kind, state, tenant, model_step, position, call_id, tool,
                              tool_version, tier, args)
           SELECT case_id, turn_id, run_id, :seq, 'tool', 'waiting', tenant, model_step, position, call_id, tool,
                  tool_version, tier, args FROM steps WHERE id = :id""",
        id=step.id, seq=_next_seq(tx, step.turn_id),
    )  # fmt: skip
    return tx.all(Step, "SELECT * FROM steps WHERE turn_id = :turn ORDER BY seq DESC LIMIT 1", turn=step.turn_id)[0]


def attempt_before(tx: Tx, step: Step) -> Step | None:
    """The attempt of the same call before this one, of which nobody knows what became of it."""
    return tx.maybe(
        Step,
        """SELECT * FROM steps WHERE turn_id = :turn AND model_step = :model_step AND position = :position
             AND id < :id ORDER BY id DESC LIMIT 1""",
        turn=step.turn_id, model_step=step.model_step, position=step.position, id=step.id,
    )  # fmt: skip


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


def last_response(tx: Tx, turn_id: TurnId) -> Step | None:
    """The newest finished model step of a turn."""
    return tx.maybe(
        Step,
        """SELECT * FROM steps WHERE turn_id = :id AND kind = 'model' AND state = 'finished'
           ORDER BY seq DESC LIMIT 1""",
        id=turn_id,
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


def _insert(tx: Tx, run: Run, model_step: StepId, call: Call) -> None:
    tx.run(
        """INSERT INTO steps (case_id, turn_id, run_id, seq, kind, state, tenant, model_step, position, call_id, tool,
                              tool_version, tier, args)
           VALUES (:case_id, :turn_id, :run_id, :seq, 'tool', 'waiting', :tenant, :model_step, :position, :call_id,
                   :tool, :tool_version, :tier, :args)""",
        case_id=run.case_id, turn_id=run.turn_id, run_id=run.id, seq=_next_seq(tx, run.turn_id), tenant=run.tenant,
        model_step=model_step, position=call.position, call_id=call.call_id, tool=call.tool,
        tool_version=call.tool_version, tier=call.tier, args=call.args,
    )  # fmt: skip


def _next_seq(tx: Tx, turn_id: TurnId) -> int:
    return tx.integer("SELECT max(seq) FROM steps WHERE turn_id = :id", id=turn_id) + 1


def _tell(tx: Tx, now: int, step: Step, kind: str, meta: dict[str, object]) -> None:
    content = {"args": decode(step.args or "{}")} if kind == "tool.started" else {}
    trail.append(tx, step.case_id, now, kind, "engine", {"tool": step.tool, "tier": step.tier, **meta}, content)
