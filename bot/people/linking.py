"""Linking: a person binds an account of theirs by a one-time code, shown to them where somebody is signed in (R20).

What is said about a code never tells whether there is one: wrong, used, over and void are answered alike, and a code
that stands in a message is kept out by its form alone.
"""

import logging
import math
from dataclasses import dataclass

from bot.errors import Refused
from bot.words import link_code
from casestore import bindings, linking, principals
from casestore.errors import NotFound
from casestore.models import LinkCode, Principal
from casestore.states import Role
from casestore.tx import Tx
from channels.messages import Command, Inbound

log = logging.getLogger("casebound.linking")

_MINUTE_MS = 60_000
SPOILT = (
    "A code that links an account belongs in the command /case link alone. I have not kept that message, and no code "
    "in it counts any longer, since others may have read it. Delete it, ask for a new code, and use /case link."
)
LEFT_OUT = "(a code, left out)"
_WHICH = "Which code? Write: /case link CODE. An admin makes one: casebound principal link NAME"
_FOR_PEOPLE = "That is for people. A bot's account is bound by an admin: casebound principal bind NAME ACCOUNT"


@dataclass(frozen=True, slots=True)
class Made:
    """A code that was made, the only time that it can be shown, and whom it is for."""

    code: str
    row: LinkCode
    principal: Principal


def make(tx: Tx, now: int, by: Principal, name: str, code: str, *, via: str) -> Made:
    """Make a code for somebody of one's own tenant; only an admin may, as with binding. `via`: where it is shown.

    Raises `NotFound` and `Refused`.
    """
    if by.role is not Role.ADMIN:
        raise Refused(f"{by.name} is no admin; only an admin may link accounts.")
    person = principals.by_name(tx, name)
    if person.tenant != by.tenant:
        raise NotFound(f"No principal named {name}.", listed_by="principal list")
    if person.revoked_at is not None:
        raise Refused(f"{name} has been revoked; add a new principal instead.")
    return Made(code, linking.make(tx, now, person.id, code, by=by.id, via=via), person)


def link(tx: Tx, now: int, command: Command, code: str) -> str:
    """What is answered to a code that was sent from an account nobody is bound to, for them alone.

    Raises `Refused` where nothing was tried. A code that is refused is counted, and so does not raise.
    """
    account = command.account
    if account.program:
        raise Refused(_FOR_PEOPLE)
    if not code:
        raise Refused(_WHICH)
    until = linking.barred_until(tx, now, account.identity)
    if until is not None:
        minutes = math.ceil((until - now) / _MINUTE_MS)
        return f"Too many wrong codes have come from your account. Try again in {minutes} min."
    used = linking.use(tx, now, link_code.read(code), account.identity, at=str(command.address))
    if used is None:
        left = linking.wrong(tx, now, account.identity)
        return (
            "That code is not good. One works once, for ten minutes, and only the newest; ask for another. "
            f"Wrong codes that you may still send within the hour: {left}."
        )
    row, bound = used
    person = principals.get(tx, bound.principal_id)
    log.info(
        "account.linked",
        extra={"fields": {"code": row.id, "principal": principals.actor(person), "account": "/".join(account.identity),
                          "from": str(command.address)}},
    )  # fmt: skip
    return f"Your account speaks for {person.name} from now on, who is {_a(person.role)} here."


def taken(who: Principal) -> str:
    """Why an account that speaks for somebody cannot be linked; whatever the code."""
    return (
        f"Your account speaks for {who.name} already. For it to speak for somebody else, an admin first ends that: "
        "casebound principal unbind ACCOUNT"
    )


def keep_out(tx: Tx, now: int, inbound: Inbound) -> bool:
    """A message that a code may be in is not stored, and no code in it counts; whether its author is to be told.

    They are where we are spoken to, or a case is (R20).
    """
    spoil(tx, now, inbound.said)
    return inbound.addressed or bindings.case_at(tx, str(inbound.address)) is not None


def spoil(tx: Tx, now: int, text: str) -> None:
    """Others may have read this."""
    for code in link_code.codes_in(text):
        linking.spoil(tx, now, code)


def _a(role: Role) -> str:
    return f"a {role}" if role is Role.REQUESTER else f"an {role}"
