"""`casebound`: all nouns and verbs, put together."""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from bot.cli import (
    alert,
    case,
    case_file,
    case_hands,
    case_moves,
    chat,
    db,
    doctor,
    gate,
    gate_decide,
    gate_keep,
    principal,
    principal_link,
    prompt,
    run,
    tools,
    trail,
    up,
)
from bot.cli.command import Config, Db
from bot.cli.here import Here
from bot.cli.out import say

app = typer.Typer(
    name="casebound", no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    pretty_exceptions_enable=False,
)  # fmt: skip


def _version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        say(f"casebound {version('casebound')}")
    except PackageNotFoundError:
        say("casebound (run from its source, not installed)")
    raise typer.Exit


@app.callback()
def casebound(
    ctx: typer.Context,
    db: Db = None,
    config: Config = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version, and nothing else.")
    ] = False,
) -> None:
    """A support and operations bot that works cases and asks before it does what has consequences."""
    ctx.obj = Here(config, db)


# Their verbs are added to `case`, `gate` and `principal` as they are imported.
_ = (case_file, case_hands, case_moves, gate_decide, gate_keep, principal_link)

up.add_to(app)
chat.add_to(app)
doctor.add_to(app)
for noun in (case, gate, trail, run, principal, db, alert, tools, prompt):
    app.add_typer(noun.app)
