"""Slack for the contract suite: the adapter with Slack's real clients, against the server in tests/wire/slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import cast

from channels.card import Verb
from channels.messages import Address
from channels.slack.channel import SlackChannel, SlackLogin
from tests.channel_contract.recorder import Recorder
from tests.slack.reading import buttons, read
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer


def unhurried() -> Callable[[], float]:
    """A clock on which so much time has passed whenever it is looked at that no post is too early."""
    return count(step=10.0).__next__


class SlackRig:
    """One direct conversation with one person, and in it one thread."""

    hostile = ("\x1b[2J", "<!channel>", "<@U0001>", "<https://evil.example|https://bank.example>",
               "[bank](https://evil.example)", "\u202e", "\x00")  # fmt: skip
    finds = True
    takes_back = True

    def __init__(self, slack: SlackServer) -> None:
        self.slack = slack
        self.receiver = Recorder()
        self.channel = SlackChannel(
            SlackLogin(BOT_TOKEN, [slack.team], APP_TOKEN, api_url=slack.api_url), unhurried(), look_every_s=0.5
        )
        self.kim = slack.member("kim")
        self.root = self.kim.writes(None, "hello")
        self.address = Address.parse(f"slack:{slack.team}/{self.root.room.id}/{self.root.ts}")

    async def says(self, text: str) -> None:
        tried = len(self.receiver.tried)
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        await self.kim.says(None, escaped, thread=self.root)
        await self.receiver.until_tried(tried + 1)

    async def comes_again(self) -> bool:
        waiting = sum(1 for delivery in self.slack.deliveries.all if not delivery.acked)
        tried = len(self.receiver.tried)
        await self.slack.advance(3)
        await self.receiver.until_tried(tried + waiting)
        await self.slack.acked(*self.slack.deliveries.all)
        return True

    async def goes_away(self) -> bool:
        self.slack.sockets.refuse = True
        await self.slack.sockets.drop()
        return True

    async def writes(self, text: str) -> None:
        self.kim.writes(None, text, thread=self.root)

    async def comes_back(self) -> None:
        self.slack.sockets.refuse = False
        await self.slack.connected()

    def shown(self) -> list[str]:
        return [read(message) for message in self.slack.posts(self.root)]

    def offered(self) -> set[Verb]:
        newest = self.slack.posts(self.root)[-1]
        return {cast("Verb", action.removeprefix("gate_")) for action in buttons(newest)}

    async def lose(self) -> Address:
        room = self.slack.room("closed", self.kim)
        said = self.kim.writes(room, "hello")
        await self.slack.delete_room(room)
        return Address.parse(f"slack:{self.slack.team}/{room.id}/{said.ts}")

    def is_platforms(self, task: asyncio.Task[object]) -> bool:
        """The server's tasks run beside ours."""
        return "RequestHandler" in repr(task.get_coro())


@asynccontextmanager
async def slack_rig() -> AsyncGenerator[SlackRig]:
    async with SlackServer() as slack:
        rig = SlackRig(slack)
        yield rig
        await rig.channel.stop()
