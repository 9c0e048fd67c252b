"""Answers to a gate: `gate approve`, `deny`, `revise`; and to an outcome, `happened`, `not-happened`, `rerun`."""

from collections.abc import Mapping
from datetime import tzinfo
from typing import Annotated

import typer

from bot.cli import who
from bot.cli.arguments import BY_DEFAULT, As, GateNumber, Reason, changes, digest_shown
from bot.cli.case import worked
from bot.cli.command import command
from bot.cli.gate import app, is_shortened
from bot.cli.here import Here
from bot.cli.out import say
from bot.cli.toolbox import tool_named
from bot.errors import Refused
from bot.gates import card, gating
from bot.gates.gating import Reply
from bot.tools.declare import Tool
from casestore import gates
from casestore.canonical import decode, encode
from casestore.deciding import Decision
from casestore.models import Gate
from casestore.states import GateState, Verb
from casestore.tx import Tx
from channels.storable import storable

Digest = Annotated[
    str | None,
    typer.Option(
        "--digest", metavar="HEX", parser=digest_shown, help="Of what you were shown; refused if it is another by now."
    ),
]


@command(app, "approve")
def approve(
    here: Here,
    number: GateNumber,
    reason: Reason = "",
    changed: Annotated[
        list[str] | None, typer.Option("--set", metavar="ARG=JSON", help="Run it with another value; may be repeated.")
    ] = None,
    digest: Digest = None,
    as_: As = BY_DEFAULT,
) -> None:
    """Yes: the call is made, once, exactly as the card shows it (or as --set changes it)."""
    new = changes(changed or [])
    tool = tool_named(here, here.read(_gate, as_, number).tool) if new else None
    reply = here.write(_decide, here.now, as_, number, Verb.APPROVE, digest, reason, here.zone, new, tool)
    told(here, reply)


@command(app, "deny")
def deny(
    here: Here, number: GateNumber, reason: Reason = "", digest: Digest = None, as_: As = BY_DEFAULT
) -> None:  # fmt: skip
    """No: the call is not made, and the assistant is told, with the reason."""
    _answer(here, number, Verb.DENY, as_, digest, reason)


@command(app, "revise")
def revise(
    here: Here,
    number: GateNumber,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", parser=storable, help="What the assistant should do instead.")
    ],
    digest: Digest = None,
    as_: As = BY_DEFAULT,
) -> None:
    """Not like this: the call is not made, and the assistant is told what to do instead."""
    _answer(here, number, Verb.REVISE, as_, digest, reason)


@command(app, "happened")
def happened(here: Here, number: GateNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """Answer "did it happen?": it did."""
    _answer(here, number, Verb.HAPPENED, as_, None, reason)


@command(app, "not-happened")
def not_happened(here: Here, number: GateNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """Answer "did it happen?": it did not, and is not tried again."""
    _answer(here, number, Verb.NOT_HAPPENED, as_, None, reason)


@command(app, "rerun")
def rerun(here: Here, number: GateNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """Answer "did it happen?": run it again."""
    _answer(here, number, Verb.RERUN, as_, None, reason)


def _answer(here: Here, number: int, verb: Verb, as_: str, digest: str | None, reason: str) -> None:
    told(here, here.write(_decide, here.now, as_, number, verb, digest, reason, here.zone))


def told(here: Here, reply: Reply) -> None:
    """What was decided and what comes of it. Raises `Refused` where somebody else's answer counts, or none (R5)."""
    gate = reply.gate
    if not reply.taken:
        raise Refused(reply.text)
    say(reply.text)
    if gate.changed_args is not None:
        new = ", ".join(f"{name} = {encode(value)}" for name, value in decode(gate.changed_args).items())
        say(f"It runs with: {new}")
    say(worked(here))


def _gate(tx: Tx, as_: str, number: int) -> Gate:
    return gates.get(tx, gating.scope_of(who.acting(tx, as_)), number)


def _decide(
    tx: Tx, now: int, as_: str, number: int, verb: Verb, digest: str | None, reason: str, zone: tzinfo | None,
    new: Mapping[str, object] | None = None, tool: Tool | None = None,
) -> Reply:  # fmt: skip
    by = who.acting(tx, as_)
    gate = gates.get(tx, gating.scope_of(by), number)
    if verb is Verb.APPROVE and digest is None and gate.state is GateState.OPEN and gate.expires_at > now:
        _refuse_unread(tx, now, gate, zone)
    decision = Decision(
        verb, digest or gate.digest_shown, via="cli", reason=reason.strip() or None,
        changed_args=gating.changed(tool, gate, new) if new else None,
    )  # fmt: skip
    return gating.decide(tx, now, by, gate.id, decision, zone)


def _refuse_unread(tx: Tx, now: int, gate: Gate, zone: tzinfo | None) -> None:
    """What a card shows only in part is not approved unread: the digest comes with the whole."""
    if is_shortened(card.of_gate(tx, now, gate, zone)):
        raise Refused(
            f"The card of gate {gate.id} shows an argument only in part. Read it whole with: "
            f"casebound gate show {gate.id} --full. It ends with the command that approves it."
        )
