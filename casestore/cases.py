"""Cases: opening, finding within a scope, and the guarded moves of R2."""

from collections.abc import Mapping
from dataclasses import dataclass

from casestore import trail
from casestore.canonical import encode
from casestore.errors import MoveRefused, NotFound
from casestore.models import Case, CaseId, PrincipalId
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.states import CaseState, Origin, WaitingOn
from casestore.tx import Tx

FIRST_NUMBER = 1001
LIVE = (CaseState.NEW, CaseState.IN_PROGRESS)
ENDED = (CaseState.CLOSED, CaseState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a case is opened with."""

    tenant: str
    title: str
    origin: Origin
    requester: PrincipalId | None = None
    subject: str | None = None
    dedup_key: str | None = None
    follows: CaseId | None = None
    priority: str = "normal"


def open_case(tx: Tx, now: int, opening: Opening, *, actor: str) -> Case:
    """A new case, with the first entry of its trail. It needs no thread (R1)."""
    number = tx.integer("SELECT max(number) FROM cases") + 1
    case_id = tx.insert(
        """INSERT INTO cases (number, tenant, title, state, origin, priority, requester, subject, dedup_key, follows,
                              opened_at, updated_at, last_activity_at)
           VALUES (:number, :tenant, :title, 'new', :origin, :priority, :requester, :subject, :dedup_key, :follows,
                   :now, :now, :now) RETURNING id""",
        number=max(number, FIRST_NUMBER), tenant=opening.tenant, title=opening.title[:200], origin=opening.origin,
        priority=opening.priority, requester=opening.requester, subject=opening.subject,
        dedup_key=opening.dedup_key, follows=opening.follows, now=now,
    )  # fmt: skip
    tx.run("INSERT INTO leases (case_id, fence) VALUES (:case_id, 0)", case_id=case_id)
    meta = {"origin": opening.origin, "requester": opening.requester, "follows": opening.follows}
    trail.append(tx, CaseId(case_id), now, "case.opened", actor, meta, {"title": opening.title[:200]})
    return by_id(tx, CaseId(case_id))


def by_id(tx: Tx, case_id: CaseId) -> Case:
    """A case whose id came from our own tables. For ids from outside use `get`, which takes a scope."""
    found = tx.maybe(Case, "SELECT * FROM cases WHERE id = :id", id=case_id)
    if found is None:
        raise NotFound("No such case.")
    return found


def get(tx: Tx, scope: Scope, number: int) -> Case:
    """A case by its number. One outside the scope answers like one that does not exist (R21)."""
    found = tx.maybe(
        Case, f"SELECT c.* FROM cases c WHERE c.number = :number AND {IN_SCOPE}", number=number, **parameters(scope)
    )
    if found is None:
        raise NotFound(f"No case C-{number}.", listed_by="case list")
    return found


def listing(tx: Tx, scope: Scope, *, states: tuple[CaseState, ...] = tuple(CaseState), most: int = 100) -> list[Case]:
    """The cases in these states, the most recently active first."""
    return tx.all(
        Case,
        f"""SELECT c.* FROM cases c WHERE c.state IN (:s0, :s1, :s2, :s3, :s4) AND {IN_SCOPE}
            ORDER BY c.last_activity_at DESC, c.id DESC LIMIT :most""",
        most=most, **_padded(states), **parameters(scope),
    )  # fmt: skip


def of_group(tx: Tx, tenant: str, dedup_key: str) -> Case | None:
    """The live case of an alert group; else the newest: an older one may be live because somebody reopened it."""
    return tx.maybe(
        Case,
        """SELECT * FROM cases WHERE tenant = :tenant AND dedup_key = :key
           ORDER BY CASE WHEN state IN ('new', 'in_progress') THEN 0 ELSE 1 END, id DESC LIMIT 1""",
        tenant=tenant, key=dedup_key,
    )  # fmt: skip


def begin(tx: Tx, now: int, case: Case, *, actor: str) -> Case:
    """A turn starts: the case is in progress and waits for nobody; a resolved one is reopened (R2)."""
    if case.state is CaseState.IN_PROGRESS and case.waiting_on is WaitingOn.NOBODY:
        return tx.one(Case, "UPDATE cases SET last_activity_at = :now WHERE id = :id RETURNING *", id=case.id, now=now)
    return move(
        tx, now, case.id, to=CaseState.IN_PROGRESS, actor=actor,
        kind="case.reopened" if case.state is CaseState.RESOLVED else "case.in_progress",
        only_from=(CaseState.NEW, CaseState.IN_PROGRESS, CaseState.RESOLVED),
    )  # fmt: skip


def wait(tx: Tx, now: int, case_id: CaseId, waiting_on: WaitingOn) -> None:
    """Say whom a case in progress waits for; leaves a case in any other state alone."""
    tx.run(
        """UPDATE cases SET waiting_on = :waiting_on, updated_at = :now, last_activity_at = :now
           WHERE id = :id AND state = 'in_progress'""",
        id=case_id, waiting_on=waiting_on, now=now,
    )  # fmt: skip


def move(
    tx: Tx, now: int, case_id: CaseId, *, to: CaseState, actor: str, kind: str,
    only_from: tuple[CaseState, ...], meta: Mapping[str, object] | None = None,
    content: Mapping[str, object] | None = None,
) -> Case:  # fmt: skip
    """The guarded move of R2: the state changes and the trail says so, or `MoveRefused` says where it stands.

    An alert's case that is reopened after the alert has opened a newer one leaves the alert to that.
    """
    moved = tx.run(
        """UPDATE cases SET state = :to, waiting_on = '', updated_at = :now, last_activity_at = :now,
               resolved_at = CASE :to WHEN 'resolved' THEN :now WHEN 'in_progress' THEN NULL ELSE resolved_at END,
               closed_at = CASE WHEN :to IN ('closed', 'cancelled') THEN :now ELSE NULL END,
               dedup_key = CASE WHEN :to = 'in_progress' AND EXISTS (
                   SELECT 1 FROM cases o WHERE o.id <> cases.id AND o.tenant = cases.tenant
                      AND o.dedup_key = cases.dedup_key AND o.state IN ('new', 'in_progress'))
                   THEN NULL ELSE dedup_key END
           WHERE id = :id AND state IN (:s0, :s1, :s2, :s3, :s4)""",
        id=case_id, to=to, now=now, **_padded(only_from),
    )  # fmt: skip
    case = by_id(tx, case_id)
    if not moved:
        raise MoveRefused(_stays(case, to))
    trail.append(tx, case_id, now, kind, actor, {"state": to, **(meta or {})}, content)
    return case


def retitle(tx: Tx, now: int, case_id: CaseId, title: str, *, actor: str) -> None:
    """Give the case another title (at most 200 characters are kept)."""
    tx.run("UPDATE cases SET title = :title, updated_at = :now WHERE id = :id", id=case_id, title=title[:200], now=now)
    trail.append(tx, case_id, now, "case.retitled", actor, None, {"title": title[:200]})


def assign(tx: Tx, now: int, case_id: CaseId, assignee: PrincipalId | None, *, actor: str) -> None:
    """Say who is responsible; None for nobody."""
    tx.run("UPDATE cases SET assignee = :who, updated_at = :now WHERE id = :id", id=case_id, who=assignee, now=now)
    trail.append(tx, case_id, now, "case.assigned", actor, {"assignee": assignee})


def set_task_state(tx: Tx, now: int, case_id: CaseId, state: Mapping[str, object], *, actor: str) -> None:
    """Replace what the assistant notes about its own progress."""
    text = encode(dict(state))
    tx.run("UPDATE cases SET task_state = :state, updated_at = :now WHERE id = :id", id=case_id, state=text, now=now)
    trail.append(tx, case_id, now, "case.task_state", actor, None, {"task_state": dict(state)})


def verify_subject(tx: Tx, now: int, case_id: CaseId, *, verified_as: str, how: str, actor: str) -> None:
    """Record who the customer was verified to be, and how (R22)."""
    tx.run(
        """UPDATE cases SET verified_as = :who, verified_how = :how, verified_at = :now, updated_at = :now
           WHERE id = :id""",
        id=case_id, who=verified_as, how=how, now=now,
    )  # fmt: skip
    trail.append(tx, case_id, now, "case.verified", actor, {"how": how}, {"verified_as": verified_as})


def write_paraphrase(tx: Tx, case_id: CaseId, text: str) -> None:
    """Replace the generated prose; the trail remains the authority."""
    tx.run("UPDATE cases SET paraphrase = :text WHERE id = :id", id=case_id, text=text)


def resolved_before(tx: Tx, cutoff: int, most: int = 100) -> list[Case]:
    """Cases resolved at or before `cutoff`, for closing them by themselves; not those a message is about to reopen."""
    return tx.all(
        Case,
        """SELECT * FROM cases c WHERE c.state = 'resolved' AND c.resolved_at <= :cutoff AND NOT EXISTS (
               SELECT 1 FROM messages m WHERE m.case_id = c.id AND m.direction = 'in' AND m.turn_id IS NULL)
           ORDER BY c.resolved_at LIMIT :most""",
        cutoff=cutoff, most=most,
    )  # fmt: skip


def counts(tx: Tx) -> dict[str, int]:
    """Cases by state, counted now (R2)."""
    return {state: tx.integer("SELECT count(*) FROM cases WHERE state = :state", state=state) for state in CaseState}


def _stays(case: Case, to: CaseState) -> str:
    """Why a case does not move, in words a person would use, and what to do."""
    if case.state is to:
        return f"{case.label} is {_in_words(to)} already."
    if case.state in (CaseState.CLOSED, CaseState.CANCELLED):
        return f"{case.label} is {case.state}, for good. Open a new case."
    return f"{case.label} is {_in_words(case.state)}; it cannot become {_in_words(to)} from there."


def _in_words(state: CaseState) -> str:
    return state.replace("_", " ")


def _padded(states: tuple[CaseState, ...]) -> dict[str, CaseState | None]:
    """Five parameters whatever the number of states, so that the statement stays one."""
    return {f"s{n}": states[n] if n < len(states) else None for n in range(len(CaseState))}
