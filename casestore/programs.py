"""Other people's programs that open cases: how many one has opened, and whether it has been stopped.

Both are read from what is stored anyway, the cases of its principal and their trails, so that a restart begins no new
count.
"""

from dataclasses import dataclass

from casestore import trail
from casestore.canonical import decode
from casestore.errors import MoveRefused
from casestore.models import Case, CaseId, Principal
from casestore.principals import actor
from casestore.tx import Tx

STOPPED, HEARD_AGAIN = "program.stopped", "program.heard_again"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a program stands. `until` (ms UTC): when it may open cases again; None: it may now.

    `since` (ms UTC): somebody let it go on then, so that what it opened before does not count.
    """

    until: int | None
    since: int


def opened_since(tx: Tx, who: Principal, account: str, since: int, most: int) -> list[Case]:
    """The newest cases that an account has opened by itself since then (ms UTC), `most` of them, newest first.

    By itself: a case that a person has opened on a message of it is that person's.
    """
    return tx.all(
        Case,
        """SELECT c.* FROM cases c
           WHERE c.tenant = :tenant AND c.requester = :who AND c.last_activity_at > :since AND c.opened_at > :since
             AND EXISTS (SELECT 1 FROM trail t WHERE t.case_id = c.id AND t.seq = 1 AND t.actor = :actor)
             AND EXISTS (SELECT 1 FROM messages m
                         WHERE m.case_id = c.id AND m.seq = 1 AND m.author_account = :account)
           ORDER BY c.opened_at DESC, c.id DESC LIMIT :most""",
        tenant=who.tenant, who=who.id, since=since, actor=actor(who), account=account, most=most,
    )  # fmt: skip


def standing(tx: Tx, now: int, who: Principal, account: str, since: int) -> Standing:
    """Whether it is stopped, by what the trails of the cases that it opened since then (ms UTC) say last."""
    for kind, at, meta in tx.tuples(
        """SELECT t.kind, t.at, t.meta FROM cases c JOIN trail t ON t.case_id = c.id
           WHERE c.tenant = :tenant AND c.requester = :who AND c.last_activity_at > :since
             AND t.kind IN (:stopped, :heard) ORDER BY t.at DESC, t.case_id DESC, t.seq DESC""",
        tenant=who.tenant, who=who.id, since=since, stopped=STOPPED, heard=HEARD_AGAIN,
    ):  # fmt: skip
        said = decode(str(meta))
        if said.get("account") == account:
            until = int(str(said.get("until", 0)))
            return Standing(until if kind == STOPPED and until > now else None, int(str(at)) if kind != STOPPED else 0)
    return Standing(None, 0)


def stop(tx: Tx, now: int, case_id: CaseId, account: str, *, until: int, opened: int) -> None:
    """It opens no case until then (ms UTC); noted on the last one that it has opened."""
    trail.append(tx, case_id, now, STOPPED, "engine", {"account": account, "until": until, "opened": opened})


def hear_again(tx: Tx, now: int, case: Case, *, by: Principal) -> str:
    """The program that was stopped at this case may open cases again; its account.

    Raises `MoveRefused` where none was, or was let go on already.
    """
    found = tx.tuples(
        """SELECT kind, meta FROM trail WHERE case_id = :case_id AND kind IN (:stopped, :heard)
           ORDER BY seq DESC LIMIT 1""",
        case_id=case.id, stopped=STOPPED, heard=HEARD_AGAIN,
    )  # fmt: skip
    if not found or found[0][0] == HEARD_AGAIN:
        raise MoveRefused(f"No program was stopped at {case.label}, or it is heard again already.")
    account = str(decode(str(found[0][1]))["account"])
    trail.append(tx, case.id, now, HEARD_AGAIN, actor(by), {"account": account})
    return account
