"""Which of some accounts are nobody's on Discord, or nobody's in our servers: for `casebound doctor`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import aiohttp
import discord

from channels.discord import places
from channels.discord.client import Gateway

_MOST = 20
"""Accounts that are asked about: each takes a call for every server that it is not in."""
_WAIT_S = 20.0
_UNKNOWN_MEMBER, _UNKNOWN_USER = 10007, 10013
_NO_ACCOUNT = "is no account on Discord"
_NO_MEMBER = "is the account of somebody who is in no server that discord.guilds lists"


async def absent(token: str, guilds: Sequence[int], account_ids: Sequence[str]) -> dict[str, str]:
    """By the id of an account from which nobody acts here, what it is. What cannot be found out is left out."""
    found: dict[str, str] = {}
    gateway = Gateway(time.monotonic)
    try:
        async with asyncio.timeout(_WAIT_S):
            await gateway.login(token)
            for account_id in account_ids[:_MOST]:
                why = await _why(gateway, guilds, account_id)
                if why is not None:
                    found[account_id] = why
    except (discord.DiscordException, aiohttp.ClientError, TimeoutError, OSError):
        return found  # what is amiss with token and connection, the examination has said
    finally:
        await gateway.close()
    return found


async def _why(gateway: Gateway, guilds: Sequence[int], account_id: str) -> str | None:
    """None: somebody acts from it, or it is not known whether anybody does."""
    number = places.number(account_id)
    if number is None:
        return _NO_ACCOUNT
    told: list[int] = []
    for guild in guilds:
        try:
            await gateway.http.get_member(guild, number)
        except (discord.NotFound, discord.Forbidden) as error:
            told.append(error.code)
            continue
        return None
    if _UNKNOWN_USER in told:
        return _NO_ACCOUNT
    return _NO_MEMBER if told and all(code == _UNKNOWN_MEMBER for code in told) else None
