"""Paraphrases: what the model wrote about a case for people. Where one and the trail disagree, the trail is right."""

from casestore.models import CaseId, Paraphrase, ParaphraseId, StepId
from casestore.tx import Tx


def newest(tx: Tx, case_id: CaseId) -> Paraphrase | None:
    """The one that stands for the case."""
    return tx.maybe(
        Paraphrase, "SELECT * FROM paraphrases WHERE case_id = :id ORDER BY recorded DESC LIMIT 1", id=case_id
    )  # fmt: skip


def by_id(tx: Tx, paraphrase_id: ParaphraseId) -> Paraphrase:
    """One whose id came from our own tables, such as what a step names."""
    return tx.all(Paraphrase, "SELECT * FROM paraphrases WHERE id = :id", id=paraphrase_id)[0]


def add(tx: Tx, now: int, case_id: CaseId, *, recorded: int, said: int, text: str, step_id: StepId) -> None:
    """Store what the model wrote over the trail up to `recorded` and the transcript up to `said`."""
    tx.run(
        """INSERT INTO paraphrases (case_id, recorded, said, text, step_id, at)
           VALUES (:case_id, :recorded, :said, :text, :step_id, :now)""",
        case_id=case_id, recorded=recorded, said=said, text=text, step_id=step_id, now=now,
    )  # fmt: skip
