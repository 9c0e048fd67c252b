"""Recovery: what a new holder makes of the steps that an earlier one started and never finished (R14)."""

from casestore import model_steps, outbox, steps, trail
from casestore.models import Step, TurnId
from casestore.states import Tier
from casestore.tx import Tx


def recover(tx: Tx, now: int, turn_id: TurnId) -> int:
    """What a new holder finds started by an earlier one (design, "Crash points").

    A model call is asked again and a read-only call runs again. Another call is `unknown` once its deadline has passed;
    until then the return value is that deadline, before which the turn cannot go on; otherwise 0.
    """
    wait_until = 0
    for step in tx.all(Step, "SELECT * FROM steps WHERE turn_id = :id AND state = 'started'", id=turn_id):
        if step.tool is None:
            model_steps.fail(tx, now, step.id, "interrupted")
        elif step.tier is Tier.READ_ONLY:
            tx.run(  # what it was let run by is to be spent anew, with all its checks (R9), or it would never run
                """UPDATE steps SET state = 'waiting', started_at = NULL, deadline = NULL, gate_id = NULL
                   WHERE id = :id""",
                id=step.id,
            )
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


def mark_unknown(tx: Tx, now: int, step: Step) -> None:
    """Started, never finished, and its deadline has passed: the outcome is unknown (R14)."""
    moved = tx.run(
        "UPDATE steps SET state = 'unknown', finished_at = :now WHERE id = :id AND state = 'started'",
        id=step.id,
        now=now,
    )
    if moved:
        steps.tell(tx, now, step, "tool.outcome_unknown", {"step": step.id})
        outbox.refresh_card_of(tx, now, step)


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


def attempt_again(tx: Tx, step: Step) -> Step:
    """A further attempt beside one whose outcome is unknown, born waiting; the gate that allows it spends it."""
    return tx.one(
        Step,
        """INSERT INTO steps (case_id, turn_id, run_id, seq, kind, state, tenant, model_step, position, call_id, tool,
                              tool_version, tier, args)
           SELECT case_id, turn_id, run_id, (SELECT max(n.seq) + 1 FROM steps n WHERE n.turn_id = steps.turn_id),
                  'tool', 'waiting', tenant, model_step, position, call_id, tool, tool_version, tier, args
           FROM steps WHERE id = :id RETURNING *""",
        id=step.id,
    )  # fmt: skip


def attempt_before(tx: Tx, step: Step) -> Step | None:
    """The attempt of the same call before this one, of which nobody knows what became of it."""
    return tx.maybe(
        Step,
        """SELECT * FROM steps WHERE turn_id = :turn AND model_step = :model_step AND position = :position
             AND id < :id ORDER BY id DESC LIMIT 1""",
        turn=step.turn_id, model_step=step.model_step, position=step.position, id=step.id,
    )  # fmt: skip
