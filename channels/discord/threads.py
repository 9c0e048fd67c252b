"""Threads of ours: made before the first thing is said in them, found again where making one was cut off.

https://docs.discord.com/developers/topics/threads
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import discord

from channels.address import Address
from channels.discord import places
from channels.discord.failures import translated
from channels.errors import ThreadGone
from channels.style import discord_snowflake

log = logging.getLogger("casebound.discord")

_CLOCKS_APART_MS = 60_000
"""How far our clock may be before Discord's."""
_NAME = 100
_ALREADY_BEGUN = 160004
_LONGEST_KEPT_OPEN = 10_080
"""Minutes without a message until Discord archives it: a week, the most there is."""


async def begin(
    client: discord.Client, place: Address, label: str, title: str, people: Sequence[str], since: int,
    *, private: bool,
) -> Address:  # fmt: skip
    """The thread that `place` stands for, with these people in it. Done again, it is the same thread.

    Its name begins with `label`, which tells it from every other of ours in that room that was made since then (ms
    UTC): a store that was set up anew or restored gives a label again, and what was said in the older thread is not
    for whoever is in the new case. With one person alone it is the conversation with them: there is only one.
    """
    with translated(place):
        if place.space == places.DIRECT:
            person = places.number(place.room)
            if person is None:
                raise ThreadGone(str(place), "the account that is bound is none of Discord's")
            return places.direct(int((await client.http.start_private_message(person))["id"]))
        room = await _room(client, place)
        thread = await _begun_before(client, room, label, _earliest(place, since))
        if thread is None:
            thread = await _make(room, place, f"{label} {title}"[:_NAME], private=private)
        at = places.thread(room.guild.id, room.id, thread)
        for person in people:
            await _add(client, thread, person)
    return at


async def _room(client: discord.Client, place: Address) -> discord.TextChannel:
    found = client.get_channel(int(place.room)) or await client.fetch_channel(int(place.room))
    if not isinstance(found, discord.TextChannel):
        raise ThreadGone(str(place), "threads begin only in text channels")
    return found


def _earliest(place: Address, since: int) -> int:
    """The least id of a thread that may be this one: by Discord's own clock, where it begins on a message."""
    message = place.begins_on
    return int(message) if message.isdecimal() else int(discord_snowflake(since - _CLOCKS_APART_MS))


async def _begun_before(client: discord.Client, room: discord.TextChannel, label: str, earliest: int) -> int | None:
    us = client.user
    for thread in await room.guild.active_threads():
        ours = us is not None and thread.owner_id == us.id and thread.parent_id == room.id and thread.id >= earliest
        if ours and not thread.locked and f"{thread.name} ".startswith(f"{label} "):
            return thread.id
    return None


async def _make(room: discord.TextChannel, place: Address, name: str, *, private: bool) -> int:
    message = place.begins_on
    if private or not message.isdecimal():
        kind = discord.ChannelType.private_thread if private else discord.ChannelType.public_thread
        made = await room.create_thread(
            name=name, type=kind, invitable=not private, auto_archive_duration=_LONGEST_KEPT_OPEN
        )  # fmt: skip
        return made.id
    try:
        on = discord.Object(int(message))
        return (await room.create_thread(name=name, message=on, auto_archive_duration=_LONGEST_KEPT_OPEN)).id
    except discord.HTTPException as error:
        if error.code != _ALREADY_BEGUN:
            raise
        return int(message)  # a thread on a message has the id of that message


async def _add(client: discord.Client, thread: int, person: str) -> None:
    """Somebody who has left since, or whose account is none of Discord's, is not added: the case goes on without."""
    number = places.number(person)
    if number is None:
        log.warning("discord.not_added", extra={"fields": {"thread": thread, "why": "no account id of Discord's"}})
        return
    try:
        await client.http.add_user_to_thread(thread, number)
    except (discord.Forbidden, discord.NotFound) as error:
        log.warning("discord.not_added", extra={"fields": {"thread": thread, "code": error.code}})
