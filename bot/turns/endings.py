"""How a run ends: settled, handed off, parked, put off; with its record, its words and R11's test.

The lease is still held afterwards: `advance` goes to the next turn under it, or drops it.
"""

from collections.abc import Sequence

from bot.gates import gating
from bot.outbound import speech, wanting
from bot.retelling import paraphrase
from bot.tools import results
from bot.tools.results import ResultKind
from bot.turns.desk import Desk
from bot.turns.instruct import Ended
from casestore import asking, cases, gates, leases, messages, recovery, runs, steps, trail, turns
from casestore.canonical import decode
from casestore.models import Case, Step, Turn, TurnId
from casestore.states import (
    CaseState,
    GateKind,
    GateState,
    OnExpiry,
    Outcome,
    Provenance,
    StepState,
    Tier,
    TurnState,
    WaitingOn,
)
from casestore.turns import Begun
from casestore.tx import Tx

HAND_OFF_TOOL = "case.hand_off"
ASK_REQUESTER_TOOL = "case.ask_requester"


def handed_off(tx: Tx, calls: Sequence[Step]) -> str | None:
    """Why these calls hand the case to an operator: derived from what is stored, so it outlives a crash (R13)."""
    for step in calls:
        if step.tool == HAND_OFF_TOOL and step.state is StepState.FINISHED:
            return str(decode(step.args or "{}").get("reason") or "the assistant asked for one")
        if step.state is StepState.UNKNOWN and step.result is not None:
            gate = gates.of_step(tx, step.id, GateKind.OUTCOME)
            if gate is None or gate.state not in (GateState.WITHDRAWN, GateState.VOID):  # a person has seen to it
                return f"it is not known whether {step.tool} did what it was asked"
        if step.state is StepState.REFUSED:
            for kind, gate in gates.of_call(tx, step.id).items():
                late = gate.state is GateState.EXPIRED and kind is not GateKind.OUTCOME
                if late and gate.on_expiry is OnExpiry.HANDOFF:
                    return f"nobody decided on {gate.tool} in time"
    return None


def asked_requester(calls: Sequence[Step]) -> bool:
    """Whether one of these calls put a question to the requester, whose answer is waited for."""
    return any(step.tool == ASK_REQUESTER_TOOL and step.state is StepState.FINISHED for step in calls)


def answer(
    tx: Tx, now: int, begun: Begun, text: str, *, outcome: Outcome = Outcome.ANSWERED, stop_reason: str = "answered",
    waiting_on: WaitingOn = WaitingOn.NOBODY,
) -> Ended:  # fmt: skip
    """Settle the turn with a reply; an empty one says nothing."""
    if text.strip():
        speech.say(tx, now, begun.case.id, text, provenance=Provenance.ASSISTANT, turn_id=begun.turn.id)
    turns.settle(tx, now, begun.turn.id)
    if begun.turn.beside is None:  # else the case waits for whom it waited before
        fold(tx, now, begun.turn)
        cases.wait(tx, now, begun.case.id, waiting_on)
    return _end(tx, now, begun, outcome, stop_reason)


def hand_off(
    tx: Tx, now: int, desk: Desk, begun: Begun, why: str, *, outcome: Outcome = Outcome.HANDED_OFF,
    error: str | None = None,
) -> Ended:  # fmt: skip
    """Give the case to an operator, with a note: never an endless loop. What still waits is not asked (R7).

    A turn beside a parked one hands nothing off: it says that it has no answer, and the case waits as before.
    """
    if begun.turn.beside is not None:
        return _leave(tx, now, desk, begun, why, outcome, error=error)
    close_calls(tx, now, begun.turn.id, f"handed to an operator: {why}")
    fold(tx, now, begun.turn)
    case = cases.by_id(tx, begun.case.id)
    if case.state is CaseState.RESOLVED:  # resolved in the same breath; but an operator is to look at it
        cases.begin(tx, now, case, actor="engine")
    speech.say(tx, now, begun.case.id, f"I am handing {begun.case.label} to an operator: {why.rstrip('.')}.")
    turns.settle(tx, now, begun.turn.id)
    cases.wait(tx, now, begun.case.id, WaitingOn.OPERATOR)
    return _end(tx, now, begun, outcome, why, error=error, escalated=True)


def at_limit(tx: Tx, now: int, desk: Desk, begun: Begun, why: str, limit: str) -> Ended:
    """Hand the case off because a run has used up what it may; its record names the setting, the note does not."""
    error = f"limits.{limit} in the settings was reached."
    return hand_off(tx, now, desk, begun, why, outcome=Outcome.LIMIT, error=error)


