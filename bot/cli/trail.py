"""`casebound trail …`: the record of what happened to a case, and the proof that nobody changed it."""

from typing import Annotated

import typer

from bot.cli import story, who
from bot.cli.arguments import BY_DEFAULT, As, CaseNumber, Json, head
from bot.cli.command import command, group
from bot.cli.events import name_of_actor
from bot.cli.here import Here
from bot.cli.out import document, say, table
from bot.errors import Refused
from bot.gates import gating
from bot.words.present import trail_json, verification_json
from bot.words.when import iso
from casestore import cases, trail
from casestore.models import Case, TrailEntry
from casestore.trail import Head, Verification
from casestore.tx import Tx

app = group("trail", "The trail: the record of what happened, to which nothing can be done unnoticed.")


@command(app, "show")
def show(here: Here, number: CaseNumber, as_: As = BY_DEFAULT, json: Json = False) -> None:
    """Every entry of a case's trail, oldest first."""
    case, entries = here.read(_entries, as_, number)
    if json:
        document({"case": case.label, "entries": [trail_json(entry) for entry in entries]})
        return
    table(("SEQ", "AT", "WHAT", "BY", "WITH"), [_row(entry) for entry in entries])


@command(app, "verify")
def verify(
    here: Here,
    number: CaseNumber,
    anchor: Annotated[
        Head | None,
        typer.Option("--head", metavar="SEQ:HASH", parser=head, help="A head noted earlier, which it has to contain."),
    ] = None,
    as_: As = BY_DEFAULT,
    json: Json = False,
) -> None:
    """Recompute the chain of hashes: finds an edit, a gap, a reorder; with --head also an end that was cut off."""
    case, found = here.read(_verified, as_, number, anchor)
    if json:
        document({"case": case.label, **verification_json(found)})
    elif not found.problems:
        erased = f", {found.erased} of them with their content erased" if found.erased else ""
        say(f"The trail of {case.label} holds: {found.entries} entries{erased}.")
        say(f"Head {found.head}")
    else:
        for problem in found.problems:
            say(problem)
    if found.problems:
        raise Refused(f"The trail of {case.label} does not hold: {found.problems[0]}. Compare it with a backup.")


def _entries(tx: Tx, as_: str, number: int) -> tuple[Case, list[TrailEntry]]:
    scope = gating.scope_of(who.acting(tx, as_))
    case = cases.get(tx, scope, number)
    return case, story.trail_of(tx, scope, case.id)


def _verified(tx: Tx, as_: str, number: int, anchor: Head | None) -> tuple[Case, Verification]:
    scope = gating.scope_of(who.acting(tx, as_))
    case = cases.get(tx, scope, number)
    return case, trail.verify(tx, scope, case.id, anchor)


def _row(entry: TrailEntry) -> tuple[str, ...]:
    told = [part for part in (entry.meta, entry.content or "(erased)") if part != "{}"]
    return str(entry.seq), iso(entry.at), entry.kind, name_of_actor(entry.actor), " ".join(told)
