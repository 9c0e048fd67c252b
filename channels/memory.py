"""A channel that is only memory: for tests, and for trying things out without a platform.

It behaves like a platform: it keeps what people said and what was posted, numbers its messages, delivers
again what the receiver refused, and fails when told to. The instance is the platform: to restart *us*, stop
and start it. `name` may be another channel's, to stand in for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal

from channels.card import Verb
from channels.errors import CannotTell, ChannelError, RetryLater, ThreadGone, Undeliverable
from channels.messages import (
    Account,
    Address,
    Card,
    Command,
    Content,
    Gone,
    Inbound,
    Outbound,
    Press,
    Quoting,
    Resumed,
    Sent,
)
from channels.plain import render
from channels.port import Receiver

Call = Literal["send", "edit", "delete"]


@dataclass(frozen=True, slots=True)
class Edited:
    """One edit that was accepted."""

    address: Address
    platform_id: str
    content: Content


class MemoryChannel:
    """The fake. It records in `sent`, `edited`, `deleted` and `unacknowledged`; `standing` is the sum.

    It never recognises a repeated send by itself: two sends of one nonce are two messages, so that a test can
    see a duplicate. `can_find=False` makes it a platform that cannot say what became of a send.
    """

    def __init__(self, name: str = "memory", *, can_find: bool = True, first_at: int = 0) -> None:
        self.sent: list[Sent] = []
        self.edited: list[Edited] = []
        self.deleted: list[tuple[Address, str]] = []
        self.unacknowledged: list[Inbound] = []
        self._name = name
        self._can_find = can_find
        self._at = first_at
        self._numbers = 0
        self._receiver: Receiver | None = None
        self._away = False
        self._history: list[Inbound] = []
        self._standing: dict[tuple[Address, str], Outbound] = {}
        self._gone: dict[Address, str] = {}
        self._failures: dict[Call, deque[tuple[ChannelError, bool]]] = {
            "send": deque(), "edit": deque(), "delete": deque()
        }  # fmt: skip

    @property
    def name(self) -> str:
        return self._name

    @property
    def connected(self) -> bool:
        return self._receiver is not None and not self._away

    # The port

    async def start(self, receiver: Receiver) -> None:
        self._receiver, self._away = receiver, False

    async def stop(self) -> None:
        self._receiver = None

    async def begin(
        self, place: Address, label: str, title: str, people: Sequence[str], *, since: int
    ) -> Address | None:  # fmt: skip
        """Its threads begin with what is said first."""
        return None

    async def send(self, outbound: Outbound) -> str:
        lost = self._fault("send", outbound.address)
        platform_id = self._next_id("b")
        self.sent.append(Sent(outbound=outbound, platform_id=platform_id))
        self._standing[outbound.address, platform_id] = outbound
        if lost:
            raise lost
        return platform_id

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        lost = self._fault("edit", address)
        outbound = self._standing.get((address, platform_id))
        if outbound is None:
            raise Undeliverable(f"there is no message {platform_id} at {address}")
        self.edited.append(Edited(address, platform_id, content))
        edited = outbound.model_copy(update={"content": content, "possible_duplicate": False})
        self._standing[address, platform_id] = edited
        if lost:
            raise lost

    async def delete(self, address: Address, platform_id: str) -> None:
        lost = self._fault("delete", address)
        self.deleted.append((address, platform_id))
        self._standing.pop((address, platform_id), None)
        if lost:
            raise lost

    async def working(self, address: Address, words: str) -> None:
        """It has no such line."""

    async def find(self, address: Address, nonce: str) -> str | None:
        self._usable(address)
        if not self._can_find:
            raise CannotTell("this channel was made without a way to look")
        for sent in self.sent:
            if sent.outbound.address == address and sent.outbound.nonce == nonce:
                return sent.platform_id
        return None

    async def catch_up(self, address: Address, after: str | None) -> AsyncIterator[Inbound]:
        self._usable(address)
        said = [inbound for inbound in self._history if inbound.address == address]
        ids = [inbound.platform_id for inbound in said]
        # A position we do not know (its message was deleted) means all: twice is better than never.
        for inbound in said[ids.index(after) + 1 if after in ids else 0 :]:
            yield inbound

    async def direct(self, since: int) -> AsyncIterator[tuple[Address, str]]:
        """It keeps no list of them."""
        self._usable_at_all()
        for found in ():
            yield found

    # What people and the platform do

    def go_away(self) -> None:
        """The connection is lost: what people say from now on stands in the history, and nobody is told."""
        self._away = True

    async def come_back(self) -> None:
        """The connection is there again."""
        self._away = False
        await self._listening().resumed(Resumed(channel=self._name))

    async def say(
        self,
        text: str,
        *,
        address: Address,
        account: Account,
        addressed: bool = True,
        platform_id: str | None = None,
    ) -> Inbound:
        """Somebody says `text`. It stays in the history; if we are started, it is delivered at once."""
        self._at += 1
        inbound = Inbound(
            address=address,
            account=account,
            platform_id=platform_id or self._next_id("p"),
            text=text,
            addressed=addressed,
            at=self._at,
        )
        self._history.append(inbound)
        await self.deliver(inbound)
        return inbound

    async def deliver(self, inbound: Inbound) -> bool:
        """Hand it over, again if need be; whether it was acknowledged. If not, it is `unacknowledged`."""
        if self._receiver is None or self._away:
            return False
        try:
            await self._receiver.inbound(inbound)
        except Exception:
            # The platform's side of R29: whatever the reason, it only sees that no acknowledgement came.
            if inbound not in self.unacknowledged:
                self.unacknowledged.append(inbound)
            return False
        if inbound in self.unacknowledged:
            self.unacknowledged.remove(inbound)
        return True

    async def redeliver(self) -> None:
        """What was not acknowledged comes again, in order."""
        for inbound in list(self.unacknowledged):
            await self.deliver(inbound)

    async def press(
        self,
        address: Address,
        platform_id: str,
        verb: Verb,
        account: Account,
        *,
        reason: str | None = None,
        seen: Card | None = None,
    ) -> str:
        """Somebody presses a button; `seen` is the card on their screen when it is not the newest."""
        card = seen or self.standing(address).get(platform_id)
        if not isinstance(card, Card):
            raise LookupError(f"There is no card {platform_id} at {address} to press.")
        press = Press(
            address=address,
            platform_id=platform_id,
            account=account,
            gate_id=card.gate_id,
            verb=verb,
            digest8=card.digest8,
            reason=reason,
        )
        return await self._listening().press(press)

    async def type_command(self, text: str, *, address: Address, account: Account) -> str:
        """Somebody gives a command; what they are answered."""
        return await self._listening().command(Command(address=address, account=account, text=text))

    async def quote(self, said: Inbound, *, by: Account) -> str:
        """Somebody uses the menu of a message to have a case on it; what they are answered."""
        return await self._listening().quoted(Quoting(by=by, said=said))

    async def lose(self, address: Address, reason: str = "deleted") -> None:
        """The thread is deleted, archived, locked: calls for it fail, and the receiver is told."""
        self._gone[address] = reason
        if self._receiver is not None:
            await self._receiver.gone(Gone(address=address, reason=reason))

    def fail(self, *errors: ChannelError, on: Call = "send", accepted: bool = False) -> None:
        """The next calls raise these, one each; with `accepted`, after the platform has done it."""
        self._failures[on].extend((error, accepted) for error in errors)

    # What stands there now

    def standing(self, address: Address) -> dict[str, Content]:
        """What is to be seen at `address`: the content of each message by its id, oldest first."""
        standing = self._standing.items()
        return {platform_id: outbound.content for (at, platform_id), outbound in standing if at == address}

    def texts(self, address: Address) -> list[str]:
        """The same as plain text."""
        return [
            render(outbound.content, possible_duplicate=outbound.possible_duplicate)
            for (at, _), outbound in self._standing.items()
            if at == address
        ]

    def _listening(self) -> Receiver:
        if self._receiver is None:
            raise RuntimeError("The channel is stopped: start it before somebody presses or commands.")
        return self._receiver

    def _next_id(self, kind: str) -> str:
        self._numbers += 1
        return f"{kind}{self._numbers}"

    def _usable_at_all(self) -> None:
        if self._receiver is None:
            raise RetryLater(0, f"{self._name} is stopped")

    def _usable(self, address: Address) -> None:
        self._usable_at_all()
        if address in self._gone:
            raise ThreadGone(str(address), self._gone[address])

    def _fault(self, call: Call, address: Address) -> ChannelError | None:
        """Raise what comes before the platform accepts; return what comes after."""
        self._usable(address)
        if not self._failures[call]:
            return None
        error, accepted = self._failures[call].popleft()
        if accepted:
            return error
        raise error
