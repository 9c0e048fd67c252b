"""Resolving, closing, cancelling and reopening a case from outside the assistant (R2)."""

from bot.outbound import speech
from bot.people import takeover
from bot.retelling import paraphrase
from bot.turns import endings
from casestore import cases, leases, outbox, recovery, turns
from casestore.models import Case
from casestore.states import CaseState, LeaseKind
from casestore.tx import Tx


def resolve(tx: Tx, now: int, case: Case, *, by: str, why: str) -> Case:
    """The matter is dealt with; a message reopens it. Raises `MoveRefused` unless the case is live."""
    return _end(tx, now, case, CaseState.RESOLVED, "case.resolved", cases.LIVE, by=by, why=why)


def close(tx: Tx, now: int, case: Case, *, by: str, why: str) -> Case:
    """The case is over for good; a message opens a new one that follows it."""
    return _end(tx, now, case, CaseState.CLOSED, "case.closed", (*cases.LIVE, CaseState.RESOLVED), by=by, why=why)


def cancel(tx: Tx, now: int, case: Case, *, by: str, why: str) -> Case:
    """The case was opened by mistake or is not wanted any more."""
    return _end(tx, now, case, CaseState.CANCELLED, "case.cancelled", cases.LIVE, by=by, why=why)


def reopen(tx: Tx, now: int, case: Case, *, by: str, why: str) -> Case:
    """A resolved case is in progress again."""
    moved = cases.move(
        tx, now, case.id, to=CaseState.IN_PROGRESS, actor=by, kind="case.reopened", only_from=(CaseState.RESOLVED,),
        content={"reason": why} if why else None,
    )  # fmt: skip
    speech.say(tx, now, case.id, f"{case.label} was reopened.")
    return moved


def _end(
    tx: Tx, now: int, case: Case, to: CaseState, kind: str, only_from: tuple[CaseState, ...], *, by: str, why: str
) -> Case:  # fmt: skip
    word = kind.removeprefix("case.")
    nobody_works = leases.of_case(tx, case.id).kind is None
    takeover.stop_work(tx, now, case, by=by, reason=f"the case was {word}")
    turn = turns.unsettled(tx, case.id)
    for ended in [] if turn is None else [turn, *turns.beside(tx, turn)]:
        if nobody_works:  # what an earlier process was asking does not come any more
            recovery.recover(tx, now, ended.id)
        endings.close_calls(tx, now, ended.id, f"the case was {word}")
        turns.settle(tx, now, ended.id)
    if leases.of_case(tx, case.id).kind is LeaseKind.HUMAN:
        leases.hand_back(tx, now, case, by=by)
        outbox.drop_held(tx, now, case.id, f"not sent: the case was {word}")
    leases.free(tx, case.id)
    moved = cases.move(
        tx, now, case.id, to=to, actor=by, kind=kind, only_from=only_from, content={"reason": why} if why else None
    )
    speech.say(tx, now, case.id, f"{case.label} was {word}{f': {why}' if why else ''}.")
    cases.write_paraphrase(tx, case.id, paraphrase.of_case(tx, case.id))
    return moved
