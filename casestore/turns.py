"""Turns: one stimulus and the answer owed; beginning, parking, requeueing and settling (R7, R11, R13)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from casestore import cases, leases, messages, principals, recovery, runs, steps
from casestore.leases import Lease
from casestore.models import Case, CaseId, Message, MessageId, PrincipalId, Run, Step, Turn, TurnId
from casestore.states import CaseState, Cause, Provenance, TurnState
from casestore.tx import Tx


@dataclass(frozen=True, slots=True)
class Worker:
    """Who works: the engine's task, its boot, the agent and model it runs, the lease's length in ms.

    `talks`: whether its model answers what people say while a call of the case waits for a decision.
    """

    holder: str
    boot: str
    agent: str
    model: str
    lease_ttl: int
    talks: bool = False


@dataclass(frozen=True, slots=True)
class Begun:
    """A turn that has begun, or goes on: everything a run needs to start."""

    lease: Lease
    case: Case
    turn: Turn
    run: Run
    taken: tuple[Message, ...]
    """The messages this run has just taken; those of earlier runs of the turn are in the transcript already."""
    earlier: TurnId | None = None
    """The turn before this one; None for the first, and for one beside a parked turn."""
    talks: bool = False


def begin(
    tx: Tx, now: int, case_id: CaseId, worker: Worker, only: Collection[MessageId] | None = None
) -> Begun | None:  # fmt: skip
    """Take the lease and start, or go on with, the next turn; None where there is nothing to do or somebody has it.

    It takes every unread message, or those of `only`, where its answer has been given already and saw no others.
    """
    case = cases.by_id(tx, case_id)
    turn = unsettled(tx, case_id)
    if not leases.has_work(tx, case_id, talks=worker.talks) or (turn is not None and turn.not_before > now):
        return None
    lease = leases.take(tx, now, case_id, holder=worker.holder, boot=worker.boot, ttl=worker.lease_ttl)
    if lease is None:
        return None
    begun = _begin(tx, now, lease, case, turn, worker, only)
    if begun is None:
        leases.drop(tx, lease)
    return begun


def begin_under(tx: Tx, now: int, lease: Lease, case: Case, worker: Worker) -> Begun | None:
    """The same for a holder that has the lease already: after settling it goes straight to the next turn."""
    return _begin(tx, now, lease, case, unsettled(tx, case.id), worker)


def _begin(
    tx: Tx, now: int, lease: Lease, case: Case, turn: Turn | None, worker: Worker,
    only: Collection[MessageId] | None = None,
) -> Begun | None:  # fmt: skip
    if turn is not None and turn.state is TurnState.PARKED:
        return _begin_beside(tx, now, lease, case, turn, worker) if worker.talks and only is None else None
    if turn is None:
        unread = [message for message in messages.unread(tx, case.id) if only is None or message.id in only]
        if not unread:
            return None
        alert = all(message.provenance is Provenance.ALERT for message in unread)
        turn = queue(tx, now, case.id, Cause.ALERT if alert else Cause.MESSAGE)
    earlier = before(tx, turn)
    in_flight = recovery.in_flight_until(tx, earlier)
    if (wait_until := max(recovery.recover(tx, now, turn.id), in_flight, turn.not_before)) > now:
        tx.run("UPDATE turns SET not_before = :until WHERE id = :id", id=turn.id, until=wait_until)
        return None
    taken = messages.mark_read(tx, case.id, turn.id, only)
    if taken or case.state is not CaseState.RESOLVED:  # a run that resolved its case and crashed does not reopen it
        case = cases.begin(tx, now, case, actor="engine")
    return _started(tx, now, lease, case, turn, worker, taken, earlier)


def _begin_beside(tx: Tx, now: int, lease: Lease, case: Case, parked: Turn, worker: Worker) -> Begun | None:
    """A turn that answers what is said while another is parked at a gate, which stays as it is (design, section 6)."""
    turn = due_beside(tx, now, parked)
    if turn is None or max(recovery.recover(tx, now, turn.id), turn.not_before) > now:
        return None
    taken = messages.mark_read(tx, case.id, turn.id)
    return _started(tx, now, lease, case, turn, worker, taken, None)


def _started(
    tx: Tx, now: int, lease: Lease, case: Case, turn: Turn, worker: Worker, taken: Sequence[Message],
    earlier: TurnId | None,
) -> Begun:  # fmt: skip
    """The turn with a run of its own, done for whoever spoke last in what it has taken."""
    turn = tx.one(
        Turn,
        "UPDATE turns SET state = 'running', attempts = attempts + 1, acts_for = :acts_for WHERE id = :id RETURNING *",
        id=turn.id, acts_for=_acts_for(tx, case, turn.id),
    )  # fmt: skip
    run = runs.start(tx, now, lease, case, turn, agent=worker.agent, model=worker.model)
    return Begun(lease, case, turn, run, tuple(taken), earlier, worker.talks)


def queue(tx: Tx, now: int, case_id: CaseId, cause: Cause, *, beside: TurnId | None = None) -> Turn:
    """A new turn, to be begun; `beside` one that is parked."""
    return tx.one(
        Turn,
        """INSERT INTO turns (case_id, seq, cause, beside, state, queued_at)
           VALUES (:case_id, (SELECT coalesce(max(seq), 0) + 1 FROM turns WHERE case_id = :case_id), :cause, :beside,
                   'queued', :now) RETURNING *""",
        case_id=case_id, cause=cause, beside=beside, now=now,
    )  # fmt: skip


def due_beside(tx: Tx, now: int, parked: Turn) -> Turn | None:
    """The turn that is to answer, beside a parked one, what people have said; None where none has spoken since.

    An alert is no talk: it waits for the parked turn to settle.
    """
    if (turn := unsettled_beside(tx, parked.case_id)) is not None:
        return turn
    spoken = any(message.by_a_person for message in messages.unread(tx, parked.case_id))
    return queue(tx, now, parked.case_id, Cause.MESSAGE, beside=parked.id) if spoken else None


def owe_beside(tx: Tx, now: int, parked: Turn) -> None:
    """A turn parks: what people said in its midst and it has not answered is to be answered beside it, by one turn."""
    owed = messages.shown_unanswered(tx, parked)
    if owed and unsettled_beside(tx, parked.case_id) is None:
        turn = queue(tx, now, parked.case_id, Cause.MESSAGE, beside=parked.id)
        for message in owed:
            tx.run("UPDATE messages SET turn_id = :turn WHERE id = :id", turn=turn.id, id=message.id)


def park(tx: Tx, turn_id: TurnId) -> None:
    """The turn waits for a person; that is progress, so its attempts start anew (R13)."""
    tx.run("UPDATE turns SET state = 'parked', attempts = 0, not_before = 0 WHERE id = :id", id=turn_id)


def requeue(tx: Tx, turn_id: TurnId, *, not_before: int = 0) -> None:
    """The turn can go on, from `not_before` on."""
    tx.run(
        """UPDATE turns SET state = 'queued', not_before = :not_before
           WHERE id = :id AND state IN ('queued', 'running', 'parked')""",
        id=turn_id, not_before=not_before,
    )  # fmt: skip


def came_back(tx: Tx, step: Step) -> None:
    """A call that a turn was waiting for has come back after all: its deadline need not be waited out."""
    tx.run(  # with the condition of the index of turns with work, or every turn of the case is read (R19)
        """UPDATE turns SET not_before = 0 WHERE case_id = :case_id AND not_before = :deadline AND state = 'queued'
             AND state IN ('queued', 'running')""",
        case_id=step.case_id, deadline=step.deadline,
    )  # fmt: skip


def count_attempt(tx: Tx, turn_id: TurnId) -> None:
    """An attempt of which nothing could be stored (R13)."""
    tx.run("UPDATE turns SET attempts = attempts + 1 WHERE id = :id", id=turn_id)


def settle(tx: Tx, now: int, turn_id: TurnId, state: TurnState = TurnState.SETTLED) -> None:
    """The answer is given, or it is certain that none will be (`failed`)."""
    tx.run(
        """UPDATE turns SET state = :state, settled_at = :now
           WHERE id = :id AND state IN ('queued', 'running', 'parked')""",
        id=turn_id, state=state, now=now,
    )  # fmt: skip


def unsettled(tx: Tx, case_id: CaseId) -> Turn | None:
    """The one turn of a case that is queued, running or parked."""
    return tx.maybe(
        Turn,
        """SELECT * FROM turns WHERE case_id = :id AND state IN ('queued', 'running', 'parked')
           AND beside IS NULL""",
        id=case_id,
    )


def unsettled_beside(tx: Tx, case_id: CaseId) -> Turn | None:
    """The one turn of a case that is queued or running beside another."""
    return tx.maybe(
        Turn,
        """SELECT * FROM turns WHERE case_id = :id AND state IN ('queued', 'running', 'parked')
           AND beside IS NOT NULL""",
        id=case_id,
    )


def beside(tx: Tx, turn: Turn) -> list[Turn]:
    """The turns that were worked while this one was parked, in order; all of them come right after it."""
    return tx.all(
        Turn,
        "SELECT * FROM turns WHERE case_id = :case_id AND seq > :seq AND beside = :id ORDER BY seq",
        case_id=turn.case_id, seq=turn.seq, id=turn.id,
    )  # fmt: skip


def under_way(tx: Tx, case_id: CaseId) -> bool:
    """Whether a turn stands in the middle: it is parked, or the model has asked for calls in it."""
    turn = unsettled(tx, case_id)
    return turn is not None and (
        turn.state is TurnState.PARKED or any(step.tool is not None for step in steps.of_turn(tx, turn.id))
    )


def newest(tx: Tx, case_id: CaseId) -> TurnId | None:
    """The last turn of a case, whatever became of it."""
    found = tx.value("SELECT id FROM turns WHERE case_id = :id ORDER BY seq DESC LIMIT 1", id=case_id)
    return None if found is None else TurnId(int(str(found)))


def before(tx: Tx, turn: Turn) -> TurnId | None:
    """The turn before this one."""
    found = tx.value(
        "SELECT id FROM turns WHERE case_id = :case_id AND seq < :seq AND beside IS NULL ORDER BY seq DESC LIMIT 1",
        case_id=turn.case_id, seq=turn.seq,
    )  # fmt: skip
    return None if found is None else TurnId(int(str(found)))


def by_id(tx: Tx, turn_id: TurnId) -> Turn:
    """A turn whose id came from our own tables."""
    return tx.all(Turn, "SELECT * FROM turns WHERE id = :id", id=turn_id)[0]


def of_case(tx: Tx, case_id: CaseId) -> list[Turn]:
    """The turns of a case, oldest first."""
    return tx.all(Turn, "SELECT * FROM turns WHERE case_id = :id ORDER BY seq", id=case_id)


def _acts_for(tx: Tx, case: Case, turn_id: TurnId) -> PrincipalId | None:
    """Whose permissions the turn has: an operator's only when every message of it is that operator's (R11).

    And said to us: an operator's words that somebody has quoted are a bystander's. What was said beside it is in its
    view too.
    """
    spoken = [message for message in messages.of_turn_and_beside(tx, turn_id) if message.by_a_person]
    if any(message.provenance is Provenance.BYSTANDER for message in spoken):
        return case.requester
    authors = {message.author for message in spoken}
    if len(authors) == 1 and (author := authors.pop()) is not None:
        principal = principals.get(tx, author)
        if principal.is_operator and principal.revoked_at is None and principal.tenant == case.tenant:
            return author
    return case.requester
