"""`casebound up`: the service, with everything that is configured, until it is told to stop."""

import asyncio
import logging
import os
from importlib import import_module
from typing import Annotated

import typer

from bot import logs
from bot.cli import stopping, welcome
from bot.cli.command import command
from bot.cli.engine import engine
from bot.cli.here import Here
from bot.cli.out import say
from bot.doctor import listened_to
from bot.redaction import Redaction
from bot.settings import Settings, load

log = logging.getLogger("casebound.up")

Host = Annotated[str | None, typer.Option("--host", metavar="HOST", help="Where to listen; otherwise 127.0.0.1.")]
Port = Annotated[
    int | None,
    typer.Option("--port", metavar="PORT", min=0, max=65_535, help="Otherwise 8642; 0 takes any that is free."),
]


def add_to(app: typer.Typer) -> None:
    """Make it a command of `casebound`."""
    command(app, "up")(up)


def up(here: Here, host: Host = None, port: Port = None) -> None:
    """Start the service: it works cases, delivers what is said, and listens for alerts and for the API.

    A first start makes the database and what belongs to it; a start on an existing one continues where it was.
    """
    settings = load(here.given_config, service={"db": here.given_db, "host": host, "port": port})
    redaction = here.log(settings, whole=True)
    import_module("bot.web.server")  # before the loop runs, which it would hold up
    asyncio.run(_serve(here, settings, redaction))


async def _serve(here: Here, settings: Settings, redaction: Redaction) -> None:
    from bot.web.server import serving

    told = stopping.listen()
    host, port = settings.service.host, settings.service.port
    name = f"casebound up (pid {os.getpid()}{f', port {port}' if port else ''})"
    async with engine(settings, name, redaction, everywhere=True) as service, serving(service, host, port) as bound:
        logs.event(log, "service.started", db=settings.service.db, host=host, port=bound)
        counted = await service.store.read(welcome.counted, tuple(service.channels), listened_to(settings))
        for line in welcome.lines(
            settings, bound, here.now, here.typed, counted, service.servers, new=service.first_start
        ):
            say(line)
        await told.wait()
        logs.event(log, "service.stopping")
    logs.event(log, "service.stopped")
