"""Where a case stands, on its two axes (R2), and through what somebody acted, in the words of every surface."""

from casestore.models import Case
from casestore.states import CaseState, WaitingOn

_WAITS = {
    WaitingOn.NOBODY: "in progress",
    WaitingOn.REQUESTER: "waits for the requester",
    WaitingOn.APPROVAL: "waits for a decision",
    WaitingOn.OPERATOR: "waits for an operator",
    WaitingOn.HUMAN: "taken over",
}

_VIA = {"slack": "Slack", "discord": "Discord", "cli": "the command line", "api": "the API", "console": "the terminal"}


def via(surface: str | None) -> str:
    """What somebody acted through, by its name in the store; another channel is called as it calls itself."""
    return _VIA.get(surface or "", surface or "")


def stands(case: Case) -> str:
    """Where a case stands, on both axes, in words."""
    if case.state is CaseState.IN_PROGRESS:
        return _WAITS[case.waiting_on]
    return case.state
