"""Looking at a Discord application's set-up: token, intent, servers, permissions, gateway, and a card's round trip."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator

import aiohttp
import discord

from channels.card import Card
from channels.discord import permissions, places
from channels.discord.client import Gateway
from channels.discord.outgoing import Outgoing
from channels.errors import ChannelError
from channels.findings import Finding
from channels.messages import Address, Outbound

SITE = "discord.com/developers/applications, then your application"
_WAIT_S = 10.0
_WAY, _MEND = "card round trip", "Mend that, then look again."


class Examination:
    """One look at everything, over HTTP: the gateway is only knocked at, so that a running service notices nothing."""

    def __init__(self, token: str, guilds: list[int], *, unseen: bool = False) -> None:
        """`unseen`: approvals are asked only in private threads, which operators do not see unless they are added."""
        self._token, self._guilds, self._unseen = token, guilds, unseen
        self._gateway = Gateway(time.monotonic)

    async def findings(self, sample: Card, room: str | None) -> AsyncIterator[Finding]:
        """One after the other; what needs the one before it is left out where that is amiss."""
        try:
            found, app = await self._login()
            yield found
            if app is None:
                return
            yield _intent(app)
            yield await self._reached()
            if not self._guilds:
                yield Finding("servers", "discord.guilds lists none, so that nobody is heard.", _list_it(app.id))
            for guild in self._guilds:
                yield await self._guild(guild, app.id)
            if self._unseen:
                yield _unseen()
            if room is None:
                yield Finding(_WAY, "Not tried: no room is named (--room ID, or discord.operators_room).")
            elif self._guilds:
                yield await self._room(self._guilds[0], room, sample)
        finally:
            await self._gateway.close()

    async def _login(self) -> tuple[Finding, discord.AppInfo | None]:
        try:
            await self._gateway.login(self._token)
        except discord.LoginFailure:
            to_do = f"At {SITE}, Bot: press Reset Token, and copy the new one into discord.token."
            return Finding("token", "It is refused.", to_do), None
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            to_do = "Try again in a minute. If it stays so, look whether this machine reaches Discord."
            return Finding("token", f"Discord did not answer ({type(error).__name__}).", to_do), None
        app = await self._gateway.application_info()
        return Finding("token", f"It is accepted: {self._gateway.user} of the application {app.name}."), app

    async def _reached(self) -> Finding:
        try:
            _, address, _ = await self._gateway.http.get_bot_gateway()
            async with (
                asyncio.timeout(_WAIT_S), aiohttp.ClientSession() as session, session.ws_connect(address) as socket
            ):  # fmt: skip
                await socket.receive()
        except (discord.HTTPException, discord.GatewayNotFound, aiohttp.ClientError, TimeoutError, OSError) as error:
            to_do = "Let this machine open connections to Discord (wss, port 443); a proxy in between may forbid it."
            return Finding("connection", f"The gateway did not open ({type(error).__name__}).", to_do)
        return Finding("connection", "The gateway opens.")

    async def _guild(self, guild_id: int, application: int) -> Finding:
        what = f"server {guild_id}"
        try:
            guild = await self._gateway.fetch_guild(guild_id)
            me = await guild.fetch_member(self._gateway.user.id if self._gateway.user else 0)
        except discord.HTTPException:
            to_do = (
                f"Somebody who manages it opens {permissions.invite(application)}; or take it out of discord.guilds."
            )
            return Finding(what, "The bot is not in it.", to_do)
        if lacking := permissions.missing(me.guild_permissions):
            to_do = f"In {guild.name}, Server Settings, Roles, the bot's own role: allow them. Or invite it anew."
            return Finding(what, f"In {guild.name} it may not: {', '.join(lacking)}.", to_do)
        return Finding(what, f"The bot is in {guild.name}, and may all that it needs.")

    async def _room(self, guild_id: int, room: str, sample: Card) -> Finding:
        """Post, change and take away; what stands there in the end is nothing, whatever fails between."""
        address = places.room(guild_id, int(room))
        out, did = Outgoing(self._gateway, time.monotonic), "posted"
        try:
            posted = await out.send(Outbound(address=address, nonce=secrets.token_hex(8), content=sample))
        except ChannelError as error:
            return Finding(_WAY, f"It could not be {did}. {error}", _MEND)
        amiss = await self._changed(out, address, posted, sample)
        try:
            await out.delete(address, posted)
        except ChannelError as error:
            return Finding(_WAY, f"It could not be taken away. {error}", "Delete it by hand, and mend that.")
        return amiss or Finding(_WAY, "A card was posted, changed and taken away.")

    async def _changed(self, out: Outgoing, at: Address, posted: str, sample: Card) -> Finding | None:
        try:
            await out.edit(
                at, posted, sample.model_copy(update={"verbs": (), "outcome": ("A test, taken away again.",)})
            )
        except ChannelError as error:
            return Finding(_WAY, f"It could not be changed. {error}", _MEND)
        return None


def _intent(app: discord.AppInfo) -> Finding:
    if app.flags.gateway_message_content or app.flags.gateway_message_content_limited:
        return Finding("messages", "It may read what people write.")
    to_do = f"At {SITE}, Bot, Privileged Gateway Intents: switch on Message Content Intent, and save."
    return Finding("messages", "It may not read what people write.", to_do)


def _unseen() -> Finding:
    to_do = (
        "In Discord: the menu of the operators' room in the first of discord.guilds, Copy Channel ID. In the settings: "
        '[discord] operators_room = "…". Or private_threads = false, so that whoever sees the room sees the thread.'
    )
    found = "Approvals are asked only in private threads, where no operator may be: there is no operators_room."
    return Finding("operators' room", found, to_do)


def _list_it(application: int) -> str:
    return (
        "In Discord: Settings, Advanced, Developer Mode on; then the menu of your server, Copy Server ID. In the "
        f'settings: [discord] guilds = ["…"]. Invite the bot there: {permissions.invite(application)}'
    )
