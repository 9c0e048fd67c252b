"""`casebound case …`: listing, reading and opening cases, and speaking in them."""

from typing import Annotated

import typer

from bot.cli import story, who
from bot.cli.arguments import BY_DEFAULT, As, CaseNumber, Json, Most, Text
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import document, say, table
from bot.errors import Refused
from bot.gates import gating
from bot.inbound import intake
from bot.settings import Settings
from bot.words.present import (
    Document,
    binding_json,
    case_json,
    episode_json,
    gate_json,
    message_json,
    run_json,
    trail_json,
)
from bot.words.standing import stands
from bot.words.when import at_text
from casestore import attachments, bindings, cases, episodes, gates, leases, runs
from casestore.models import Case
from casestore.states import CaseState, Direction, LeaseKind, Origin
from casestore.tx import Tx
from channels.storable import storable
from channels.text import one_line

app = group("case", "Cases: what each is about, where it stands, and what happened.")

_SHOWN = (CaseState.NEW, CaseState.IN_PROGRESS, CaseState.RESOLVED)
_PAGE = 500


@command(app, "list")
def list_(
    here: Here,
    as_: As = BY_DEFAULT,
    state: Annotated[
        list[CaseState] | None,
        typer.Option("--state", metavar="STATE", help=f"Only in this state ({', '.join(CaseState)}); may be repeated."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Those that are closed or cancelled too.")] = False,
    most: Most = 100,
    json: Json = False,
) -> None:
    """Cases, the most recently active first."""
    states = tuple(dict.fromkeys(state or (tuple(CaseState) if every else _SHOWN)))
    found = here.read(_listed, as_, states, most)
    if json:
        document({"cases": [case_json(case) for case in found]})
        return
    if not found:
        say("There are no cases." if every else "There are no open cases. With --all those that are closed are shown.")
        return
    now, zone = here.now, here.zone
    table(
        ("CASE", "STANDS", "LAST", "FROM", "TITLE"),
        [
            (case.label, stands(case), at_text(case.last_activity_at, zone, now), case.origin, case.title)
            for case in found
        ],
    )


@command(app, "show")
def show(
    here: Here,
    number: CaseNumber,
    as_: As = BY_DEFAULT,
    every: Annotated[bool, typer.Option("--all", help="The whole story, however long it is.")] = False,
    json: Json = False,
) -> None:
    """What a case is about, what happened in it, in order, and what it waits for."""
    if json:
        document(here.read(_whole, as_, number))
        return
    for line in here.read(story.of_case, here.now, as_, number, here.zone, here.typed, every=every):
        say(line)


@command(app, "open")
def open_(
    here: Here,
    text: Text,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", parser=storable, help="Otherwise the first line of what is said."),
    ] = None,
    as_: As = BY_DEFAULT,
) -> None:
    """Open a case, with a first message from whoever acts."""
    _something(text)
    case = here.write(_open, here.now, as_, text, title)
    say(f"{case.label} is open: {one_line(case.title)}")
    say(worked(here))
    say(f"See: {here.typed(f'case show {case.label}')}")


@command(app, "say")
def say_(
    here: Here,
    number: CaseNumber,
    text: Text,
    as_: As = BY_DEFAULT,
) -> None:
    """Say something in a case: to the assistant, or, for somebody who has taken the case over, to its threads."""
    _something(text)
    label, out = here.write(_say, here.now, as_, number, text, here.settings)
    say(f"Said in {label}.")
    if not out:
        say(worked(here))
        say(f"See: {here.typed(f'case show {label}')}")


def worked(here: Here) -> str:
    """Who will see to what has just been stored."""
    if (service := here.service) is not None:
        return f"{service} goes on with it now."
    return f"No service runs on this file. {here.typed('up')} goes on with it as soon as it is started."


def _something(text: str) -> None:
    if not text.strip():
        raise Refused("There is nothing to say: the text is empty.")


def _listed(tx: Tx, as_: str, states: tuple[CaseState, ...], most: int) -> list[Case]:
    return cases.listing(tx, gating.scope_of(who.acting(tx, as_)), states=states, most=most)


def _open(tx: Tx, now: int, as_: str, text: str, title: str | None) -> Case:
    return intake.open_by(tx, now, who.acting(tx, as_), Origin.CLI, text, title=title)


def _say(tx: Tx, now: int, as_: str, number: int, text: str, settings: Settings) -> tuple[str, bool]:
    actor = who.acting(tx, as_)
    case = cases.get(tx, gating.scope_of(actor), number)
    if case.state in (CaseState.CLOSED, CaseState.CANCELLED):
        raise Refused(f"{case.label} is {case.state}. Open a new one: casebound case open TEXT")
    message = intake.say_in(tx, now, case, actor, text, settings, settings.service.zone, via="cli")
    return case.label, message.direction is Direction.OUT


def _whole(tx: Tx, as_: str, number: int) -> Document:
    scope = gating.scope_of(who.acting(tx, as_))
    case = cases.get(tx, scope, number)
    lease = leases.of_case(tx, case.id)
    attached = attachments.of_case(tx, case.id)
    return {
        **case_json(case),
        "taken_over_by": lease.holder if lease.kind is LeaseKind.HUMAN else None,
        "bindings": [binding_json(binding) for binding in bindings.of_case(tx, case.id)],
        "messages": [
            message_json(message, attached.get(message.id, ())) for message in story.messages_of(tx, scope, case.id)
        ],
        "gates": [gate_json(gate, roles=gates.roles_of(tx, gate.id)) for gate in gates.of_case(tx, case.id)],
        "runs": [run_json(run) for run in runs.listing(tx, scope, case_id=case.id, most=100_000)],
        "episodes": [episode_json(episode) for episode in episodes.of_case(tx, case.id)],
        "trail": [trail_json(entry) for entry in story.trail_of(tx, scope, case.id)],
    }
