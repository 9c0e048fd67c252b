"""`casebound doctor`: what is configured, what is missing, and what to do about it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Annotated

import typer
from pydantic import JsonValue

from bot.cli.arguments import Json
from bot.cli.command import command
from bot.cli.here import Here
from bot.cli.out import block, document, say
from bot.cli.toolbox import reached
from bot.errors import Refused, SettingsError
from bot.settings import Settings
from bot.tools.declare import Tool
from channels.findings import Finding

Room = Annotated[
    str | None,
    typer.Option("--room", metavar="ID", help="Where a test card is posted and taken away; else the approvals room."),
]
_INDENT = " " * 8


def add_to(app: typer.Typer) -> None:
    """Make it a command of `casebound`."""
    command(app, "doctor")(doctor)


def doctor(here: Here, room: Room = None, json: Json = False) -> None:
    """Is everything set up? Each part is looked at for real, and what is amiss says what to do.

    It changes nothing here, asks each model that is named one short question, and posts one test card, which it takes
    away again, where a room is named.
    """
    try:
        read = _settings(here)
    except SettingsError as error:  # nothing else can be looked at then
        _tell([Finding("settings", str(error), "Mend that, then look again.")], json)
        raise
    found = asyncio.run(_looked_at(here, read, room, tell=not json))
    amiss = [finding for finding in found if not finding.ok]
    if json:
        _tell(found, json)
    if amiss:
        many = "One thing has" if len(amiss) == 1 else f"{len(amiss)} things have"
        raise Refused(f"{many} to be done: {', '.join(one.what for one in amiss)}.")
    if not json:
        say("All is well.")


def _settings(here: Here) -> Finding:
    """Where the settings come from. Raises `SettingsError`."""
    from bot.settings.load import DEFAULT_FILE

    _ = here.settings
    file = here.given_config or (DEFAULT_FILE if DEFAULT_FILE.exists() else None)
    where = f"From {file} and the environment" if file else "From the environment; there is no casebound.toml here"
    return Finding("settings", f"{where}. Every key is known, and every value can be used.")


def _tell(found: list[Finding], json: bool) -> None:
    """All of it: as the one document, or as lines."""
    if json:
        shown: list[JsonValue] = [
            {"what": one.what, "ok": one.ok, "found": one.found, "to_do": one.to_do or None} for one in found
        ]
        document({"ok": all(one.ok for one in found), "findings": shown})
        return
    for one in found:
        for line in _lines(one):
            say(line)


async def _looked_at(here: Here, read: Finding, room: str | None, *, tell: bool) -> list[Finding]:
    found = [read]
    if tell:
        _tell(found, json=False)
    async for finding in _all(here, room):
        found.append(finding)
        for line in _lines(finding) if tell else ():
            say(line)
    return found


async def _all(here: Here, room: str | None) -> AsyncIterator[Finding]:
    from bot import doctor as look
    from bot.app import configured
    from bot.models.trying import of_assistant
    from bot.policy import unknown

    settings = here.settings
    file = look.of_the_file(settings)
    yield file
    tools, found = await _tools(here)
    books, of_books = _playbooks(settings)
    async for finding in of_assistant(settings, tools, books):
        yield finding
    for finding in (*of_books, *look.of_prompt(settings), *found):
        yield finding
    yield look.of_alerts(settings)
    channels = configured(settings)
    async for finding in look.of_channels(channels, _rooms(settings, room)):
        yield finding
    if file.ok:
        async with here.store() as store:
            for finding in look.of_profiles(await store.read(unknown.people, settings)):
                yield finding
            async for finding in look.of_people(store, channels, look.listened_to(settings)):
                yield finding


async def _tools(here: Here) -> tuple[Sequence[Tool] | None, list[Finding]]:
    """Those that a model is offered, or None where they cannot be put together; and what is found of them."""
    from bot import doctor as look
    from bot.policy import unknown

    settings = here.settings
    try:
        async with reached(here) as (tools, servers):
            strange = [
                one
                for name, server in servers.all.items()
                if server.trouble is None  # else it is not known which tools it has
                for one in unknown.tools(settings, tools.tools, name)
            ]
            return tools.offered, [*look.of_servers(servers, settings), *look.of_profiles(strange)]
    except SettingsError as error:
        return None, [look.of_refused("tools", error)]


def _playbooks(settings: Settings) -> tuple[int | None, list[Finding]]:
    """How many there are; None, and why, where one of them cannot be used."""
    from bot import doctor as look
    from bot.playbook import PlaybookError, load_playbooks

    try:
        return len(load_playbooks(settings.playbooks.paths)), []
    except PlaybookError as error:
        return None, [look.of_refused("playbooks", error)]


def _rooms(settings: Settings, room: str | None) -> dict[str, str | None]:
    """Where a card is tried on each channel; a `room` that is named is Discord's where it is a number."""
    rooms = {"slack": settings.slack.approvals_room, "discord": settings.discord.operators_room}
    return rooms if room is None else {**rooms, "discord" if room.isdecimal() else "slack": room}


def _lines(finding: Finding) -> list[str]:
    lines = block(f"{finding.what}. {finding.found}", first="ok      " if finding.ok else "TO DO   ", indent=_INDENT)
    return [*lines, *(block(f"→ {finding.to_do}", first=_INDENT, indent=_INDENT + "  ") if finding.to_do else ())]
