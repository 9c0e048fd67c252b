"""One conversation in a terminal: lines in, messages out, until either side ends it."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot import ids, logs
from bot.cli import out
from bot.cli.terminal import Terminal
from bot.clock import Clock
from bot.errors import Refused
from bot.inbound.receiver import Receiver
from bot.outbound.delivery import Delivery
from bot.settings import Settings
from casestore import bindings, leases, outbox
from casestore.db import Store
from casestore.errors import StoreUnavailable
from casestore.models import Case, CaseId
from casestore.states import LeaseKind, OutboxState
from casestore.tx import Tx
from channels.home import Home
from channels.messages import Account, Address, Card, Changed, Command, Gone, Inbound, Press, Quoting, Resumed
from channels.port import Channel

if TYPE_CHECKING:
    from bot.app import Service

log = logging.getLogger("casebound.chat")

_POLL_S = 0.2
_POLLS_AT_MOST = 5  # between two looks at what was put off and is due again although nobody has written anything
_PATIENCE_S = 60.0


class Console(Channel, Protocol):
    """What a conversation needs of the terminal's channel beyond the port."""

    address: Address

    async def until_end(self) -> None:
        """Returns when all input was handed over."""
        ...


@dataclass(frozen=True)
class Setting:
    """Where a conversation takes place. `service` is this process's; None where another process has the engine."""

    store: Store
    settings: Settings
    clock: Clock
    service: "Service | None"
    typed: Callable[[str], str]
    another_place: Callable[[], Address]


class Conversation:
    """Receives for the terminal and adds two commands of its own: `/new` and `/quit`."""

    def __init__(self, console: Console, person: str, setting: Setting, told: asyncio.Event, *, waits: bool) -> None:
        """`told`: the process is told to stop. `waits`: what was said is answered before another thing happens."""
        zone, boot = setting.settings.service.zone, ids.boot_id()
        self._console, self._setting = console, setting
        self._terminal = Terminal(console, person, setting.typed)
        self._delivery = Delivery(setting.store, setting.clock, {console.name: self._terminal}, boot, zone)
        self._delivery.at = str(console.address)
        service = setting.service
        self._standby = None if service is None else service.standby
        if self._standby is not None:
            self._standby.speaks_on(self._terminal)
        wake = _nobody if service is None else service.engine.wake
        self._receiver = Receiver(
            setting.store, setting.clock, setting.settings, self._delivery, zone, wake, self._standby
        )  # fmt: skip
        self._delivering = asyncio.Lock()
        self._quit = asyncio.Event()
        self._told, self._waits = told, waits

    async def last(self) -> None:
        """Until the input ends, the person quits, nobody reads any more, or the process is told to stop.

        Raises `Refused` where what was said should have been answered and was not, within a minute.
        """
        await self._terminal.start(self)
        delivery = asyncio.create_task(self._deliver(), name="chat delivery")
        ends = [
            asyncio.create_task(self._console.until_end(), name="chat input"),
            *(asyncio.create_task(event.wait()) for event in (self._quit, self._terminal.closed, self._told)),
        ]
        try:
            await asyncio.wait([delivery, *ends], return_when=asyncio.FIRST_COMPLETED)
            if not delivery.done():
                await self._answered()
        finally:
            async with self._delivering:  # what is being shown is shown, and noted
                delivery.cancel()
            for task in ends:
                task.cancel()
            ended = await asyncio.gather(delivery, *ends, return_exceptions=True)
            await self._terminal.stop()
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def inbound(self, inbound: Inbound) -> str | None:
        """Store a line; after `/quit` nothing is said any more."""
        return None if self._quit.is_set() else await self._receiver.inbound(inbound)

    async def quoted(self, asked: Quoting) -> str:
        """A terminal has nothing to quote; whatever claims to is judged alike."""
        return await self._receiver.quoted(asked)

    async def changed(self, changed: Changed) -> None:
        """In a terminal nothing that was said can be taken back; whatever claims to be that is judged alike."""
        await self._receiver.changed(changed)

    async def press(self, press: Press) -> str:
        """A terminal has nothing to press; whatever claims to be a press is judged like any other."""
        return await self._receiver.press(press)

    async def refusal(self, press: Press) -> str | None:
        """The same of whatever claims to be about to be one."""
        return await self._receiver.refusal(press)

    async def whole(self, press: Press) -> Card | str:
        """The same of whatever claims to be one."""
        return await self._receiver.whole(press)

    async def home(self, account: Account) -> Home | None:
        """A terminal has no page of its own."""
        return await self._receiver.home(account)

    async def command(self, command: Command) -> str:
        """Answer a command."""
        match command.text.split():
            case ["/quit"]:
                self._quit.set()
                return ""
            case ["/new"]:
                await self._answered()
                async with self._delivering:  # nothing is on its way to the place that is left
                    self._console.address = self._setting.another_place()
                    self._delivery.at = str(self._console.address)
                return "What you write now goes into another case."
            case _:
                return out.fitted(await self._receiver.command(command))

    async def gone(self, gone: Gone) -> None:
        """The thread is lost."""
        await self._receiver.gone(gone)

    async def resumed(self, resumed: Resumed) -> None:
        """A terminal is never away; whatever claims to have been is judged alike."""
        await self._receiver.resumed(resumed)

    async def _deliver(self) -> None:
        """Show what is due here, as soon as it is noticed. What this process writes itself, nobody announces."""
        async with self._delivering:
            await self._delivery.reconcile()
        polls = 0
        while True:
            polls += 1
            if self._standby is not None or polls >= _POLLS_AT_MOST or await self._setting.store.changed_elsewhere():
                polls = 0
                async with self._delivering:
                    await self._show()
            await asyncio.sleep(_POLL_S)

    async def _show(self) -> None:
        try:
            while await self._delivery.deliver_due():
                continue
        except StoreUnavailable as error:
            logs.event(log, "chat.store_unavailable", logging.WARNING, error=error)

    async def _answered(self) -> None:
        """Wait, where that is wanted, until nothing is owed here any more."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _PATIENCE_S
        if self._waits and self._standby is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._standby.idle(), _PATIENCE_S)  # what cannot be stored is not seen below
        while self._waits and (case := await self._owed()) is not None:
            if self._told.is_set() or self._terminal.closed.is_set():
                return
            if loop.time() > until:
                more = self._setting.typed(f"case show {case.label}")
                raise Refused(f"There is no answer yet; {case.label} goes on without you. See: {more}")
            await asyncio.sleep(_POLL_S)

    async def _owed(self) -> Case | None:
        service, settings = self._setting.service, self._setting.settings
        # another process's model is what the settings say, as its file is
        talks = settings.model.talks if service is None else service.desk.worker.talks
        return await self._setting.store.read(owed, self._delivery.at or "", talks=talks)


def _nobody(_: CaseId) -> None:
    """The engine of another process notices by itself."""


def owed(tx: Tx, address: str, *, talks: bool) -> Case | None:
    """The case at an address, while something said there is unanswered or something for it is not shown.

    A case that waits for a person owes nothing: neither one that was taken over nor one at a gate, unless the
    assistant `talks` there and somebody has said something.
    """
    case = bindings.case_at(tx, address)
    if case is None:
        return None
    if leases.has_work(tx, case.id, talks=talks) and leases.of_case(tx, case.id).kind is not LeaseKind.HUMAN:
        return case
    unsaid = (OutboxState.DUE, OutboxState.SENDING)
    waiting = [row for row in outbox.of_case(tx, case.id) if row.address == address and row.state in unsaid]
    return case if waiting else None
