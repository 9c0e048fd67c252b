"""A case that wants an operator and is in no thread: whoever is to see to it hears of it where approvals are asked."""

from collections.abc import Sequence

from bot.outbound import speech
from casestore import bindings, cases
from casestore.models import CaseId
from casestore.tx import Tx


def tell(tx: Tx, now: int, case_id: CaseId, why: str, rooms: Sequence[str]) -> None:
    """Say in each of `rooms` that a case has been handed to an operator, and why.

    Only of one that is bound nowhere, as an alert's may be: in a thread it has been said already.
    """
    if bindings.of_case(tx, case_id):
        return
    case = cases.by_id(tx, case_id)
    for room in rooms:
        speech.put(
            tx, now, case_id, room,
            f"{case.label} waits for an operator ({case.title}): {why.rstrip('.')}. It is in no thread. "
            f"Read it: /case show {case.label}. Take it over: /case take {case.label}",
        )  # fmt: skip
