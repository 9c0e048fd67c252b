"""`casebound gate …`: what waits for a decision, and the card of each."""

from collections.abc import Iterator
from datetime import tzinfo
from typing import Annotated

import typer

from bot.cli import story, who
from bot.cli.arguments import BY_DEFAULT, As, GateNumber, Json, Most
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import document, row_of_card, say, table
from bot.gates import card, gating
from bot.words.present import Document, gate_json, row_json
from bot.words.when import at_text, span_text
from casestore import cases, gates, holds
from casestore.canonical import decode, encode
from casestore.models import Case, Gate, Hold
from casestore.states import GateState
from casestore.tx import Tx
from channels.card import Argument, Card
from channels.plain import render_card
from channels.text import one_line

app = group("gate", "Gates: what waits for a person's yes or no, and what became of it.")


@command(app, "list")
def list_(
    here: Here,
    as_: As = BY_DEFAULT,
    every: Annotated[bool, typer.Option("--all", help="Those that are decided too.")] = False,
    most: Most = 100,
    json: Json = False,
) -> None:
    """What waits for a decision, what expires first at the top; and what is frozen."""
    if json:
        document(here.read(_listed_json, as_, every, most))
        return
    now, zone = here.now, here.zone
    found, standing = here.read(_listed, as_, every, most)
    if found:
        table(
            ("GATE", "CASE", "EXPIRES" if not every else "STATE", "WHAT WOULD HAPPEN"),
            [row for gate, case in found for row in _rows(now, gate, case, zone)],
        )
    else:
        say("There are no gates." if every else "Nothing waits for a decision.")
    if any(gate.state is GateState.OPEN for gate, _ in found):
        say()
        number = str(found[0][0].id) if len(found) == 1 else "GATE"
        say(f"Read the card  {here.typed(f'gate show {number}')}")
        say(f"Say yes        {here.typed(f'gate approve {number}')}")
        say(f"Say no         {here.typed(f'gate deny {number} --reason TEXT')}")
    for hold, name in standing:
        since = at_text(hold.placed_at, zone, now)
        say()
        say(f"Frozen: {hold.tool or 'everything'}, by {name} since {since}: {one_line(hold.reason)}")


@command(app, "show")
def show(
    here: Here,
    number: GateNumber,
    as_: As = BY_DEFAULT,
    full: Annotated[bool, typer.Option("--full", help="Every argument whole, however long.")] = False,
    json: Json = False,
) -> None:
    """The card of a gate: what exactly would happen, why, who decides, and what if nobody does."""
    if json:
        document(here.read(_shown_json, here.now, as_, number, here.zone))
        return
    gate, shown = here.read(_shown, here.now, as_, number, here.zone, full=full)
    # A terminal has no buttons: in their place stands what to type.
    for line in render_card(shown.model_copy(update={"verbs": ()})).split("\n"):
        say(line if full else "\n".join(row_of_card(line)))  # whole, it is not broken either
    if gate.state is not GateState.OPEN:
        return
    say()
    if not full and is_shortened(shown):
        whole = here.typed(f"gate show {number} --full")
        say(f"An argument is shown in part. Read it whole before you approve: {whole}")
        return
    for what, verb in story.answers(gate)[1:]:
        whole = f" --digest {gate.digest_shown[:8]}" if full and verb.startswith("approve") else ""
        say(f"{what:<14}{here.typed(f'gate {verb}{whole}')}")


def is_shortened(shown: Card) -> bool:
    """Whether a card leaves out a part of what would run, which has to be read before it is approved."""
    return any(argument.shortened for argument in shown.arguments)


def _rows(now: int, gate: Gate, case: Case, zone: tzinfo | None) -> Iterator[tuple[str, str, str, str]]:
    """Two lines: the same call may be asked in several cases, and only what each is for tells them apart."""
    yield str(gate.id), case.label, _when(now, gate, zone), gate.statement
    yield "", "", "", f"asked {at_text(gate.asked_at, zone, now)} for: {case.title}"


def _when(now: int, gate: Gate, zone: tzinfo | None) -> str:
    if gate.state is not GateState.OPEN:
        return f"{gate.state} {at_text(gate.decided_at or 0, zone, now)}"
    return f"in {span_text(gate.expires_at - now)}" if gate.expires_at > now else "has expired"


def _listed(tx: Tx, as_: str, every: bool, most: int) -> tuple[list[tuple[Gate, Case]], list[tuple[Hold, str]]]:
    found = gates.listing(tx, gating.scope_of(who.acting(tx, as_)), only_open=not every, most=most)
    standing = [(hold, who.name_of(tx, hold.placed_by)) for hold in holds.listing(tx)]
    return [(gate, cases.by_id(tx, gate.case_id)) for gate in found], standing


def _listed_json(tx: Tx, as_: str, every: bool, most: int) -> Document:
    found = gates.listing(tx, gating.scope_of(who.acting(tx, as_)), only_open=not every, most=most)
    return {
        "gates": [
            gate_json(gate, case=cases.by_id(tx, gate.case_id), roles=gates.roles_of(tx, gate.id)) for gate in found
        ],
        "holds": [row_json(hold) for hold in holds.listing(tx)],
    }


def _shown(
    tx: Tx, now: int, as_: str, number: int, zone: tzinfo | None, *, full: bool = False
) -> tuple[Gate, Card]:  # fmt: skip
    gate = gates.get(tx, gating.scope_of(who.acting(tx, as_)), number)
    shown = card.of_gate(tx, now, gate, zone)
    return gate, shown.model_copy(update={"arguments": tuple(_whole(gate))}) if full else shown


def _shown_json(tx: Tx, now: int, as_: str, number: int, zone: tzinfo | None) -> Document:
    gate, shown = _shown(tx, now, as_, number, zone)
    case, roles = cases.by_id(tx, gate.case_id), gates.roles_of(tx, gate.id)
    return gate_json(gate, case=case, roles=roles, card=shown)


def _whole(gate: Gate) -> Iterator[Argument]:
    """Every argument with its whole value; those an approver changed with what they were."""
    asked = decode(gate.args)
    for name, value in (asked if gate.changed_args is None else decode(gate.changed_args)).items():
        was = None if value == asked.get(name) else _text(asked.get(name))
        yield Argument(name=name, value=_text(value), was=was)


def _text(value: object) -> str:
    return value if isinstance(value, str) else encode(value)
