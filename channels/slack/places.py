"""Where something is on Slack: rooms and threads as our addresses, and back.

`slack:TEAM/ROOM/TS` is a thread, named by the timestamp of its first message; without a TS it is the room itself.
A room's id says what kind it is only for direct messages: those begin with D.
"""

from __future__ import annotations

from channels.address import Address

NAME = "slack"


def thread(team: str, room: str, ts: str) -> Address:
    """The thread that begins with the message `ts`."""
    return Address(channel=NAME, space=team, room=room, thread=ts)


def is_direct(room: str) -> bool:
    """Whether a room is a direct conversation with one person."""
    return room.startswith("D")


def millis(ts: str) -> int:
    """The time of a message, in ms UTC, from its timestamp `SECONDS.MICROSECONDS`."""
    seconds, _, fraction = ts.partition(".")
    return int(seconds) * 1_000 + int((fraction + "000")[:3])


def is_after(ts: str, other: str) -> bool:
    """Whether the message `ts` is newer than `other`: timestamps are compared as numbers."""
    return _key(ts) > _key(other)


def _key(ts: str) -> tuple[int, str]:
    seconds, _, fraction = ts.partition(".")
    return int(seconds), fraction.ljust(6, "0")
