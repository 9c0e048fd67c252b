"""Where a case stands, in the words that every surface of ours uses for its two axes (R2)."""

from casestore.models import Case
from casestore.states import CaseState, WaitingOn

_WAITS = {
    WaitingOn.NOBODY: "in progress",
    WaitingOn.REQUESTER: "waits for the requester",
    WaitingOn.APPROVAL: "waits for a decision",
    WaitingOn.OPERATOR: "waits for an operator",
    WaitingOn.HUMAN: "taken over",
}


def stands(case: Case) -> str:
    """Where a case stands, on both axes, in words."""
    if case.state is CaseState.IN_PROGRESS:
        return _WAITS[case.waiting_on]
    return case.state
