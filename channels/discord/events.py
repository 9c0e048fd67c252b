"""What Discord tells us of, in our words: a message becomes an `Inbound`, or nothing (R20, R29).

https://docs.discord.com/developers/resources/message
"""

from __future__ import annotations

import re

import discord

from channels.address import Address
from channels.discord import files, places
from channels.messages import Changed, Inbound

_SAID = frozenset({discord.MessageType.default, discord.MessageType.reply})
"""Types that are something somebody says; every other is Discord's own note that something happened."""

_TOKEN = re.compile(r"<(@!?|@&|#)(\d{1,20})>|<a?(:\w{1,32}:)\d{1,20}>")


def inbound(message: discord.Message, at: Address, us: int) -> Inbound | None:
    """What somebody said at `at`, or None: ours, or no message of anybody. `us` is our user's id.

    What mentions us in a room begins a thread, which is not there yet. Another bot is an account like any other; who is
    bound to it decides whether it is heard.
    """
    author = message.author
    if message.type not in _SAID or author.id == us:
        return None
    program = author.bot or message.webhook_id is not None
    return Inbound(
        address=at if at.thread else at.to_begin(str(message.id)),
        account=places.account(author.id, author.display_name, program=program),
        platform_id=str(message.id),
        text=spoken(message, us),
        addressed=at.space == places.DIRECT or any(user.id == us for user in message.mentions),
        at=places.millis(message.id),
        alone=at.space == places.DIRECT,
        files=tuple(files.attached(message)),
    )


def changed(message: discord.Message, at: Address, us: int) -> Changed | None:
    """An edit by a person. What Discord adds to a message, such as a preview of a link, leaves no time of an edit."""
    if message.edited_at is None or message.author.id == us or message.type not in _SAID:
        return None
    return Changed(
        address=at if at.thread else at.to_begin(str(message.id)), platform_id=str(message.id),
        text=spoken(message, us), files_left=frozenset(file.reference for file in files.attached(message)),
    )  # fmt: skip


def deleted(message_id: int, at: Address) -> Changed:
    """A message that is there no more."""
    where = at if at.thread else at.to_begin(str(message_id))
    return Changed(address=where, platform_id=str(message_id), text=None)


def spoken(message: discord.Message, us: int) -> str:
    """The text as its author sees it: our own mention at its start is left out, mentions and emoji are spelled out."""
    names = {user.id: user.display_name for user in message.mentions}
    names |= {role.id: role.name for role in message.role_mentions}
    text = re.sub(rf"^\s*<@!?{us}>[\s,:]*", "", message.content)

    def spelled(token: re.Match[str]) -> str:
        if token[3]:
            return token[3]
        return f"{token[1][0]}{names.get(int(token[2]), token[2])}"

    return _TOKEN.sub(spelled, text)
