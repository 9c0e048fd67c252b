"""`casebound db …`: the file itself."""

import os
from typing import Annotated

import typer

from bot.cli.arguments import Json
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import document, say
from bot.errors import Refused
from bot.present import verification_json
from casestore.check import check
from casestore.errors import StoreUnusable
from casestore.locks import ServiceLock
from casestore.migrate import migrate, newest, version_of

app = group("db", "The database file: its version, and whether it is whole.")


@command(app, "version")
def version(here: Here, json: Json = False) -> None:
    """The file's version, and the newest that this casebound knows."""
    found, known = _version(here), newest()
    if json:
        document({"path": str(here.db), "version": found, "newest": known})
        return
    hint = "" if found == known else f" Back it up, then: {here.typed('db migrate')}"
    say(f"{here.db} has version {found}; this casebound works with {known}.{hint}")


@command(app, "migrate")
def migrate_(
    here: Here,
    to: Annotated[int | None, typer.Option("--to", min=0, metavar="VERSION", help="Otherwise the newest.")] = None,
    down: Annotated[
        bool, typer.Option("--down", help="Allow an older version, which loses what it has no place for.")
    ] = False,
) -> None:
    """Bring the file to the version that this casebound works with. Back it up before."""
    before, target = _version(here), newest() if to is None else to
    if target < before and not down:
        raise Refused(f"{here.db} has version {before}. Going down to {target} loses data; say --down if you mean it.")
    lock = ServiceLock.take(here.db, f"casebound db migrate (pid {os.getpid()})")
    try:
        before, after = migrate(here.db, to)
    finally:
        lock.release()
    say(f"{here.db} has version {after}{', as before' if after == before else f'; it had {before}'}.")


@command(app, "check")
def check_(here: Here, json: Json = False) -> None:
    """Is the file whole? Its pages and indexes, its references, its version, every trail."""
    found = here.read(check)
    trails = {f"C-{number}": verification_json(one) for number, one in found.trails}
    if json:
        document({
            "ok": not found.problems, "path": str(here.db), "version": newest(), "damage": list(found.damage),
            "dangling": list(found.dangling), "trails": {**trails},
        })  # fmt: skip
    else:
        for problem in found.problems:
            say(problem)
    if found.problems:
        count = len(found.problems)
        raise Refused(
            f"{here.db} is not whole: {count} problem{'s' if count > 1 else ''}. Keep it as it is and restore a backup."
        )
    if not json:
        say(f"{here.db} is whole: version {newest()}, {len(trails)} trail{'s' if len(trails) != 1 else ''} verified.")


def _version(here: Here) -> int:
    if not here.db.exists():
        raise StoreUnusable(f"There is no database at {here.db}. {here.typed('up')} makes one.")
    return version_of(here.db)
