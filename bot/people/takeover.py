"""A person takes a case over, and hands it back (R12)."""

from bot.outbound import speech
from bot.tools import results
from casestore import cases, gates, leases, outbox, principals, runs, steps, turns
from casestore.errors import MoveRefused
from casestore.models import Case, Principal
from casestore.states import CaseState, GateState, Outcome, StepState, WaitingOn
from casestore.tx import Tx


def take(tx: Tx, now: int, case: Case, who: Principal) -> Case:
    """The person holds the case until they hand it back; the assistant's run ends, nothing of it is sent (R12).

    An open gate is withdrawn, an approval not yet spent is void, each call that still waits gets its result (R7, R9).
    """
    _operators_only(who)
    if case.state in (CaseState.CLOSED, CaseState.CANCELLED):
        raise MoveRefused(f"{case.label} is {case.state}; there is nothing to take over.")
    if case.state is not CaseState.IN_PROGRESS:
        cases.begin(tx, now, case, actor=principals.actor(who))
    leases.seize(tx, now, case, who)
    stop_work(tx, now, case, by=principals.actor(who), reason=f"{who.name} took the case over")
    outbox.hold_back(tx, case.id)
    cases.assign(tx, now, case.id, who.id, actor=principals.actor(who))
    cases.wait(tx, now, case.id, WaitingOn.HUMAN)
    speech.say(tx, now, case.id, f"{who.name} has taken over {case.label}. I stay silent until it is handed back.")
    return cases.by_id(tx, case.id)


def release(tx: Tx, now: int, case: Case, by: Principal) -> Case:
    """Hand the case back: the assistant goes on, with what people said meanwhile in view."""
    _operators_only(by)
    leases.hand_back(tx, now, case, by=principals.actor(by))
    dropped = outbox.drop_held(tx, now, case.id, f"not sent: {by.name} had the case")
    cases.wait(tx, now, case.id, WaitingOn.NOBODY)
    if dropped:
        speech.note_for_model(
            tx, now, case.id, "your last reply was not delivered, because a person took the case over"
        )
    speech.say(tx, now, case.id, f"{by.name} has handed {case.label} back to the assistant.")
    return cases.by_id(tx, case.id)


def _operators_only(who: Principal) -> None:
    if not who.is_operator or who.revoked_at is not None:
        raise MoveRefused("Only an operator takes cases over and hands them back.")


def stop_work(tx: Tx, now: int, case: Case, *, by: str, reason: str) -> None:
    """End what the assistant has under way: its run, its gate, its unspent approval, the calls that wait."""
    run = runs.open_run(tx, case.id)
    if run is not None:
        runs.end(tx, now, run.id, Outcome.LEASE_LOST, stop_reason=reason)
    gates.end_for_case(tx, now, case.id, by=by, reason=reason)
    turn = turns.unsettled(tx, case.id)
    if turn is None:
        return
    asked = {g.step_id for g in gates.of_case(tx, case.id) if g.state in (GateState.WITHDRAWN, GateState.VOID)}
    for step in steps.of_turn(tx, turn.id):
        if step.state is StepState.WAITING:
            result = results.withdrawn(reason) if step.id in asked else results.not_asked(reason)
            steps.refuse(tx, now, None, step, result.stored(), why=result.kind)
    turns.requeue(tx, turn.id)
