"""The shape of a channel, and of what a channel talks to.

An adapter implements `Channel` and is given a `Receiver`. Every failure it raises is one of `errors.py`. It
keeps nothing that must survive a restart: what is owed to people is in the outbox, what people said is with
the receiver or still with the platform.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

from channels.home import Home
from channels.messages import (
    Account,
    Address,
    Card,
    Changed,
    Command,
    Content,
    Gone,
    Inbound,
    Outbound,
    Press,
    Quoting,
    Resumed,
)


class Receiver(Protocol):
    """Where a channel hands over what arrives."""

    async def inbound(self, inbound: Inbound) -> str | None:
        """Store it. Returns when it is stored; raising means that it is not: do not acknowledge it (R29).

        A sentence: it was not to be stored, and its author is to be told so, alone where the platform can.
        """
        ...

    async def quoted(self, asked: Quoting) -> str:
        """Open a case on a message, and answer whoever asked for it, for them alone."""
        ...

    async def changed(self, changed: Changed) -> None:
        """Note that somebody has edited or deleted a message. Returns when that is stored; raises as `inbound` does."""
        ...

    async def press(self, press: Press) -> str:
        """Answer a press, in one sentence for that person alone. Empty: that the card changes is enough."""
        ...

    async def refusal(self, press: Press) -> str | None:
        """Why this person's answer would not be taken, in one sentence; None where it would be, or nobody can tell.

        To be asked before anything more is asked of them, such as a reason.
        """
        ...

    async def whole(self, press: Press) -> Card | str:
        """The card that was pressed with nothing left out; or why that person cannot see it, in one sentence."""
        ...

    async def command(self, command: Command) -> str:
        """Do what the command says and answer it, for that person alone."""
        ...

    async def home(self, account: Account) -> Home | None:
        """The page of one person; None for somebody who gets none. Raises as `inbound` does."""
        ...

    async def gone(self, gone: Gone) -> None:
        """Note that an address is lost. Returns when that is stored."""
        ...

    async def resumed(self, resumed: Resumed) -> None:
        """Have it read what was said while the channel was away. Returns at once, and never raises.

        To be told after every connection but the first, however short the time without one was, and once the
        platform delivers again: from then on nothing that is said is missed (R29).
        """
        ...


class Channel(Protocol):
    """One platform. Calls for one address must come one after another; different addresses may overlap."""

    @property
    def name(self) -> str:
        """The channel's part of an address: `slack`, `discord`, `console`."""
        ...

    @property
    def connected(self) -> bool:
        """Whether people's messages reach us now: for health, not for deciding whether to send."""
        ...

    async def start(self, receiver: Receiver) -> None:
        """Begin to listen. Starting what is started changes nothing. Raises `AuthFailed`."""
        ...

    async def stop(self) -> None:
        """Let go of everything: connections, tasks, files. Stopping what is stopped changes nothing."""
        ...

    async def begin(
        self, place: Address, label: str, title: str, people: Sequence[str], *, since: int
    ) -> Address | None:  # fmt: skip
        """The thread that `place` stands for, made, with these people in it; None where our first message begins it.

        Its name begins with `label`, which tells it from others that were made `since` (ms UTC, when the case was
        opened): done again, it is the same thread. `people` are the platform's ids. Raises as `send` does.
        """
        ...

    async def send(self, outbound: Outbound) -> str:
        """Send one message and return the platform's id for it.

        Raises `RetryLater` (also while stopped), `Uncertain`, `Undeliverable`, `ThreadGone`, `AuthFailed`.
        """
        ...

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        """Make the message show `content`. Doing it again is harmless. Raises as `send` does."""
        ...

    async def delete(self, address: Address, platform_id: str) -> None:
        """Take the message away; one that is not there counts as taken away.

        Raises as `send` does; `Undeliverable` where the platform cannot take back what was said.
        """
        ...

    async def working(self, address: Address, words: str) -> None:
        """Show beside the thread what is being done, as `is working on it…`; empty words take it away.

        Nothing where the platform has no such thing. Raises as `find` does, and `Undeliverable`.
        """
        ...

    async def find(self, address: Address, nonce: str) -> str | None:
        """What became of an uncertain send: the platform's id, or None when it is certainly not there.

        Raises `CannotTell` where the platform has no way to say, `RetryLater`, `ThreadGone`, `AuthFailed`.
        """
        ...

    def catch_up(self, address: Address, after: str | None) -> AsyncIterator[Inbound]:
        """People's messages at `address` since the one with id `after`, oldest first. None: all there are.

        May give some that were seen before, never leaves one out. Iterating raises as `find` does, and takes the
        time that the platform's limits ask for.
        """
        ...

    def direct(self, since: int) -> AsyncIterator[tuple[Address, str]]:
        """Every conversation with the bot alone that may have begun since then (ms UTC), as the platform lists them.

        Each with what stands for that time in it, for `catch_up`. None where the platform keeps no list.
        Iterating raises as `catch_up` does.
        """
        ...


@runtime_checkable
class SaysWhy(Protocol):
    """A channel that knows why it is not well."""

    @property
    def trouble(self) -> str | None:
        """What is wrong and what to do, for health; None where nothing is known to be wrong. It may heal by itself."""
        ...
