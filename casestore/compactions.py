"""Compactions: one stored text that stands for the older turns of a case in every later window (R19)."""

from casestore import trail
from casestore.models import CaseId, Compaction, CompactionId, StepId, TurnId
from casestore.states import MadeBy
from casestore.transcript import estimated
from casestore.tx import Tx


def newest(tx: Tx, case_id: CaseId) -> Compaction | None:
    """The one that the next window begins with."""
    return tx.maybe(
        Compaction, "SELECT * FROM compactions WHERE case_id = :id ORDER BY upto DESC LIMIT 1", id=case_id
    )  # fmt: skip


def by_id(tx: Tx, compaction_id: CompactionId) -> Compaction:
    """One whose id came from our own tables, such as what a step names."""
    return tx.all(Compaction, "SELECT * FROM compactions WHERE id = :id", id=compaction_id)[0]


def add(tx: Tx, now: int, case_id: CaseId, *, upto: int, text: str, step_id: StepId | None) -> bool:
    """Store what stands for the transcript up to `upto`, and say so in the trail; False where there is one already.

    `step_id` is the model's step that made it; None: the engine did.
    """
    made_by = MadeBy.ENGINE if step_id is None else MadeBy.MODEL
    added = tx.run(
        """INSERT INTO compactions (case_id, upto, text, tokens, made_by, step_id, at)
           VALUES (:case_id, :upto, :text, :tokens, :made_by, :step_id, :now)
           ON CONFLICT (case_id, upto) DO NOTHING""",
        case_id=case_id, upto=upto, text=text, tokens=estimated(len(text)), made_by=made_by, step_id=step_id, now=now,
    )  # fmt: skip
    if added:
        actor = "assistant" if made_by is MadeBy.MODEL else "engine"
        trail.append(tx, case_id, now, "window.compacted", actor, {"upto": upto, "made_by": made_by})
    return bool(added)


def unsettled(tx: Tx, case_id: CaseId) -> set[TurnId]:
    """The turns that are not settled: what they hold is never made shorter, or a call would lose its result."""
    # spelled as the partial indexes on turns are, or every turn the case ever had is read (R19)
    state = "SELECT id FROM turns WHERE case_id = :id AND state IN ('queued', 'running', 'parked')"
    found = tx.column(f"{state} AND beside IS NULL UNION ALL {state} AND beside IS NOT NULL", id=case_id)
    return {TurnId(int(str(turn_id))) for turn_id in found}
