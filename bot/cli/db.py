"""`casebound db …`: the file itself."""

import asyncio
import os
from typing import Annotated

import typer

from bot.cli.arguments import Json
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import document, say
from bot.errors import Refused
from bot.words.present import verification_json
from casestore.check import Checked, check, damage
from casestore.errors import StoreDamaged, StoreUnusable
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
    damaged, found = asyncio.run(_checked(here))
    problems = (*damaged, *found.problems)
    if json:
        document({
            "ok": not problems,
            "path": str(here.db),
            "version": newest(),
            "damage": list(damaged),
            "dangling": list(found.dangling),
            "trails": {f"C-{number}": verification_json(one) for number, one in found.trails},
        })  # fmt: skip
    for problem in () if json else problems:
        say(problem)
    if problems:
        count = f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"
        raise Refused(f"{here.db} is not whole: {count}. Keep it as it is, and restore a backup.")
    if not json:
        trails = f"{len(found.trails)} trail{'' if len(found.trails) == 1 else 's'}"
        say(f"{here.db} is whole: version {newest()}, {trails} verified.")


async def _checked(here: Here) -> tuple[tuple[str, ...], Checked]:
    async with here.store() as store:
        found = damage(here.db)
        try:
            return found, await store.read(check)
        except StoreDamaged as error:  # as far as SQLite could look; there is no more to be read
            return found or (str(error),), Checked((), ())


def _version(here: Here) -> int:
    if not here.db.exists():
        raise StoreUnusable(f"There is no database at {here.db}. {here.typed('up')} makes one.")
    return version_of(here.db)
