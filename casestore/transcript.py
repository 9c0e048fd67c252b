"""The conversation with the model: each message once, as sent or received (R17), read by bounded windows (R19)."""

from typing import NamedTuple, cast

from casestore.models import CaseId, StepId, TranscriptRow, TurnId
from casestore.tx import Tx

_CHARACTERS_A_TOKEN = 4
_LINES = "SELECT case_id, seq, kind, message, turn_id, tokens FROM transcript WHERE case_id = :id AND "


class Line(NamedTuple):
    """One message in a window: of a `TranscriptRow` what is sent. No `Row`, since a turn reads some hundred."""

    case_id: CaseId
    seq: int
    kind: str
    message: str
    turn_id: TurnId = TurnId(0)
    tokens: int = 0


def estimated(characters: int) -> int:
    """About how many tokens a text of so many characters takes: a quarter, as is usual for English prose."""
    return characters // _CHARACTERS_A_TOKEN


def append(
    tx: Tx, case_id: CaseId, turn_id: TurnId, *, kind: str, message: str, step_id: StepId | None = None,
    tokens: int = 0,
) -> int:  # fmt: skip
    """Append a model message (`kind`: request or response); its place in the case's transcript.

    `tokens` as the provider counted them; 0: they are estimated.
    """
    return tx.insert(
        """INSERT INTO transcript (case_id, seq, turn_id, step_id, kind, message, tokens)
           VALUES (:case_id, (SELECT coalesce(max(seq), 0) + 1 FROM transcript WHERE case_id = :case_id), :turn_id,
                   :step_id, :kind, :message, :tokens) RETURNING seq""",
        case_id=case_id, turn_id=turn_id, step_id=step_id, kind=kind, message=message,
        tokens=tokens or estimated(len(message)),
    )  # fmt: skip


def window(tx: Tx, case_id: CaseId, turn_id: TurnId, turns: int, after: int = 0) -> list[Line]:
    """The messages of this turn and of the `turns - 1` before it, oldest first; none up to the place `after`.

    It begins at a turn's first message, so a call and its result are never cut apart by it; a turn that ended with
    calls unanswered has their results in the first request of the next one.
    """
    first = tx.value(
        """SELECT min((SELECT min(t.seq) FROM transcript t WHERE t.turn_id = n.id))
           FROM (SELECT id FROM turns WHERE case_id = :case_id AND seq <= (
               SELECT seq FROM turns WHERE id = :turn_id) ORDER BY seq DESC LIMIT :turns) n""",
        case_id=case_id, turn_id=turn_id, turns=turns,
    )  # fmt: skip
    if first is None:
        return []
    rows = tx.tuples(_LINES + "seq >= :first ORDER BY seq", id=case_id, first=max(int(str(first)), after + 1))
    return [Line(*row) for row in cast("list[tuple[CaseId, int, str, str, TurnId, int]]", rows)]


def lines(tx: Tx, case_id: CaseId, first: int, last: int) -> list[Line]:
    """The messages from `first` to `last`, both included, as a window has them."""
    rows = tx.tuples(_LINES + "seq BETWEEN :first AND :last ORDER BY seq", id=case_id, first=first, last=last)
    return [Line(*row) for row in cast("list[tuple[CaseId, int, str, str, TurnId, int]]", rows)]


def tokens_of(tx: Tx, turn_id: TurnId) -> int:
    """About how many tokens the messages of a turn take."""
    return tx.integer("SELECT sum(tokens) FROM transcript WHERE turn_id = :id", id=turn_id)


def between(tx: Tx, case_id: CaseId, first: int, last: int | None) -> list[TranscriptRow]:
    """The messages from `first` to `last`, both included; to the end for None."""
    return tx.all(
        TranscriptRow,
        """SELECT * FROM transcript WHERE case_id = :id AND seq >= :first AND (:last IS NULL OR seq <= :last)
           ORDER BY seq""",
        id=case_id, first=first, last=last,
    )  # fmt: skip


def newest(tx: Tx, case_id: CaseId) -> TranscriptRow | None:
    """The last message."""
    return tx.maybe(TranscriptRow, "SELECT * FROM transcript WHERE case_id = :id ORDER BY seq DESC LIMIT 1", id=case_id)
