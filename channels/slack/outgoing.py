"""Saying things: posts, edits, deletions, and finding out what became of a post.

Slack has no idempotency for posts. Our own id of a post travels in its metadata, where `find` looks for it.
https://docs.slack.dev/messaging/message-metadata
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import cast

from channels.address import Address
from channels.errors import CannotTell, RetryLater
from channels.messages import Content, Outbound
from channels.slack import cards
from channels.slack.blocks import literally, rendered
from channels.slack.events import SLACKBOT
from channels.slack.failures import MessageMissing
from channels.slack.pace import Pace
from channels.slack.quota import Quota
from channels.slack.web import Payload, Web
from channels.style import utf16_units
from channels.text import beginning, visible

EVENT_TYPE = "casebound_outbound"
_PAGE = 200
_WHISPERED = 8_000
"""Of one whisper: escaped as well, Slack takes it whole."""
_LOOKED_THROUGH = 5
"""Pages in which a post is looked for: a longer thread is one of which we cannot tell."""


class Outgoing:
    """What goes to Slack. Calls for one address come one after another."""

    def __init__(self, web: Web, bot: str, pace: Pace) -> None:
        """`bot` is the bot's id, by which its messages are known."""
        self._web, self._bot, self._pace = web, bot, pace

    async def send(self, outbound: Outbound) -> str:
        """Post it into its thread; the timestamp that names it."""
        at = outbound.address
        if (wait_s := self._pace.wait_s(at.room, at.thread)) > 0:
            raise RetryLater(math.ceil(wait_s * 1_000), "one message a second in each room")
        said = rendered(outbound.content, possible_duplicate=outbound.possible_duplicate)
        try:
            answer = await self._web.post(
                "chat.postMessage", at, channel=at.room, thread_ts=at.thread or None, text=said.text,
                blocks=said.blocks, metadata={"event_type": EVENT_TYPE, "event_payload": {"nonce": outbound.nonce}},
                unfurl_links=False, unfurl_media=False,
            )  # fmt: skip
        except RetryLater as error:
            self._pace.hold(at.room, at.thread, error.after_ms / 1_000)
            raise
        return str(answer["ts"])

    async def edit(self, address: Address, ts: str, content: Content) -> None:
        """Make the message show this."""
        said = rendered(content)
        await self._web.change("chat.update", address, channel=address.room, ts=ts, text=said.text, blocks=said.blocks)

    async def delete(self, address: Address, ts: str) -> None:
        """Take it away; one that is not there is taken away."""
        with suppress(MessageMissing):
            await self._web.change("chat.delete", address, channel=address.room, ts=ts)

    async def working(self, address: Address, words: str) -> None:
        """The thread's status line; empty words clear it. A room has none.

        https://docs.slack.dev/reference/methods/assistant.threads.setStatus
        """
        if address.thread:
            await self._web.change(
                "assistant.threads.setStatus", address, channel_id=address.room, thread_ts=address.thread, status=words
            )

    async def find(self, address: Address, nonce: str) -> str | None:
        """The message that carries this nonce; None where it is certainly not there."""
        async for message in self.history(address, oldest=None, pages=_LOOKED_THROUGH):
            metadata = message.get("metadata")
            payload = cast("Payload", metadata).get("event_payload") if isinstance(metadata, dict) else None
            carried = cast("Payload", payload).get("nonce") if isinstance(payload, dict) else None
            if message.get("bot_id") == self._bot and carried == nonce:
                return str(message["ts"])
        return None

    async def oldest_first(
        self, address: Address, after: str | None, *, pages: int, quota: Quota
    ) -> AsyncIterator[Payload]:  # fmt: skip
        """What was said in a thread or a room since `after`. Raises `CannotTell` where that is more than `pages`."""
        found = self.history(address, oldest=after, pages=pages, quota=quota)
        if address.thread:
            async for message in found:
                yield message
        else:
            for message in reversed([message async for message in found]):
                yield message

    async def history(
        self, address: Address, *, oldest: str | None, pages: int, quota: Quota | None = None
    ) -> AsyncIterator[Payload]:
        """The messages of a thread oldest first, or those of a room newest first. Raises `CannotTell` after `pages`."""
        method, which = ("conversations.replies", address.thread) if address.thread else ("conversations.history", None)
        cursor: str | None = None
        for _ in range(pages):
            if quota is not None:
                await quota.turn(method)
            page = await self._page(
                method, address, quota is not None, channel=address.room, ts=which, limit=_PAGE, cursor=cursor,
                oldest=oldest, include_all_metadata="true",
            )  # fmt: skip
            for message in cast("list[Payload]", page.get("messages") or []):
                yield message
            if (cursor := _following(page)) is None:
                return
        raise CannotTell(f"{address} has more than {pages * _PAGE} messages to look through")

    async def _page(self, method: str, address: Address, waits: bool, **args: object) -> Payload:
        """One page. `waits`: as long as Slack asks for, so that a long past is not read from its beginning again."""
        while True:
            try:
                return await self._web.read(method, address, **args)
            except RetryLater as error:
                if not (waits and error.after_ms):
                    raise
                await asyncio.sleep(error.after_ms / 1_000)

    async def direct_rooms(self, quota: Quota) -> AsyncIterator[str]:
        """The id of every direct conversation with somebody who is still there.

        Slack does not say of any whether something was said in it.
        https://docs.slack.dev/reference/methods/conversations.list
        """
        cursor: str | None = None
        while True:
            await quota.turn("conversations.list")
            page = await self._web.read(
                "conversations.list", types="im", exclude_archived="true", limit=_PAGE, cursor=cursor
            )
            for room in cast("list[Payload]", page.get("channels") or []):
                if not room.get("is_user_deleted") and room.get("user") != SLACKBOT:
                    yield str(room["id"])
            if (cursor := _following(page)) is None:
                return

    async def whisper(self, address: Address, account_id: str, text: str) -> None:
        """Say it to one person alone, in the thread. Slack keeps no such message: who is not there does not see it.

        In it stands what others have written, to be decided on: shown as it is, since mrkdwn would strike it out.
        """
        rest = visible(text)
        while rest:
            said = beginning(rest, _WHISPERED, utf16_units)
            rest = rest[len(said) :]
            await self._web.change(
                "chat.postEphemeral", address, channel=address.room, user=account_id,
                thread_ts=address.thread or None, text=literally(said),
                blocks=[cards.rich(cards.section(cards.plain(said)))],
            )  # fmt: skip


def _following(page: Payload) -> str | None:
    """The cursor of the next page. https://docs.slack.dev/apis/web-api/pagination"""
    following = cast("Payload", page.get("response_metadata") or {}).get("next_cursor")
    return following if isinstance(following, str) and following else None
