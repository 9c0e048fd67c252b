"""The moves of a case that somebody makes by hand: `case title`, `resolve`, `reopen`, `close`, `cancel`."""

from collections.abc import Callable
from typing import Annotated, Protocol

import typer

from bot.cli import who
from bot.cli.arguments import BY_DEFAULT, As, CaseNumber, Reason
from bot.cli.case import app
from bot.cli.command import command
from bot.cli.here import Here
from bot.cli.out import say
from bot.errors import Refused
from bot.gates import gating
from bot.people import closing
from casestore import cases
from casestore.models import Case, Principal
from casestore.principals import actor
from casestore.tx import Tx
from channels.storable import storable
from channels.text import one_line


class _Move(Protocol):
    def __call__(self, tx: Tx, now: int, case: Case, *, by: str, why: str) -> Case: ...


@command(app, "title")
def title(
    here: Here,
    number: CaseNumber,
    title: Annotated[str, typer.Argument(metavar="TITLE", parser=storable, help="The new one.")],
    as_: As = BY_DEFAULT,
) -> None:
    """Give a case another title."""
    case = here.write(_retitle, here.now, as_, number, title)
    say(f"{case.label} is called: {one_line(case.title)}")


@command(app, "resolve")
def resolve(here: Here, number: CaseNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """The matter is dealt with. A message opens the case again; after a while it closes by itself."""
    _move(here, number, as_, closing.resolve, reason)


@command(app, "reopen")
def reopen(here: Here, number: CaseNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """A resolved case is in progress again."""
    _move(here, number, as_, closing.reopen, reason)


@command(app, "close")
def close(here: Here, number: CaseNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """The case is over for good; a message opens a new one that follows it."""
    _move(here, number, as_, closing.close, reason, who.operator, "close a case")


@command(app, "cancel")
def cancel(here: Here, number: CaseNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """The case was opened by mistake, or is not wanted any more."""
    _move(here, number, as_, closing.cancel, reason)


def _move(
    here: Here, number: int, as_: str, move: _Move, reason: str,
    may: Callable[[Tx, str, str], Principal] | None = None, what: str = "",
) -> None:  # fmt: skip
    def moving(tx: Tx, now: int) -> Case:
        by = who.acting(tx, as_) if may is None else may(tx, as_, what)
        case = cases.get(tx, gating.scope_of(by), number)
        return move(tx, now, case, by=actor(by), why=reason.strip())

    case = here.write(moving, here.now)
    say(f"{case.label} is {case.state.replace('_', ' ')}: {one_line(case.title)}")


def _retitle(tx: Tx, now: int, as_: str, number: int, title: str) -> Case:
    if not title.strip():
        raise Refused("The title is empty. Give it a few words.")
    by = who.acting(tx, as_)
    case = cases.get(tx, gating.scope_of(by), number)
    cases.retitle(tx, now, case.id, title.strip(), actor=actor(by))
    return cases.by_id(tx, case.id)
