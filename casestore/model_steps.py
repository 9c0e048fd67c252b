"""Model steps: a model call is journalled before it is made; what it used is a fact that outlives the lease (R10)."""

from dataclasses import dataclass

from casestore import leases, runs
from casestore.leases import Lease
from casestore.models import Run, RunId, Step, StepId, TurnId
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


def start(tx: Tx, now: int, lease: Lease, run: Run, call: ModelCall) -> StepId:
    """Journal a model call before it is made. Raises `LeaseLost`."""
    leases.guard(tx, now, lease, of=run.case_id, until=call.deadline)
    return start_retelling(tx, now, run, call)


def start_retelling(tx: Tx, now: int, run: Run, call: ModelCall) -> StepId:
    """Journal a model call that retells the case and moves nothing in it: without a lease, also after its run."""
    step_id = tx.insert(
        """INSERT INTO steps (case_id, turn_id, run_id, seq, kind, state, tenant, started_at, deadline, request,
                              request_digest)
           VALUES (:case_id, :turn_id, :run_id, (SELECT coalesce(max(seq), 0) + 1 FROM steps WHERE turn_id = :turn_id),
                   'model', 'started', :tenant, :now, :deadline, :request, :digest) RETURNING id""",
        case_id=run.case_id, turn_id=run.turn_id, run_id=run.id, tenant=run.tenant, now=now,
        deadline=call.deadline, request=call.request, digest=call.digest,
    )  # fmt: skip
    return StepId(step_id)


def finish(
    tx: Tx, now: int, step_id: StepId, run_id: RunId, usage: Usage, response_seq: int | None, *, retelling: bool = False
) -> Step | None:  # fmt: skip
    """Record a response and what it used, once. `response_seq` None: the lease was lost, the response was dropped.

    `retelling`: it is no message of the conversation, such as a compaction: it has no place there, and is not dropped.

    The step as it is then; None where it had been recorded before.
    What it used is a fact (R10): it counts also where the next holder has given the call up, which then stays failed.
    """
    dropped = response_seq is None and not retelling
    finished = tx.maybe(
        Step,
        """UPDATE steps SET state = CASE state WHEN 'started' THEN :state ELSE state END,
               finished_at = coalesce(finished_at, :now), error = CASE state WHEN 'started' THEN :error ELSE error END,
               response_seq = CASE state WHEN 'started' THEN :response_seq END, finish_reason = :finish_reason,
               model_reported = :model_reported, provider_response_id = :provider_response_id,
               input_tokens = :input_tokens, output_tokens = :output_tokens, cached_tokens = :cached_tokens,
               cost_usd = :cost_usd
           WHERE id = :id AND finish_reason IS NULL RETURNING *""",
        id=step_id, now=now, response_seq=response_seq, state="failed" if dropped else "finished",
        error="the lease was lost" if dropped else None, finish_reason=usage.finish_reason,
        model_reported=usage.model_reported, provider_response_id=usage.provider_response_id,
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cached_tokens=usage.cached_tokens,
        cost_usd=usage.cost_usd,
    )  # fmt: skip
    if finished is not None:
        runs.add_usage(
            tx, run_id, model_reported=usage.model_reported, input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens, cached_tokens=usage.cached_tokens, cost_usd=usage.cost_usd,
        )  # fmt: skip
    return finished


def fail(tx: Tx, now: int, step_id: StepId, error: str) -> None:
    """Record that a model call gave no response."""
    tx.run(
        "UPDATE steps SET state = 'failed', finished_at = :now, error = :error WHERE id = :id AND state = 'started'",
        id=step_id, now=now, error=error,
    )  # fmt: skip


def interrupt(tx: Tx, now: int) -> int:
    """A process has just started: what an earlier one asked, and nobody waits for, does not come any more; how many.

    That is what was asked after a run, or in a turn that a person has ended meanwhile. What a turn at work asked is the
    next holder's to see to, who may have to ask again.
    """
    return tx.run(
        """UPDATE steps SET state = 'failed', finished_at = :now, error = 'interrupted'
           WHERE kind = 'model' AND state = 'started' AND EXISTS (
               SELECT 1 FROM runs r JOIN turns t ON t.id = r.turn_id
               WHERE r.id = steps.run_id AND (r.ended_at IS NOT NULL OR t.settled_at IS NOT NULL))""",
        now=now,
    )  # fmt: skip


def last_response(tx: Tx, turn_id: TurnId) -> Step | None:
    """The newest model step of a turn that has a response in the conversation."""
    return tx.maybe(
        Step,
        """SELECT * FROM steps WHERE turn_id = :id AND kind = 'model' AND state = 'finished'
             AND response_seq IS NOT NULL ORDER BY seq DESC LIMIT 1""",
        id=turn_id,
    )


def words_before(tx: Tx, response: Step) -> Step | None:
    """The response of the turn right before this one, if it was words alone, without calls."""
    return tx.maybe(
        Step,
        """SELECT s.* FROM steps s WHERE s.id = (
               SELECT max(id) FROM steps WHERE turn_id = :turn AND kind = 'model' AND response_seq IS NOT NULL
                 AND id < :id)
             AND NOT EXISTS (SELECT 1 FROM steps c WHERE c.turn_id = :turn AND c.model_step = s.id)""",
        turn=response.turn_id, id=response.id,
    )  # fmt: skip
