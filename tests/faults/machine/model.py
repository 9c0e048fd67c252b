"""What must be true, in plain Python: who may decide, who may work, what an act of a holder is worth.

Nothing here asks the code under test; it reads a picture of the file and the words of the rules.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.faults.machine.picture import Picture, Row

UNSETTLED = ("queued", "running", "parked")
LIVE = ("new", "in_progress", "resolved")
VERBS = {
    "approval": {"approve": "approved", "deny": "denied", "revise": "denied"},
    "consent": {"approve": "approved", "deny": "denied"},
    "outcome": {"happened": "approved", "not_happened": "approved", "rerun": "approved"},
}


@dataclass(slots=True)
class Model:
    """What has happened so far, as the world outside knows it."""

    said: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """Messages we acknowledged: where and under which name, and the case they were put in (R29)."""
    made: Counter[int] = field(default_factory=Counter[int])
    """How often the effect of each step happened, counted outside of the store (R14)."""
    ended: dict[int, Row] = field(default_factory=dict[int, Row])
    """Gates that were seen decided or expired, as they were seen first (R6)."""
    reruns: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    """How often a person let a call be made once more."""
    told: dict[int, str] = field(default_factory=dict[int, str])
    """Results that were seen, by step (R7)."""
    talks: bool = False
    """Whether the model of the running process answers what is said while a call waits."""
    tally: Counter[str] = field(default_factory=Counter[str])
    """What happened, so that nobody takes an empty history for a proof."""


def answer_to(picture: Picture, now: int, gate_id: int, who_id: int, verb: str, digest: str) -> str:
    """What an answer comes to (R5, R6): the state it brings, or why it is not taken."""
    gate, who = picture.one("gates", gate_id), picture.one("principals", who_id)
    case = picture.one("cases", gate["case_id"])
    if gate["state"] == "expired" or (gate["state"] == "open" and gate["expires_at"] <= now):
        return "expired"
    if gate["state"] != "open":
        return "already_decided"
    if verb not in VERBS[gate["kind"]]:
        return "wrong_verb"
    roles = {row["role"] for row in picture.all("gate_roles", gate_id=gate_id)}
    if who["revoked_at"] is not None or who["role"] not in roles or who["tenant"] != gate["tenant"]:
        return "not_allowed"
    if len(digest) < 8 or not gate["digest_shown"].startswith(digest):
        return "stale"
    if gate["kind"] == "consent" and who_id != case["requester"]:
        return "only_requester"
    lets_it_be_made = gate["kind"] == "approval" or verb == "rerun"
    if lets_it_be_made and gate["four_eyes"] and who_id in (gate["asked_for"], case["requester"]):
        return "own_request"
    return VERBS[gate["kind"]][verb]


def due(picture: Picture, now: int) -> set[int]:
    """The gates a sweep ends now (R6)."""
    return {gate["id"] for gate in picture.all("gates", state="open") if gate["expires_at"] <= now}


def holds(picture: Picture, now: int, case_id: int, fence: int) -> bool:
    """Whether the holder with this fence may still act (R10)."""
    lease = picture.one("leases", case_id)
    return lease["kind"] == "run" and lease["fence"] == fence and lease["until"] > now


def is_free(picture: Picture, now: int, case_id: int) -> bool:
    """Whether a run may take the case: nobody has it, or a run whose time is over (R10, R12)."""
    lease = picture.one("leases", case_id)
    return lease["kind"] is None or (lease["kind"] == "run" and lease["until"] <= now)


def unsettled(picture: Picture, case_id: int) -> Row | None:
    """The turn that is owed an answer."""
    found = picture.all("turns", case_id=case_id, beside=None)
    return next((turn for turn in found if turn["state"] in UNSETTLED), None)


def talk(picture: Picture, case_id: int) -> Row | None:
    """The turn that answers, beside a parked one, what people say meanwhile."""
    found = picture.all("turns", case_id=case_id)
    return next((turn for turn in found if turn["beside"] is not None and turn["state"] in UNSETTLED), None)


def has_work(picture: Picture, now: int, case_id: int, *, talks: bool) -> bool:
    """An unread message or a turn to go on with, and no gate or delay before it (R11).

    A gate is none before what people say where the assistant `talks`; whoever says something here is a person.
    """
    turn = unsettled(picture, case_id)
    if picture.one("cases", case_id)["state"] not in LIVE:
        return False
    if turn is not None and turn["state"] == "parked":
        if not talks:
            return False
        turn = talk(picture, case_id)
    if turn is not None:
        return turn["not_before"] <= now
    return any(picture.all("messages", case_id=case_id, direction="in", turn_id=None))


def calls_of(picture: Picture, turn_id: int) -> dict[tuple[int, int], list[Row]]:
    """The attempts at each call of a turn, oldest first."""
    found: dict[tuple[int, int], list[Row]] = {}
    for step in picture.all("steps", turn_id=turn_id, kind="tool"):
        found.setdefault((step["model_step"], step["position"]), []).append(step)
    return found


def newest(attempts: Iterable[Row]) -> Any:
    """The newest attempt at a call."""
    return max(attempts, key=lambda step: step["id"])
