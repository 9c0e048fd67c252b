"""Another tenant in the same file: a case that is parked at a gate, with a run, a message and a trail."""

from dataclasses import dataclass

from casestore import asking, cases, leases, messages, principals, runs, turns
from casestore.asking import Policy
from casestore.cases import Opening
from casestore.messages import Said, text_body
from casestore.models import Case, Gate, Principal, Run
from casestore.states import OnExpiry, Origin, Outcome, Provenance, Role
from casestore.tx import Tx
from tests.conftest import DAY, RESTART, WORKER, finish_response, question_for

CANARY = "canary-4711"
TENANT = "other"


@dataclass(frozen=True)
class Theirs:
    """What is none of our business."""

    case: Case
    gate: Gate
    run: Run
    kim: Principal


def settle_in(tx: Tx, now: int) -> Theirs:
    """All of it in one transaction, so that no engine works the case."""
    kim = principals.add(tx, now, tenant=TENANT, name="theirs", role=Role.OPERATOR)
    opening = Opening(TENANT, CANARY, Origin.CLI, requester=kim.id, dedup_key=CANARY)
    case = cases.open_case(tx, now, opening, actor="intake")
    messages.receive(tx, now, case.id, Said(Provenance.REQUESTER, text_body(CANARY), author=kim.id))
    begun = turns.begin(tx, now, case.id, WORKER)
    assert begun is not None
    working = finish_response(tx, now, begun, (RESTART,))
    policy = Policy((Role.OPERATOR,), False, OnExpiry.TELL, now + DAY)
    gate = asking.ask(tx, now, begun.lease, begun.turn.id, question_for(working.step, policy))
    runs.end(tx, now, begun.run.id, Outcome.PARKED, stop_reason=CANARY)
    leases.drop(tx, begun.lease)
    return Theirs(cases.by_id(tx, case.id), gate, runs.by_id(tx, begun.run.id), kim)
