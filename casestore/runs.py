"""Runs: every tenure of a lease leaves exactly one record (R16)."""

from typing import cast

from casestore import trail
from casestore.errors import NotFound
from casestore.leases import Lease
from casestore.models import Case, CaseId, Run, RunId, Turn, TurnId
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.states import Outcome
from casestore.tx import Tx


def start(tx: Tx, now: int, lease: Lease, case: Case, turn: Turn, *, agent: str, model: str) -> Run:
    """A run begins; an open one of an earlier holder is written as crashed first (R16)."""
    for run_id in tx.column("SELECT id FROM runs WHERE case_id = :id AND ended_at IS NULL", id=case.id):
        end(tx, now, RunId(int(str(run_id))), Outcome.CRASHED, stop_reason="it was cut off before it was done")
    return tx.one(
        Run,
        """INSERT INTO runs (case_id, turn_id, attempt, fence, resumes, agent, model, tenant, started_at)
           VALUES (:case_id, :turn_id, :attempt, :fence, (SELECT max(id) FROM runs WHERE turn_id = :turn_id),
                   :agent, :model, :tenant, :now) RETURNING *""",
        case_id=case.id, turn_id=turn.id, attempt=turn.attempts, fence=lease.fence, agent=agent, model=model,
        tenant=case.tenant, now=now,
    )  # fmt: skip


def end(
    tx: Tx, now: int, run_id: RunId, outcome: Outcome, *, stop_reason: str, error: str | None = None,
    escalated: bool = False,
) -> bool:  # fmt: skip
    """A fact, by the run's own id: it is written once, whoever holds the case by now (R10).

    `escalated`: an operator has the case now, as after every hand-off and every limit but those beside a parked turn.
    """
    ended = tx.tuples(
        """UPDATE runs SET ended_at = :now, outcome = :outcome, stop_reason = :stop_reason, error = :error,
               escalated = CASE WHEN :outcome IN ('handed_off', 'limit') AND NOT EXISTS (
                   SELECT 1 FROM turns t WHERE t.id = runs.turn_id AND t.beside IS NOT NULL) THEN 1 ELSE :escalated END,
               task_state = (SELECT task_state FROM cases c WHERE c.id = runs.case_id)
           WHERE id = :id AND ended_at IS NULL RETURNING case_id, turn_id""",
        id=run_id, now=now, outcome=outcome, stop_reason=stop_reason, error=error,
        escalated=int(escalated),
    )  # fmt: skip
    for case_id, turn_id in cast("list[tuple[CaseId, TurnId]]", ended):
        meta = {"run": run_id, "turn": turn_id, "outcome": outcome, "stop_reason": stop_reason}
        trail.append(tx, case_id, now, "run.ended", "engine", meta)
    return bool(ended)


def ended_so(tx: Tx, turn_id: TurnId, outcome: Outcome, stop_reason: str) -> bool:
    """Whether an earlier run of a turn ended like this."""
    return (
        tx.value(
            "SELECT 1 FROM runs WHERE turn_id = :id AND outcome = :outcome AND stop_reason = :reason LIMIT 1",
            id=turn_id, outcome=outcome, reason=stop_reason,
        )
        is not None
    )  # fmt: skip


def open_run(tx: Tx, case_id: CaseId) -> Run | None:
    """The run that works a case now."""
    return tx.maybe(Run, "SELECT * FROM runs WHERE case_id = :id AND ended_at IS NULL", id=case_id)


def set_prompt(tx: Tx, run_id: RunId, prompt_version: str) -> None:
    """Name the prompt the run works under."""
    tx.run("UPDATE runs SET prompt_version = :version WHERE id = :id", id=run_id, version=prompt_version)


def add_usage(
    tx: Tx, run_id: RunId, *, model_reported: str | None, input_tokens: int, output_tokens: int, cached_tokens: int,
    cost_usd: float,
) -> None:  # fmt: skip
    """Add what one model call used: a fact, also after the run has ended."""
    tx.run(
        """UPDATE runs SET model_reported = coalesce(:model, model_reported), model_calls = model_calls + 1,
               input_tokens = input_tokens + :input, output_tokens = output_tokens + :output,
               cached_tokens = cached_tokens + :cached, cost_usd = cost_usd + :cost WHERE id = :id""",
        id=run_id, model=model_reported, input=input_tokens, output=output_tokens, cached=cached_tokens, cost=cost_usd,
    )  # fmt: skip


def count_tool_call(tx: Tx, run_id: RunId) -> None:
    """Count one tool call that was started."""
    tx.run("UPDATE runs SET tool_calls = tool_calls + 1 WHERE id = :id", id=run_id)


def by_id(tx: Tx, run_id: RunId) -> Run:
    """A run whose id came from our own tables."""
    return tx.all(Run, "SELECT * FROM runs WHERE id = :id", id=run_id)[0]


def get(tx: Tx, scope: Scope, run_id: int) -> Run:
    """A run within a scope. Raises `NotFound`."""
    found = tx.maybe(
        Run,
        f"SELECT r.* FROM runs r JOIN cases c ON c.id = r.case_id WHERE r.id = :id AND {IN_SCOPE}",
        id=run_id, **parameters(scope),
    )  # fmt: skip
    if found is None:
        raise NotFound(f"No run {run_id}.", listed_by="run list")
    return found


def listing(tx: Tx, scope: Scope, *, case_id: CaseId | None = None, most: int = 100) -> list[Run]:
    """Runs, of one case or of all, the newest first."""
    return tx.all(
        Run,
        f"""SELECT r.* FROM runs r JOIN cases c ON c.id = r.case_id
            WHERE (:case_id IS NULL OR r.case_id = :case_id) AND {IN_SCOPE} ORDER BY r.id DESC LIMIT :most""",
        case_id=case_id, most=most, **parameters(scope),
    )  # fmt: skip
