"""A conversation in a terminal: what is typed comes in, what is said is printed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TextIO

from channels.errors import CannotTell, RetryLater, ThreadGone, Undeliverable
from channels.lines import Lines
from channels.messages import Account, Address, Command, Content, Inbound, Outbound
from channels.plain import render
from channels.port import Receiver
from channels.visible import inert

HOME = Address(channel="console", space="local", room="you", thread="main")
"""Where the terminal's conversation is."""

_logger = logging.getLogger(__name__)


class ConsoleChannel:
    """The terminal as a channel, for one person at one address.

    A typed line is a message to the bot; one that starts with a slash is a command. Blank lines are nothing.
    A terminal only ever adds lines: an edit prints the message again, marked, and nothing can be taken back.
    `now` gives milliseconds UTC; `new_id` gives ids that no earlier conversation at this address has used.
    """

    def __init__(
        self,
        person: str,
        *,
        source: TextIO,
        output: TextIO,
        now: Callable[[], int],
        new_id: Callable[[], str],
        address: Address = HOME,
    ) -> None:
        self.account = Account(channel="console", space="local", account_id=person, display_name=person)
        self.address = address
        self._lines = Lines(source)
        self._output = output
        self._now = now
        self._new_id = new_id
        self._listening: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return "console"

    @property
    def connected(self) -> bool:
        return self._listening is not None and not self._listening.done()

    async def start(self, receiver: Receiver) -> None:
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen(receiver), name="console lines")

    async def stop(self) -> None:
        if self._listening is None:
            return
        listening, self._listening = self._listening, None
        listening.cancel()
        await _over(listening)

    async def until_end(self) -> None:
        """Returns when the person has ended their input and all of it was handed over; or on `stop`."""
        if self._listening is not None:
            await _over(self._listening)

    async def begin(
        self, place: Address, label: str, title: str, people: Sequence[str], *, since: int
    ) -> Address | None:  # fmt: skip
        """A terminal has one thread, which is there."""
        return None

    async def send(self, outbound: Outbound) -> str:
        self._usable(outbound.address)
        self._print(render(outbound.content, possible_duplicate=outbound.possible_duplicate))
        return self._new_id()

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        self._usable(address)
        self._print(f"(changed) {render(content)}")

    async def delete(self, address: Address, platform_id: str) -> None:
        self._usable(address)
        raise Undeliverable("a terminal cannot take back what it has printed")

    async def working(self, address: Address, words: str) -> None:
        """A terminal has no such line."""

    async def find(self, address: Address, nonce: str) -> str | None:
        self._usable(address)
        raise CannotTell("a terminal does not remember what it has printed")

    async def catch_up(self, address: Address, after: str | None) -> AsyncIterator[Inbound]:
        """Nothing: what was typed while nobody listened is still in the terminal, and comes as usual."""
        self._usable(address)
        for inbound in ():
            yield inbound

    async def direct(self, since: int) -> AsyncIterator[tuple[Address, str]]:
        """A terminal is one conversation, which is known."""
        self._usable(self.address)
        for found in ():
            yield found

    async def _listen(self, receiver: Receiver) -> None:
        while True:
            try:
                line = await self._lines.next()
            except (OSError, ValueError) as error:
                _logger.info("The terminal was closed: %s", type(error).__name__)
                return
            if line is None:
                return
            if line.strip():
                await self._hand_over(receiver, line)

    async def _hand_over(self, receiver: Receiver, line: str) -> None:
        """Give one line to the receiver. Nobody redelivers what was typed: the person hears of a failure."""
        try:
            if line.startswith("/"):
                command = Command(address=self.address, account=self.account, text=line)
                answer = await receiver.command(command)
            else:
                answer = await receiver.inbound(self._inbound(line))
        except Exception as error:
            _logger.error("What was typed was not accepted: %s", type(error).__name__)
            answer = "That was not stored. Please type it again."
        if answer:
            with contextlib.suppress(ThreadGone):  # nobody is there to read the answer
                self._print(answer)

    def _inbound(self, line: str) -> Inbound:
        return Inbound(
            address=self.address,
            account=self.account,
            platform_id=self._new_id(),
            text=line,
            addressed=True,
            at=self._now(),
        )

    def _usable(self, address: Address) -> None:
        if self._listening is None:
            raise RetryLater(0, "the conversation has not been started")
        if address != self.address:
            raise ThreadGone(str(address), f"this terminal shows {self.address}")

    def _print(self, text: str) -> None:
        """One message, in one write. Characters the terminal's encoding lacks are written as escapes."""
        encoding = self._output.encoding or "utf-8"
        safe = inert(text).encode(encoding, "backslashreplace").decode(encoding)
        try:
            self._output.write(f"{safe}\n")
            self._output.flush()
        except (OSError, ValueError):  # closed by the other side, or by us
            raise ThreadGone(str(self.address), "the terminal was closed") from None


async def _over(listening: asyncio.Task[None]) -> None:
    """Wait for its end, however that comes about; a fault of ours in it is raised here."""
    await asyncio.wait([listening])
    if not listening.cancelled():
        listening.result()
