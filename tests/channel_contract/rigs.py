"""Every channel with the platform it talks to, so that one suite can ask the same of all of them.

To add a channel: write one factory that yields a `Rig`, and name it in `RIGS`.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from channels.card import Verb
from channels.console import HOME, ConsoleChannel
from channels.memory import MemoryChannel
from channels.messages import Account, Address, Card
from channels.plain import VERB_WORDS
from channels.port import Channel
from tests.channel_contract.discord_rig import discord_rig
from tests.channel_contract.recorder import Recorder
from tests.channel_contract.slack_rig import slack_rig

KIM = Account(channel="memory", space="S", account_id="U7", display_name="Kim")


class Rig(Protocol):
    """One channel, not yet started, and the people's side of it."""

    @property
    def channel(self) -> Channel: ...

    @property
    def receiver(self) -> Recorder: ...

    @property
    def address(self) -> Address: ...

    @property
    def hostile(self) -> tuple[str, ...]:
        """What would act on this platform if it arrived as it is."""
        ...

    @property
    def finds(self) -> bool:
        """Whether the platform can say what became of a send."""
        ...

    @property
    def takes_back(self) -> bool:
        """Whether the platform can delete what was said."""
        ...

    async def says(self, text: str) -> None:
        """A person says it in the thread; returns when the receiver was given it."""
        ...

    async def comes_again(self) -> bool:
        """What was not acknowledged is delivered again; False where the platform does no such thing."""
        ...

    async def goes_away(self) -> bool:
        """The connection is lost for a while; False where the platform has none that could be."""
        ...

    async def writes(self, text: str) -> None:
        """A person says it in the thread while nobody can be told."""
        ...

    async def comes_back(self) -> None:
        """The connection is there again."""
        ...

    def shown(self) -> list[str]:
        """What the thread shows, one string a message; the newest is the last."""
        ...

    def offered(self) -> set[Verb]:
        """What the newest message lets people press."""
        ...

    async def lose(self) -> Address:
        """An address of this channel where nothing can be said any more."""
        ...

    def is_platforms(self, task: asyncio.Task[object]) -> bool:
        """Whether a task is the platform's, which runs beside the channel here."""
        ...


class MemoryRig:
    hostile = ("\x1b[2J", "\x9b2J", "\u202e", "\r", "\x00")
    finds = True
    takes_back = True

    def __init__(self) -> None:
        self.receiver = Recorder()
        self.channel = MemoryChannel()
        self.address = Address.parse("memory:S/R/T")

    async def says(self, text: str) -> None:
        await self.channel.say(text, address=self.address, account=KIM)

    async def comes_again(self) -> bool:
        await self.channel.redeliver()
        return True

    async def goes_away(self) -> bool:
        self.channel.go_away()
        return True

    async def writes(self, text: str) -> None:
        await self.channel.say(text, address=self.address, account=KIM)

    async def comes_back(self) -> None:
        await self.channel.come_back()

    def shown(self) -> list[str]:
        return self.channel.texts(self.address)

    def offered(self) -> set[Verb]:
        newest = list(self.channel.standing(self.address).values())[-1]
        return set(newest.verbs) if isinstance(newest, Card) else set()

    async def lose(self) -> Address:
        await self.channel.lose(self.address, "archived")
        return self.address

    def is_platforms(self, task: asyncio.Task[object]) -> bool:
        return False


class Paper(io.StringIO):
    """A stream that remembers each write by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, s: str, /) -> int:
        self.writes.append(s)
        return super().write(s)


class ConsoleRig:
    hostile = ("\x1b[2J", "\x9b2J", "\u202e", "\r", "\x00", "\x07")
    finds = False
    takes_back = False
    address = HOME

    def __init__(self) -> None:
        reading, self.typing = os.pipe()
        self.source = os.fdopen(reading)
        self.paper = Paper()
        self.receiver = Recorder()
        self.clock = 1000
        self.ids = 0
        self.channel = ConsoleChannel(
            "kim", source=self.source, output=self.paper, now=lambda: self.clock, new_id=self._new_id
        )

    def _new_id(self) -> str:
        self.ids += 1
        return f"c{self.ids}"

    def types(self, raw: bytes) -> None:
        os.write(self.typing, raw)

    def hangs_up(self) -> None:
        os.close(self.typing)
        self.typing = -1

    def close(self) -> None:
        self.source.close()
        if self.typing != -1:
            self.hangs_up()

    async def says(self, text: str) -> None:
        self.types(f"{text}\n".encode())
        await self.receiver.until_tried(len(self.receiver.tried) + 1)
        await asyncio.sleep(0)

    async def comes_again(self) -> bool:
        return False

    async def goes_away(self) -> bool:
        return False

    async def writes(self, text: str) -> None:
        raise AssertionError("a terminal that is not there takes no words")

    async def comes_back(self) -> None:
        raise AssertionError("a terminal never goes away")

    def shown(self) -> list[str]:
        return [write.removesuffix("\n") for write in self.paper.writes]

    def offered(self) -> set[Verb]:
        return {verb for verb, words in VERB_WORDS.items() if f"[ {words} ]" in self.shown()[-1]}

    async def lose(self) -> Address:
        return Address.parse("console:local/you/closed-yesterday")

    def is_platforms(self, task: asyncio.Task[object]) -> bool:
        return False


@asynccontextmanager
async def memory_rig() -> AsyncGenerator[MemoryRig]:
    rig = MemoryRig()
    yield rig
    await rig.channel.stop()


@asynccontextmanager
async def console_rig() -> AsyncGenerator[ConsoleRig]:
    rig = ConsoleRig()
    yield rig
    await rig.channel.stop()
    rig.close()


RIGS: dict[str, Callable[[], AbstractAsyncContextManager[Rig]]] = {
    "memory": memory_rig,
    "console": console_rig,
    "slack": slack_rig,
    "discord": discord_rig,
}


def a_card(**changes: object) -> Card:
    """An open card in which every field has something to say."""
    fields: dict[str, object] = {
        "gate_id": 17,
        "digest8": "0a1b2c3d",
        "verbs": ("approve", "deny", "revise"),
        "statement": 'Clear the cache "thumbnails" on this host',
        "case_label": "C-1042",
        "case_title": "/var/lib on db-1 is 94% full",
        "case_url": "https://cases.example/C-1042",
        "origin": "alert · critical",
        "tool": "host.clear_cache",
        "tier_note": "consequential, not reversible",
        "arguments": ({"name": "name", "value": "thumbnails"}, {"name": "older_than", "value": "7 days"}),
        "asked_by": "the assistant, for: alert DiskAlmostFull (no person)",
        "because": "Logs are rotating; thumbnails are rebuilt on demand.",
        "looked_at": ("disk_usage(/var/lib) → 94 %", "largest_dirs(/var/lib) → failed"),
        "waiting": "2 more calls wait behind this one",
        "earlier": "C-990 cleared the same cache on Mon 11:02",
        "decides": "an operator, not the requester",
        "if_nobody": "denied Tue 14:05 CET (in 23 h 40 min); the requester is told",
    }
    return Card.model_validate(fields | changes)


OUTCOME = ('Approved by Kim via Slack, Mon 14:31 (after 25 min)   "ok"', "Ran 14:31:07, 2.4 s: freed 1.2 GB")


def decided(card: Card) -> Card:
    """The same card once it has been approved and has run."""
    return card.model_copy(update={"verbs": (), "outcome": OUTCOME})
