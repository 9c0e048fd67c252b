"""Binding a case to a further thread, and letting go of one, by an operator: from the CLI and from a channel alike."""

from bot.errors import Refused
from casestore import bindings, positions
from casestore.models import Case, Principal
from casestore.principals import actor
from casestore.states import CaseState
from casestore.tx import Tx
from channels.text import style_for


def bind(
    tx: Tx, now: int, case: Case, address: str, by: Principal, *, platform_id: str | None = None
) -> Case:  # fmt: skip
    """What is said in the case is said at `address` too. Raises `Refused`, `BadRequest`, `UnknownChannel`.

    `platform_id` names what was asked by, where that was a message there.
    """
    _operators_only(by, "bind a case to a thread")
    if case.state in (CaseState.CLOSED, CaseState.CANCELLED):
        raise Refused(f"{case.label} is {case.state}; nothing more is said in it.")
    join(tx, now, case, address, actor=actor(by), platform_id=platform_id)
    return case


def join(tx: Tx, now: int, case: Case, address: str, *, actor: str, platform_id: str | None) -> None:
    """Bind a case where people may have talked before it: that is none of ours, and is not read later either (R29).

    It is read from `platform_id` on, or else from now. In a thread that the case had lost it is gone on from where that
    was left. Raises `BadRequest`, and `UnknownChannel`: where this version says nothing, nobody would ever be heard.
    """
    style = style_for(address.partition(":")[0])
    was_ours = any(
        of is not None and of.id == case.id for of in (bindings.case_at(tx, address), bindings.lost_at(tx, address))
    )
    bindings.bind(tx, now, case, address, actor=actor)
    begin = positions.begin if was_ours else positions.move
    begin(tx, address, platform_id or style.moment(now))


def unbind(tx: Tx, now: int, case: Case, address: str, by: Principal) -> Case:
    """Let go of a thread; the case lives on. Raises `Refused` where the case is not bound there."""
    _operators_only(by, "unbind a case")
    if all(binding.address != address for binding in bindings.of_case(tx, case.id)):
        raise Refused(f"{case.label} is not bound to {address}.")
    bindings.unbind(tx, now, address, actor=actor(by))
    return case


def _operators_only(by: Principal, what: str) -> None:
    if not by.is_operator or by.revoked_at is not None:
        raise Refused(f"Only an operator may {what}.")