def _leave(
    tx: Tx, now: int, desk: Desk, begun: Begun, why: str, outcome: Outcome, *, error: str | None
) -> Ended:  # fmt: skip
    close_calls(tx, now, begun.turn.id, why)
    text = f"I cannot answer that now: {why.rstrip('.')}. Your message is stored in {begun.case.label}."
    case_id, zone = begun.case.id, desk.settings.service.zone
    speech.say(tx, now, case_id, gating.with_what_waits(tx, now, case_id, zone, text))
    turns.settle(tx, now, begun.turn.id)
    return _end(tx, now, begun, Outcome.LIMIT if outcome is Outcome.LIMIT else Outcome.ERROR, why, error=error)


def fold(tx: Tx, now: int, turn: Turn) -> None:
    """A turn is asked on, or over: one beside it that has no answer yet gets none of its own; what it took is in view.

    Its calls can come back no more, as whoever folds has the lease.
    """
    for other in turns.beside(tx, turn):
        if other.settled_at is None:
            recovery.recover(tx, now, other.id)
            turns.settle(tx, now, other.id)
        close_calls(tx, now, other.id, "the decision came before it was done", in_flight=True)


def close_calls(tx: Tx, now: int, turn_id: TurnId, why: str, *, in_flight: bool = False) -> None:
    """A turn ends with calls that have no result: each gets its one, which says what is known (R7, R14).

    `in_flight`: also those that are being made, as far as anybody knows; only once they cannot come back any more.
    """
    for step in steps.open_calls(tx, turn_id):
        match step.state:
            case StepState.WAITING:
                steps.refuse(tx, now, None, step, results.not_asked(why).stored(), why=ResultKind.NOT_ASKED)
            case StepState.UNKNOWN:
                recovery.leave_unknown(tx, step, results.left_unknown(why).stored())
            case StepState.STARTED if in_flight and step.tier is Tier.READ_ONLY:
                cut = results.failed(f"cut off: {why}", told=True)
                steps.finish_tool(tx, now, step.id, ok=False, result=cut.stored())
            case StepState.STARTED if in_flight:
                recovery.mark_unknown(tx, now, step)
                recovery.leave_unknown(tx, step, results.left_unknown(why).stored())
            case _:
                continue


def park(tx: Tx, now: int, begun: Begun, question: asking.Question) -> Ended:
    """Hold a call: ask, park, end the run (R7). What people said in its midst is answered beside it, not after it."""
    gate = asking.ask(tx, now, begun.lease, begun.turn.id, question)
    if begun.talks:
        messages.give_back(tx, begun.turn.id)
        turns.owe_beside(tx, now, begun.turn)
    return _end(tx, now, begun, Outcome.PARKED, f"gate {gate.id} was asked")


def abandon(tx: Tx, now: int, case: Case, turn_id: TurnId, why: str, rooms: Sequence[str]) -> None:
    """A turn that cannot even be begun, however often it is tried: what it was to answer is an operator's now (R13).

    `rooms`: where it is said of a case that is in no thread.
    """
    messages.mark_read(tx, case.id, turn_id)
    close_calls(tx, now, turn_id, why)
    turns.settle(tx, now, turn_id, TurnState.FAILED)
    turn = turns.by_id(tx, turn_id)
    if turn.beside is None:
        fold(tx, now, turn)
        cases.wait(tx, now, case.id, WaitingOn.OPERATOR)
    speech.say(tx, now, case.id, f"I cannot go on with {case.label}: {why}. An operator has to look at it.")
    wanting.tell(tx, now, case.id, why, rooms)


def put_off(tx: Tx, now: int, begun: Begun, why: str, *, until: int, error: str) -> Ended:
    """Something passing is in the way: the turn goes on by itself at `until`."""
    turns.requeue(tx, begun.turn.id, not_before=until)
    return _end(tx, now, begun, Outcome.ERROR, why, error=error)


def _end(
    tx: Tx, now: int, begun: Begun, outcome: Outcome, stop_reason: str, *, error: str | None = None,
    escalated: bool = False,
) -> Ended:  # fmt: skip
    runs.end(tx, now, begun.run.id, outcome, stop_reason=stop_reason, error=error, escalated=escalated)
    cases.write_paraphrase(tx, begun.case.id, paraphrase.of_case(tx, begun.case.id))
    head = str(trail.head(tx, begun.case.id))
    more = leases.has_work(tx, begun.case.id, talks=begun.talks)
    return Ended(begun.run.id, outcome, more=more, head=head, handed_over=stop_reason if escalated else None)


def too_many_attempts(tx: Tx, desk: Desk, begun: Begun) -> bool:
    """A turn that was attempted again and again without settling is for an operator (R13).

    Where a call is in doubt it is attempted once more, since that asks a person what became of it (R14).
    """
    most = desk.settings.limits.attempts
    in_doubt = any(step.state is StepState.UNKNOWN for step in steps.open_calls(tx, begun.turn.id))
    return begun.turn.attempts > most + in_doubt
