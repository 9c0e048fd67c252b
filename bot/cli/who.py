"""Who acts, named by `--as`: known and not revoked, and allowed to."""

from bot.errors import Refused
from bot.first_start import OPERATOR
from casestore import principals
from casestore.errors import NotFound
from casestore.models import Principal
from casestore.states import Role
from casestore.tx import Tx


def acting(tx: Tx, name: str) -> Principal:
    """The principal a command acts for. Raises `NotFound` or `Refused`."""
    who = known(tx, name)
    if who.revoked_at is not None:
        raise Refused(f"{name} has been revoked. Name somebody else with --as; see: casebound principal list")
    return who


def operator(tx: Tx, name: str, what: str) -> Principal:
    """The same, for what only an operator may do."""
    who = acting(tx, name)
    if not who.is_operator:
        raise Refused(f"{name} is a {who.role}; only an operator may {what}. Name one with --as.")
    return who


def admin(tx: Tx, name: str, what: str) -> Principal:
    """The same, for what only an admin may do."""
    who = acting(tx, name)
    if who.role is not Role.ADMIN:
        raise Refused(f"{name} is {_a(who.role)}; only an admin may {what}. Name one with --as.")
    return who


def known(tx: Tx, name: str) -> Principal:
    """A principal by name, revoked or not. Raises `NotFound`."""
    try:
        return principals.by_name(tx, name)
    except NotFound:
        if name == OPERATOR and not principals.listing(tx):
            raise NotFound("Nobody is known in this file yet. A first `casebound up` adds people.") from None
        raise


def name_of(tx: Tx, principal_id: int | None) -> str:
    """A principal's name; `nobody` for none."""
    return (
        "nobody"
        if principal_id is None
        else str(tx.value("SELECT name FROM principals WHERE id = :id", id=principal_id))
    )


def _a(role: Role) -> str:
    return f"an {role}" if role in (Role.OPERATOR, Role.ADMIN) else f"a {role}"
