"""What Discord refuses, in our words: each of its errors is one answer to "what now?" (R27).

https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager

import aiohttp
import discord

from channels.address import Address
from channels.discord.places import NAME
from channels.errors import AuthFailed, ChannelError, RetryLater, ThreadGone, Uncertain, Undeliverable

UNKNOWN_MESSAGE, ARCHIVED = 10008, 50083
_GONE = {
    10003: "it was deleted",
    10004: "the server is not there for us any more",
    50001: "we may not see it",
    50007: "this person takes no direct messages from us",
    50013: "we may not write there",
    50083: "it is archived and locked",
    160005: "it is locked",
}


class NotDiscord(Exception):
    """What came is no answer of Discord's."""


class MessageMissing(Undeliverable):
    """The message that was to be changed is not there."""


@contextmanager
def translated(address: Address, *, sends: bool = False) -> Generator[None]:
    """Raise what the port says, not what discord.py does; `sends` where a repeat would be a second message."""
    try:
        yield
    except discord.RateLimited as error:
        raise RetryLater(math.ceil(error.retry_after * 1_000), "Discord asks us to wait") from None
    except discord.HTTPException as error:
        raise _answer(error, address, sends=sends) from None
    except NotDiscord as error:  # somebody in between has answered: what Discord did is not known
        why = f"what answered is not Discord, perhaps a proxy ({error})"
        raise (Uncertain(why) if sends else RetryLater(0, why)) from None
    except (discord.GatewayNotFound, discord.ConnectionClosed) as error:
        raise RetryLater(0, f"Discord's gateway does not take us ({type(error).__name__})") from None
    except aiohttp.ClientConnectorError as error:
        raise RetryLater(0, f"Discord cannot be reached ({type(error).__name__})") from None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        why = f"the connection to Discord broke ({type(error).__name__})"
        raise (Uncertain(why) if sends else RetryLater(0, why)) from None


def _answer(error: discord.HTTPException, address: Address, *, sends: bool) -> ChannelError:
    if error.status == 401:
        return AuthFailed(NAME, "the token is not valid (any more)")
    if error.code in _GONE:
        return ThreadGone(str(address), _GONE[error.code])
    if error.status == 429:
        return RetryLater(0, "Discord asks us to wait")
    if error.status == 403 and error.response.headers.get("Content-Type") != "application/json":  # not Discord itself
        return RetryLater(0, "something in front of Discord does not let us through")
    if error.status >= 500:
        why = f"Discord failed (status {error.status})"
        return Uncertain(why) if sends else RetryLater(0, why)
    refused = MessageMissing if error.code == UNKNOWN_MESSAGE else Undeliverable
    return refused(f"Discord refuses it (status {error.status}, code {error.code})")
