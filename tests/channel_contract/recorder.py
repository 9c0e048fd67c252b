"""A receiver that stores in a list, for whoever tests a channel."""

from __future__ import annotations

import asyncio

from channels.home import Home
from channels.messages import Account, Card, Changed, Command, Gone, Inbound, Press, Quoting, Resumed


class Recorder:
    """A receiver that stores in a list, or refuses to."""

    def __init__(self) -> None:
        self.stored: list[Inbound] = []
        self.tried: list[Inbound] = []
        self.changes: list[Changed] = []
        self.presses: list[Press] = []
        self.commands: list[Command] = []
        self.lost: list[Gone] = []
        self.resumes: list[Resumed] = []
        self.quotings: list[Quoting] = []
        self.refusing = False
        self._changed = asyncio.Condition()

    async def inbound(self, inbound: Inbound) -> None:
        async with self._changed:
            self.tried.append(inbound)
            self._changed.notify_all()
        if self.refusing:
            raise OSError("the disk is full, says /secret/path")
        self.stored.append(inbound)

    async def quoted(self, asked: Quoting) -> str:
        self.quotings.append(asked)
        return "C-1001 is open on that message."

    async def changed(self, changed: Changed) -> None:
        if self.refusing:
            raise OSError("the disk is full, says /secret/path")
        async with self._changed:
            self.changes.append(changed)
            self._changed.notify_all()

    async def press(self, press: Press) -> str:
        self.presses.append(press)
        return "Approved by you."

    async def refusal(self, press: Press) -> str | None:
        return None

    async def whole(self, press: Press) -> Card | str:
        self.presses.append(press)
        return "There is no more to see."

    async def home(self, account: Account) -> Home | None:
        return None

    async def command(self, command: Command) -> str:
        async with self._changed:
            self.commands.append(command)
            self._changed.notify_all()
        return f"done: {command.text}"

    async def gone(self, gone: Gone) -> None:
        self.lost.append(gone)

    async def resumed(self, resumed: Resumed) -> None:
        async with self._changed:
            self.resumes.append(resumed)
            self._changed.notify_all()

    async def until_tried(self, count: int) -> None:
        """Returns once that many messages have arrived."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.tried) >= count)

    async def until_commanded(self, count: int) -> None:
        """Returns once that many commands have arrived."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.commands) >= count)

    async def until_changed(self, count: int) -> None:
        """Returns once that many edits and deletions have been stored."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.changes) >= count)

    async def until_resumed(self, count: int) -> None:
        """Returns once a channel has said so often that it is back."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.resumes) >= count)
