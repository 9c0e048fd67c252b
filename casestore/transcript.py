"""The conversation with the model: each message once, as sent or received (R17), read by bounded windows (R19)."""

from typing import NamedTuple, cast

from casestore.models import CaseId, StepId, TranscriptRow, TurnId
from casestore.tx import Tx

_CHARACTERS_A_TOKEN = 4


class Line(NamedTuple):
    """One message in a window: of a `TranscriptRow` what is sent. No `Row`, since a turn reads some hundred."""

    case_id: CaseId
    seq: int
    kind: str
    message: str
    turn_id: TurnId = TurnId(0)
    """Of what was said beside a parked turn, that one: the two are not parted."""
    tokens: int = 0
    beside: bool = False
    """Whether it was said beside a parked turn."""


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
    calls unanswered has their results in the first request of the next one. Turns beside others belong to them.
    """
    first = tx.value(
        """SELECT min((SELECT min(t.seq) FROM transcript t WHERE t.turn_id = n.id))
           FROM (SELECT id FROM turns WHERE case_id = :case_id AND beside IS NULL AND seq <= (
               SELECT seq FROM turns WHERE id = :turn_id) ORDER BY seq DESC LIMIT :turns) n""",
        case_id=case_id, turn_id=turn_id, turns=turns,
    )  # fmt: skip
    if first is None:
        return []
    return lines(tx, case_id, max(int(str(first)), after + 1))


def lines(tx: Tx, case_id: CaseId, first: int, last: int | None = None) -> list[Line]:
    """The messages from `first` to `last`, both included, as a window has them; to the end for None."""
    rows = tx.tuples(
        """SELECT t.case_id, t.seq, t.kind, t.message, coalesce(n.beside, n.id), t.tokens, n.beside IS NOT NULL
           FROM transcript t JOIN turns n ON n.id = t.turn_id
           WHERE t.case_id = :id AND t.seq >= :first AND (:last IS NULL OR t.seq <= :last) ORDER BY t.seq""",
        id=case_id, first=first, last=last,
    )  # fmt: skip
    return [Line(*row) for row in cast("list[tuple[CaseId, int, str, str, TurnId, int, bool]]", rows)]


def tokens_of(tx: Tx, turn_id: TurnId) -> int:
    """About how many tokens the messages of a turn take, with those beside it; of one beside another, with that one."""
    return tx.integer(
        """SELECT sum(t.tokens) FROM turns o
           JOIN turns n ON n.case_id = o.case_id AND n.seq >= o.seq AND (n.id = o.id OR n.beside = o.id)
           JOIN transcript t ON t.turn_id = n.id
           WHERE o.id = coalesce((SELECT beside FROM turns WHERE id = :id), :id)""",
        id=turn_id,
    )


def between(tx: Tx, case_id: CaseId, first: int, last: int | None) -> list[TranscriptRow]:
    """The messages from `first` to `last`, both included; to the end for None."""
    return tx.all(
        TranscriptRow,
        """SELECT * FROM transcript WHERE case_id = :id AND seq >= :first AND (:last IS NULL OR seq <= :last)
           ORDER BY seq""",
        id=case_id, first=first, last=last,
    )  # fmt: skip


def newest_of(tx: Tx, case_id: CaseId, beside: TurnId | None) -> TranscriptRow | None:
    """The last message that was said beside a turn; for None, the last that was said beside none."""
    return tx.maybe(
        TranscriptRow,
        """SELECT t.* FROM transcript t JOIN turns n ON n.id = t.turn_id
           WHERE t.case_id = :id AND n.beside IS NOT DISTINCT FROM :beside ORDER BY t.seq DESC LIMIT 1""",
        id=case_id, beside=beside,
    )  # fmt: skip


def newest(tx: Tx, case_id: CaseId) -> TranscriptRow | None:
    """The last message."""
    return tx.maybe(TranscriptRow, "SELECT * FROM transcript WHERE case_id = :id ORDER BY seq DESC LIMIT 1", id=case_id)
