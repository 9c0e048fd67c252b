"""The service with its Slack channel, as `casebound up` puts it together, in a workspace with some people."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal, TypeVar

import aiohttp
from pydantic_ai.models import Model

from bot import app
from bot.app import Service
from bot.clock import SystemClock
from bot.settings import Access, Settings, Slack
from bot.settings import Service as ServiceSection
from bot.web.server import serving
from casestore import cases, gates, principals
from casestore.models import Case, Gate
from casestore.scope import System
from casestore.states import Role
from casestore.tx import Tx
from channels.slack.channel import SlackChannel
from tests import empty_store
from tests.channel_contract.slack_rig import unhurried
from tests.loop.effects import Effects, tools_of
from tests.loop.rig import ManualClock
from tests.loop.scripted import Line, ScriptedModel
from tests.slack.reading import buttons, read
from tests.wire.slack.member import Member, Said
from tests.wire.slack.rooms import Message, Room
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, SlackServer
from tests.wire.slack.views import View

T = TypeVar("T")
_SECRETS = {
    "socket": {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN},
    "http": {"bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET},
}


class Office:
    """Ann asks, kim and lee are operators, mallory is nobody to us; all of them are in the room `ops`."""

    def __init__(self, slack: SlackServer, db: Path, *, mode: str = "socket") -> None:
        """`mode`: over a socket, or in HTTP mode: then the service's own HTTP server takes what Slack posts."""
        self.slack, self.db, self.mode = slack, db, mode
        self.model, self.effects, self.clock = ScriptedModel(), Effects(), ManualClock()
        self.clock.ms = SystemClock().now()
        self.ann, self.kim, self.lee, self.mallory = (slack.member(name) for name in ("ann", "kim", "lee", "mallory"))
        self.ops: Room = slack.room("ops", self.ann, self.kim, self.lee, self.mallory)
        self.settings = Settings(
            service=ServiceSection(db=db), access=Access(),
            slack=Slack.model_validate(
                {**_SECRETS[mode], "mode": mode, "teams": [slack.team], "api_url": slack.api_url}
            ),
        )  # fmt: skip
        self.works_by: Model | None = None
        """What answers in place of the scripted model, from the next start on."""
        self._stack = AsyncExitStack()
        self.paced: Callable[[], float] | None = None
        self.look_every_s, self.ask_every_s = 0.5, 60.0
        self.service: Service
        self.url = ""

    async def open(self) -> None:
        """Start the service."""
        empty_store.lay(self.db)
        self.service = await self._stack.enter_async_context(
            app.running(
                self.settings, name="test", channels={"slack": self.channel()}, clock=self.clock,
                model=self.works_by or self.model, tools=list(tools_of(self.effects).values()),
            )
        )  # fmt: skip
        await self.service.store.write(self._known)
        if self.mode == "http":
            port = await self._stack.enter_async_context(serving(self.service, "127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{port}/slack/events"
            self.slack.speaks_http(self.url)

    def channel(self) -> SlackChannel:
        """Slack's, as `app.configured` makes it, but that no post is ever too early unless `paced` says so."""
        return SlackChannel(
            app.slack_login(self.settings), self.paced or unhurried(), look_every_s=self.look_every_s,
            ask_every_s=self.ask_every_s,
        )  # fmt: skip

    async def keeps_time(self) -> None:
        """From now on Slack's waits are kept by the clock of the test."""
        await self.close()
        self.paced = lambda: self.clock.ms / 1_000
        await self.open()
        await self.slack.connected()

    async def in_time(self, look: Callable[[], T | None], what: str, *, most_s: int = 600) -> T:
        """The first answer of `look` that is one, while second after second passes for the service."""
        left = most_s

        def looked() -> T | None:
            nonlocal left
            if (found := look()) is None:
                assert left > 0, f"it did not happen in {most_s} s: {what}"
                left -= 1
                self.clock.ms += 1_000
                self.service.delivery.wake()
            return found

        return await self.until(looked, what)

    async def health(self) -> str | None:
        """What `/readyz` says is wrong with Slack; None: nothing."""
        async with (
            serving(self.service, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/readyz") as response,
        ):  # fmt: skip
            part = (await response.json())["parts"]["channel.slack"]
        return None if part["ok"] else str(part["why"])

    async def close(self) -> None:
        """Stop it."""
        await self._stack.aclose()
        self._stack = AsyncExitStack()

    async def restart(self) -> None:
        """Stop it and start it again."""
        await self.close()
        await self.open()

    async def cut_off(self) -> None:
        """The network is gone: no connection is left, and none can be made."""
        self.slack.sockets.refuse = True
        await self.slack.sockets.drop()

    async def reconnected(self) -> None:
        """It is there again, and Slack has connected."""
        self.slack.sockets.refuse = False
        await self.slack.connected()

    async def given_up(self, *said: Said) -> None:
        """Slack has told us of these as often as it does, and nobody was there."""
        for seconds in (3, 60, 300):
            await self.slack.advance(seconds)
        assert all(delivery.lost for one in said for delivery in one.deliveries)

    async def let_strangers_in(self, guests: Literal["ignore", "requester"] = "ignore") -> None:
        """Whoever is in a listed workspace may ask from now on: what then stays out, stays out for another reason."""
        self.settings = self.settings.model_copy(update={"access": Access(unknown="requester", guests=guests)})
        await self.restart()
        await self.slack.connected()

    def answers(self, *lines: Line) -> None:
        """What the model says next."""
        self.model.then(*lines)

    async def asks(self, text: str = "the shop is down", *, by: Member | None = None) -> Message:
        """Somebody mentions the bot in the room; the message that begins the thread."""
        return (await (by or self.ann).mentions(self.ops, typed(text))).message

    async def until(self, look: Callable[[], T | None], what: str) -> T:
        """The first answer of `look` that is one, asked again whenever something happens in Slack."""
        found = await self.slack.until(look, what=what)
        assert found is not None
        return found

    async def until_so(self, look: Callable[[], Awaitable[bool]]) -> None:
        """Until something holds in the service: asked again and again, since nobody tells of it."""
        async with asyncio.timeout(15):
            while not await look():  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0)

    async def modal(self, of: Member) -> View:
        """What is open before somebody, once something is."""
        return await self.until(lambda: of.modal, "a modal")

    async def card(self, thread: Message) -> Message:
        """The newest card in a thread, once there is one with buttons."""
        return await self.until(lambda: self._open_card(thread), "a card with buttons")

    async def shows(self, thread: Message, words: str) -> Message:
        """Until a message of ours in the thread shows these words; that message."""
        return await self.until(
            lambda: next((said for said in self.slack.posts(thread) if words in read(said)), None),
            f"{words!r}; there is {[read(said) for said in self.slack.posts(thread)]}",
        )

    async def whispered(self, to: Member, words: str) -> Message:
        """Until we have said these words to one person alone."""
        return await self.until(
            lambda: next((said for said in self.slack.whispers(to) if words in said.text), None),
            f"{words!r} whispered; there is {[said.text for said in self.slack.whispers(to)]}",
        )

    async def only_case(self) -> Case:
        """The one case there is."""
        (case,) = await self.service.store.read(cases.listing, System())
        return case

    async def gate(self) -> Gate:
        """The newest gate."""
        return (await self.service.store.read(gates.listing, System(), only_open=False))[-1]

    def _open_card(self, thread: Message) -> Message | None:
        return next((said for said in reversed(self.slack.posts(thread)) if buttons(said)), None)

    def _known(self, tx: Tx) -> None:
        for member, role in ((self.ann, Role.REQUESTER), (self.kim, Role.OPERATOR), (self.lee, Role.OPERATOR)):
            if principals.by_account(tx, "slack", self.slack.team, member.id) is None:
                added = principals.add(tx, 1, tenant="local", name=member.person.name, role=role)
                principals.bind(
                    tx, 1, added.id, channel="slack", space=self.slack.team, account_id=member.id, bound_by=None
                )


def typed(text: str) -> str:
    """What Slack makes of what somebody types: the characters that it acts on are escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
