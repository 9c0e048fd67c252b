"""The page of one person: the gates they may decide, their cases, and what wants an operator (R20, R21)."""

from datetime import tzinfo

from bot.gates import card, gating
from bot.words.standing import stands
from bot.words.when import at_text
from casestore import cases, deciding, gates, leases, principals
from casestore.models import Case, Principal
from casestore.states import CaseState, LeaseKind, WaitingOn
from casestore.tx import Tx
from channels.home import CaseLine, Hand, Home, Waiting
from channels.messages import Account

MOST = 10
"""Entries of each list: a page in Slack has a hundred blocks at most, and nobody reads on at night."""

_LIVE = (CaseState.NEW, CaseState.IN_PROGRESS, CaseState.RESOLVED)
_LOOKED_THROUGH = 1_000


def of_account(tx: Tx, now: int, account: Account, zone: tzinfo | None) -> Home | None:
    """The page; None for somebody we do not know, who gets none at all."""
    who = principals.by_account(tx, *account.identity)
    if who is None or who.revoked_at is not None:
        return None
    scope = gating.scope_of(who)
    open_gates = gates.listing(tx, scope, only_open=True, most=_LOOKED_THROUGH)
    waiting = [gate for gate in open_gates if gate.expires_at > now and deciding.may_decide(tx, who, gate)]
    found = cases.listing(tx, scope, states=_LIVE, most=_LOOKED_THROUGH)
    mine = [case for case in found if who.id in (case.requester, case.assignee)]
    wanting = [case for case in found if who.is_operator and case.waiting_on is WaitingOn.OPERATOR]
    lists = (("gates", waiting), ("cases of yours", mine), ("cases that want an operator", wanting))
    return Home(
        waiting=tuple(
            Waiting(
                gate_id=gate.id, digest8=gate.digest_shown[:8], verbs=card.VERBS[gate.kind],
                case_label=cases.by_id(tx, gate.case_id).label, statement=gate.statement,
                until=at_text(gate.expires_at, zone, now),
            )
            for gate in waiting[:MOST]
        ),
        mine=tuple(_line(tx, case, who) for case in mine[:MOST]),
        wanting=tuple(_line(tx, case, who) for case in wanting[:MOST]),
        is_operator=who.is_operator,
        more=tuple(f"{len(items) - MOST} more {name}" for name, items in lists if len(items) > MOST),
    )  # fmt: skip


def _line(tx: Tx, case: Case, who: Principal) -> CaseLine:
    return CaseLine(
        number=case.number, label=case.label, stands=stands(case), title=case.title, hand=_hand(tx, case, who)
    )


def _hand(tx: Tx, case: Case, who: Principal) -> Hand | None:
    if not who.is_operator:
        return None
    lease = leases.of_case(tx, case.id)
    if lease.kind is not LeaseKind.HUMAN:
        return "take"
    return "release" if lease.principal == who.id else None
