"""The service with its Discord channel, as `casebound up` puts it together, in a server with some people."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import aiohttp
from pydantic_ai.models import Model

from bot import app
from bot.app import Service
from bot.clock import SystemClock
from bot.settings import Access, Discord, Settings
from bot.settings import Service as ServiceSection
from bot.web.server import serving
from casestore import cases, gates, principals
from casestore.models import Case, Gate
from casestore.scope import System
from casestore.states import Role
from casestore.tx import Tx
from channels.discord.channel import DiscordChannel
from channels.port import Channel
from tests import empty_store
from tests.discord.reading import buttons, read
from tests.loop.effects import Effects, tools_of
from tests.loop.rig import ManualClock
from tests.loop.scripted import Line, ScriptedModel
from tests.wire.discord.member import Member
from tests.wire.discord.messages import Message
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Place, Thread
from tests.wire.discord.server import DiscordServer

T = TypeVar("T")


class Household:
    """Ann asks, kim and lee are operators, mallory is nobody to us; all of them are in the room `kitchen`.

    Kim, lee and mallory see private threads, as moderators do: that decides nothing here.
    """

    def __init__(self, discord: DiscordServer, db: Path) -> None:
        self.discord, self.db = discord, db
        self.model, self.effects, self.clock = ScriptedModel(), Effects(), ManualClock()
        self.clock.ms = SystemClock().now()
        self.ann, self.kim, self.lee, self.mallory = (discord.member(name) for name in ("ann", "kim", "lee", "mallory"))
        moderators = discord.role("moderators", May.MANAGE_THREADS)
        for member in (self.kim, self.lee, self.mallory):
            discord.guild.add(member.person, moderators)
        self.kitchen = discord.room("kitchen")
        self.patience_s = 50.0
        self.settings = Settings(
            service=ServiceSection(db=db), access=Access(),
            discord=Discord.model_validate(
                {"token": discord.token, "guilds": [discord.guild.id], "api_url": discord.api_url,
                 "gateway_url": discord.gateway_url}
            ),
        )  # fmt: skip
        self.others: dict[str, Channel] = {}
        self.works_by: Model | None = None
        """What answers in place of the scripted model, from the next start on."""
        self._stack = AsyncExitStack()
        self.service: Service

    async def open(self) -> None:
        """Start the service."""
        empty_store.lay(self.db)
        self.service = await self._stack.enter_async_context(
            app.running(
                self.settings, name="test", channels={"discord": self.channel(), **self.others}, clock=self.clock,
                model=self.works_by or self.model, tools=list(tools_of(self.effects).values()),
            )
        )  # fmt: skip
        await self.service.store.write(self._known)

    def channel(self) -> DiscordChannel:
        """Discord's, as `app.configured` makes it, in a hurry to settle."""
        login = replace(app.discord_login(self.settings), settles_s=0.05, patience_s=self.patience_s)
        return DiscordChannel(login)

    async def close(self) -> None:
        """Stop it."""
        await self._stack.aclose()
        self._stack = AsyncExitStack()

    async def restart(self) -> None:
        """Stop it and start it again."""
        await self.close()
        await self.open()

    def answers(self, *lines: Line) -> None:
        """What the model says next."""
        self.model.then(*lines)

    async def asks(self, text: str = "the oven is off", *, by: Member | None = None) -> Thread:
        """Somebody mentions the bot in the room; the thread that begins."""
        before = len(self.discord.world.threads_of(self.kitchen))
        (by or self.ann).mentions(self.kitchen, text)
        return (await self.discord.threads(self.kitchen, before + 1))[-1]

    async def until(self, look: Callable[[], T | None], what: str) -> T:
        """The first answer of `look` that is one, asked again whenever something happens on Discord."""
        found = await self.discord.until(look, what=what)
        assert found is not None
        return found

    async def until_so(self, look: Callable[[], Awaitable[bool]]) -> None:
        """Until something holds in the service: asked again and again, since nobody tells of it."""
        async with asyncio.timeout(15):
            while not await look():  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0)

    async def card(self, place: Place) -> Message:
        """The newest card in a place, once there is one with buttons."""
        return await self.until(
            lambda: next((said for said in reversed(self.discord.posts(place)) if buttons(said)), None), "a card"
        )

    async def shows(self, place: Place, words: str) -> Message:
        """Until a message of ours there shows these words; that message."""
        return await self.until(
            lambda: next((said for said in self.discord.posts(place) if words in read(said)), None),
            f"{words!r}; there is {[read(said) for said in self.discord.posts(place)]}",
        )

    async def whispered(self, to: Member, words: str) -> Message:
        """Until we have said these words to one person alone."""
        return await self.until(
            lambda: next((said for said in self.discord.whispers(to) if words in read(said)), None),
            f"{words!r} whispered; there is {[read(said) for said in self.discord.whispers(to)]}",
        )

    async def health(self) -> str | None:
        """What `/readyz` says is wrong with Discord; None: nothing."""
        async with (
            serving(self.service, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/readyz") as response,
        ):  # fmt: skip
            told = await response.json()
            part = told["parts"]["channel.discord"]
            assert part["ok"] or (response.status, told["ready"]) == (503, False)
        return None if part["ok"] else str(part["why"])

    async def is_well(self) -> bool:
        """Whether `/readyz` finds nothing wrong with Discord."""
        return await self.health() is None

    async def is_unwell(self) -> bool:
        """Whether `/readyz` says that there is no connection to Discord."""
        return "gone or silent" in (await self.health() or "")

    async def only_case(self) -> Case:
        """The one case there is."""
        (case,) = await self.service.store.read(cases.listing, System())
        return case

    async def gate(self) -> Gate:
        """The newest gate."""
        return (await self.service.store.read(gates.listing, System(), only_open=False))[-1]

    async def speaks_too(self, account_id: str, of: Member, *, first: bool = False) -> None:
        """Another account speaks for somebody; `first`: it was bound before the one that they use."""
        await self.service.store.write(_speaks_too, account_id, of.id, first)

    def _known(self, tx: Tx) -> None:
        for member, role in ((self.ann, Role.REQUESTER), (self.kim, Role.OPERATOR), (self.lee, Role.OPERATOR)):
            if principals.by_account(tx, "discord", "", member.id) is None:
                added = principals.add(tx, 1, tenant="local", name=member.person.name, role=role)
                principals.bind(tx, 1, added.id, channel="discord", space="", account_id=member.id, bound_by=None)


def _speaks_too(tx: Tx, account_id: str, known: str, first: bool) -> None:
    who = principals.by_account(tx, "discord", "", known)
    assert who is not None
    principals.bind(tx, 1, who.id, channel="discord", space="", account_id=account_id, bound_by=None)
    if first:
        tx.run("UPDATE accounts SET id = -id WHERE account_id = :id", id=account_id)
