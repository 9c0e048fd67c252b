"""`casebound chat`: a conversation in the terminal, with the engine in this process or beside a running service."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli import stopping, who
from bot.cli.command import command
from bot.cli.conversation import Conversation, Setting
from bot.cli.engine import engine
from bot.cli.here import Here
from bot.cli.out import say
from bot.clock import SystemClock
from bot.errors import Refused
from bot.first_start import REQUESTER
from casestore import principals
from casestore.db import Store
from casestore.errors import ServiceRunning
from casestore.models import Principal
from casestore.tx import Tx
from channels.address import Address
from channels.storable import storable

if TYPE_CHECKING:
    from bot.app import Service

CHANNEL, SPACE, HOME = "console", "local", "main"

Speaker = Annotated[str, typer.Option("--as", metavar="PRINCIPAL", parser=storable, help="Who speaks.")]
New = Annotated[bool, typer.Option("--new", help="Begin another conversation, and another case.")]


def add_to(app: typer.Typer) -> None:
    """Make it a command of `casebound`."""
    command(app, "chat")(chat)


def chat(here: Here, new: New = False, as_: Speaker = REQUESTER) -> None:
    """Talk in the terminal. What you write goes into a case, and the answer comes here.

    Input that is piped in is answered before the command ends. Without a running service this works the cases itself
    for as long as it lasts.
    """
    import_module("bot.app")  # before the loop runs, which it would hold up
    asyncio.run(_chat(here, as_, new))


async def _chat(here: Here, as_: str, new: bool) -> None:
    from bot.app import console_channel

    told = stopping.listen()
    clock = SystemClock()
    async with _file(here) as (store, service, beside):
        person = await store.write(_admit, clock.now(), as_)

        def another() -> Address:
            return place_of(person, f"t{clock.now()}")

        address = another() if new else place_of(person, HOME)
        console = console_channel(person.name, address, source=sys.stdin, output=sys.stdout, clock=clock)
        setting = Setting(store, here.settings, clock, service, here.typed, another)
        typing = sys.stdin.isatty()
        if typing:
            _greet(person, beside)
        await Conversation(console, person.name, setting, told, waits=not typing).last()


@asynccontextmanager
async def _file(here: Here) -> AsyncGenerator[tuple[Store, "Service | None", str | None]]:
    """The file; the service that works in this process; and, where there is none, whose service does."""
    async with AsyncExitStack() as stack:
        try:
            name = f"casebound chat (pid {os.getpid()})"
            redaction = here.log(here.settings)
            service = await stack.enter_async_context(engine(here.settings, name, redaction))
        except ServiceRunning:
            store = await stack.enter_async_context(here.store())
            yield store, None, here.service or "another process"
        else:
            yield service.store, service, None


def place_of(person: Principal, thread: str) -> Address:
    """Where a person's conversation is; a name that cannot stand in an address gives way to the person's number."""
    room = person.name if re.fullmatch(r"[!-.0-~]{1,255}", person.name) else f"principal-{person.id}"
    return Address(channel=CHANNEL, space=SPACE, room=room, thread=thread)


def _admit(tx: Tx, now: int, name: str) -> Principal:
    """Who speaks: on this machine a name is enough, and the terminal's account is theirs from then on (R20)."""
    person = who.acting(tx, name)
    bound = principals.by_account(tx, CHANNEL, SPACE, name)
    if bound is None:
        principals.bind(
            tx, now, person.id, channel=CHANNEL, space=SPACE, account_id=name, bound_by=person.id
        )  # fmt: skip
    elif bound.id != person.id:
        account = f"{CHANNEL}:{SPACE}/{name}"
        raise Refused(f"The account {account} speaks for {bound.name}. Speak as them: --as {bound.name}")
    return person


def _greet(person: Principal, beside: str | None) -> None:
    say(f"You are {person.name}. Write what you need; it is kept in a case, and the answer comes here.")
    say("/new begins another conversation, /cases and /gates list yours, /quit ends.")
    if beside is not None:
        say(f"({beside} works the cases.)")
