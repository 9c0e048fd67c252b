"""The order in which the model is shown what was said beside a parked turn (design, section 6)."""

from collections.abc import Iterable, Sequence

from casestore.transcript import Line, estimated

NOT_STORED = 0
"""The place of a message that is sent and stands in no transcript: that of its step names it (R17)."""


def arrange(rows: Iterable[Line]) -> list[Line]:
    """Rows in the order of the transcript, as they are sent: calls, their results, the exchange beside, what follows.

    The exchange was stored before the results, which had not come yet; a provider wants them right after their calls.
    """
    arranged: list[Line] = []
    beside: list[Line] = []
    for row in rows:
        if row.beside:
            beside.append(row)
            continue
        arranged.append(row)
        arranged += beside
        beside = []
    return arranged + beside


def with_waiting(rows: Sequence[Line], waiting: str) -> list[Line]:
    """The request of a turn beside: what stands in for the results that have not come goes right after their calls."""
    held = next(row for row in reversed(rows) if not row.beside)
    told = Line(held.case_id, NOT_STORED, "request", waiting, held.turn_id, estimated(len(waiting)))
    return arrange([*rows, told])
