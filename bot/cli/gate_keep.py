"""What else is done with a question: `gate extend`, `withdraw`; and with all of them: `freeze`, `thaw`."""

from datetime import tzinfo
from typing import Annotated

import typer

from bot.cli import who
from bot.cli.arguments import BY_DEFAULT, As, GateNumber, Reason, span
from bot.cli.command import command
from bot.cli.gate import app
from bot.cli.gate_decide import told
from bot.cli.here import Here
from bot.cli.out import say
from bot.cli.toolbox import tool_named
from bot.errors import Refused
from bot.gates import gating
from bot.gates.gating import Reply
from bot.settings import Settings
from bot.words.when import at_text
from casestore import holds
from casestore.models import Gate
from casestore.tx import Tx
from channels.storable import storable

ToolName = Annotated[str | None, typer.Option("--tool", metavar="NAME", help="One tool; otherwise everything.")]


@command(app, "extend")
def extend(
    here: Here,
    number: GateNumber,
    by: Annotated[int, typer.Argument(metavar="TIME", parser=span, help="How much more, such as 4h.")],
    as_: As = BY_DEFAULT,
) -> None:
    """Give people more time to decide, before the time is over."""
    gate = here.write(_extend, here.now, as_, number, by, here.settings)
    say(f"Gate {gate.id} waits until {at_text(gate.expires_at, here.zone, here.now)}.")


@command(app, "withdraw")
def withdraw(here: Here, number: GateNumber, reason: Reason = "", as_: As = BY_DEFAULT) -> None:
    """Take the question back: an operator's to do, or the requester's; for the assistant that is a no."""
    told(here, here.write(_withdraw, here.now, as_, number, reason, here.zone))


@command(app, "freeze")
def freeze(
    here: Here,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", parser=storable, help="Why; see gate list.")],
    tool: ToolName = None,
    as_: As = BY_DEFAULT,
) -> None:
    """From now on no approval is used, until it is thawed: of one tool, or of everything."""
    if not reason.strip():
        raise Refused("Say why, with --reason.")
    if tool is not None:
        tool_named(here, tool)
    here.write(_freeze, here.now, as_, tool, reason.strip())
    again = here.typed(f"gate thaw{f' --tool {tool}' if tool else ''}")
    say(f"Frozen: {tool or 'everything'}. An approval that comes up meanwhile is void. To thaw: {again}")


@command(app, "thaw")
def thaw(here: Here, tool: ToolName = None, as_: As = BY_DEFAULT) -> None:
    """Approvals are used again."""
    here.write(_thaw, here.now, as_, tool)
    say(f"Thawed: {tool or 'everything'}.")


def _extend(tx: Tx, now: int, as_: str, number: int, by: int, settings: Settings) -> Gate:
    return gating.extend(tx, now, who.acting(tx, as_), number, by, settings)


def _withdraw(tx: Tx, now: int, as_: str, number: int, reason: str, zone: tzinfo | None) -> Reply:
    return gating.withdraw(tx, now, who.acting(tx, as_), number, reason.strip(), via="cli", zone=zone)


def _freeze(tx: Tx, now: int, as_: str, tool: str | None, reason: str) -> None:
    holds.place(tx, now, tool=tool, reason=reason, by=who.operator(tx, as_, "freeze").id)


def _thaw(tx: Tx, now: int, as_: str, tool: str | None) -> None:
    holds.lift(tx, now, tool=tool, by=who.operator(tx, as_, "thaw").id)
