"""In whose hands a case is, and in which threads: `case take`, `release`, `assign`, `bind`, …"""

from typing import Annotated

import typer

from bot.cli import who
from bot.cli.arguments import BY_DEFAULT, As, CaseNumber
from bot.cli.case import app, worked
from bot.cli.command import command
from bot.cli.here import Here
from bot.cli.out import say
from bot.errors import Refused
from bot.gates import gating
from bot.inbound import loops
from bot.people import binding, takeover
from casestore import cases, leases
from casestore.models import Case, Principal
from casestore.principals import actor
from casestore.tx import Tx
from channels.address import Address
from channels.storable import storable

Thread = Annotated[str, typer.Argument(metavar="ADDRESS", help="Such as slack:T1/C2/1710.003.")]


@command(app, "take")
def take(here: Here, number: CaseNumber, as_: As = BY_DEFAULT) -> None:
    """Take a case over: the assistant stops and stays silent, its open gate is withdrawn."""
    case = here.write(_take, here.now, as_, number)
    say(f"{case.label} is yours. What you say in it goes to its threads: {here.typed(f'case say {case.label} TEXT')}")
    say(f"Hand it back: {here.typed(f'case release {case.label}')}")


@command(app, "release")
def release(here: Here, number: CaseNumber, as_: As = BY_DEFAULT) -> None:
    """Hand a case back to the assistant, which goes on with what people said meanwhile in view."""
    case, has_work = here.write(_release, here.now, as_, number)
    say(f"{case.label} is the assistant's again.")
    if has_work:
        say(worked(here))
    else:
        say("Nothing was said that it has not answered or handed on already. To have it go on, say what it shall do:")
        say(here.typed(f"case say {case.label} TEXT"))


@command(app, "assign")
def assign(
    here: Here,
    number: CaseNumber,
    assignee: Annotated[str, typer.Argument(metavar="PRINCIPAL", parser=storable, help="Who; `nobody` for nobody.")],
    as_: As = BY_DEFAULT,
) -> None:
    """Say who is responsible for a case."""
    case = here.write(_assign, here.now, as_, number, assignee)
    say(f"{case.label} is assigned to {assignee}.")


@command(app, "bind")
def bind(here: Here, number: CaseNumber, address: Thread, as_: As = BY_DEFAULT) -> None:
    """Bind a case to a further thread: what is said in one is said in all."""
    case = here.write(_bind, here.now, as_, number, str(Address.parse(address)))
    say(f"{case.label} is bound to {address}.")


@command(app, "unbind")
def unbind(here: Here, number: CaseNumber, address: Thread, as_: As = BY_DEFAULT) -> None:
    """Let go of a thread; the case lives on."""
    case = here.write(_unbind, here.now, as_, number, str(Address.parse(address)))
    say(f"{case.label} is no longer bound to {address}.")


@command(app, "hear")
def hear(here: Here, number: CaseNumber, as_: As = BY_DEFAULT) -> None:
    """Let a bot go on that was stopped at this case because it had opened too many."""
    heard = here.write(_hear, here.now, as_, number)
    say(f"Cases are opened for {heard} again.")


def _case(tx: Tx, as_: str, number: int, what: str) -> tuple[Principal, Case]:
    by = who.operator(tx, as_, what)
    return by, cases.get(tx, gating.scope_of(by), number)


def _take(tx: Tx, now: int, as_: str, number: int) -> Case:
    by, case = _case(tx, as_, number, "take a case over")
    return takeover.take(tx, now, case, by)


def _release(tx: Tx, now: int, as_: str, number: int) -> tuple[Case, bool]:
    """The case, and whether there is something that the assistant has to answer now."""
    by, case = _case(tx, as_, number, "hand a case back")
    return takeover.release(tx, now, case, by), leases.has_work(tx, case.id)


def _assign(tx: Tx, now: int, as_: str, number: int, assignee: str) -> Case:
    by, case = _case(tx, as_, number, "assign a case")
    to = None
    if assignee != "nobody":
        to = who.known(tx, assignee)
        if to.revoked_at is not None or to.tenant != case.tenant or not to.is_operator:
            raise Refused(f"{assignee} is no operator here. See: casebound principal list")
    cases.assign(tx, now, case.id, None if to is None else to.id, actor=actor(by))
    return cases.by_id(tx, case.id)


def _bind(tx: Tx, now: int, as_: str, number: int, address: str) -> Case:
    by, case = _case(tx, as_, number, "bind a case")
    return binding.bind(tx, now, case, address, by)


def _unbind(tx: Tx, now: int, as_: str, number: int, address: str) -> Case:
    by, case = _case(tx, as_, number, "unbind a case")
    return binding.unbind(tx, now, case, address, by)


def _hear(tx: Tx, now: int, as_: str, number: int) -> str:
    by, case = _case(tx, as_, number, "let a bot go on")
    return loops.hear_again(tx, now, case, by)
