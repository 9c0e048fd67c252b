"""Where something is on Discord: rooms, threads and direct conversations as our addresses, and back.

`discord:GUILD/ROOM/THREAD` is a thread, which is a channel of its own there; without a THREAD it is the room.
`discord:@me/CHANNEL/CHANNEL` is a direct conversation, by Discord's own name for where those are: it has no threads, so
that it counts as one.
"""

from __future__ import annotations

import re

from channels.address import Account, Address

NAME = "discord"
DIRECT = "@me"
ALL = Address(channel=NAME, space=DIRECT, room="0")
"""All of Discord, where an error has to name a place."""
_EPOCH_MS = 1_420_070_400_000


def thread(guild: int, room: int, thread_id: int) -> Address:
    """A thread of a room."""
    return Address(channel=NAME, space=str(guild), room=str(room), thread=str(thread_id))


def room(guild: int, room_id: int) -> Address:
    """A room itself."""
    return Address(channel=NAME, space=str(guild), room=str(room_id))


def direct(channel: int) -> Address:
    """A conversation with one person."""
    return Address(channel=NAME, space=DIRECT, room=str(channel), thread=str(channel))


def channel_of(address: Address) -> int:
    """The channel in which something at this address is said or read."""
    return int(address.on_platform.thread or address.room)


def account(user: int, name: str = "", *, program: bool = False) -> Account:
    """Somebody's account: the same in every guild, so that it is in none."""
    return Account(channel=NAME, space="", account_id=str(user), display_name=name, program=program)


def number(account_id: str) -> int | None:
    """An account's id as Discord takes it, a number of 64 bits; None for what can be no account's there."""
    found = int(account_id) if re.fullmatch(r"[0-9]{1,20}", account_id) else 0
    return found if 0 < found < 1 << 64 else None


def millis(snowflake: int) -> int:
    """When an id was made, in ms UTC. https://docs.discord.com/developers/reference#snowflakes"""
    return (snowflake >> 22) + _EPOCH_MS
