"""`casebound case file`: the copy of what somebody attached, put where the one who asks says, under no name of its own.

What a file is called is its sender's word, and no part of any path here.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import who
from bot.cli.arguments import BY_DEFAULT, As, CaseNumber, FileNumber
from bot.cli.case import app
from bot.cli.command import command
from bot.cli.here import Here
from bot.cli.out import nobody_reads, say
from bot.errors import Refused
from bot.gates import gating
from casestore import attachments, cases
from casestore.models import File
from casestore.tx import Tx


@command(app, "file")
def file(
    here: Here,
    number: CaseNumber,
    file_id: FileNumber,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="PATH", help="A new file; without it, the bytes go to stdout."),
    ] = None,
    as_: As = BY_DEFAULT,
) -> None:
    """The copy of a file that somebody attached, byte for byte."""
    if output is None and sys.stdout.isatty():
        raise Refused("What is in a file may do anything to a terminal. Say where to put it: --output PATH")
    found, content = here.read(_copy, as_, number, file_id)
    if output is None:
        _to_stdout(content)
        return
    try:
        with output.open("xb") as written:
            written.write(content)
    except FileExistsError:
        raise Refused(f"{output} is there already, and is left as it is. Name another place: --output PATH") from None
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise Refused(f"{output} cannot be written ({why}). Name another place: --output PATH") from None
    say(f"{output} holds file {found.id}: {len(content):,} bytes, SHA-256 {found.digest}.")


def _to_stdout(content: bytes) -> None:
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        nobody_reads()


def _copy(tx: Tx, as_: str, number: int, file_id: int) -> tuple[File, bytes]:
    scope = gating.scope_of(who.acting(tx, as_))
    return attachments.content(tx, scope, cases.get(tx, scope, number).id, file_id)
