"""Looking at a Slack app's set-up: tokens, scopes, workspace, connection, and a card's round trip.

Nothing that arrives meanwhile is acknowledged, so a service that runs on the same app misses nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence

import aiohttp

from channels.address import Address
from channels.card import Card
from channels.errors import AuthFailed, ChannelError, RetryLater, ThreadGone
from channels.findings import Finding
from channels.messages import Outbound
from channels.slack import places, scopes
from channels.slack.outgoing import Outgoing
from channels.slack.pace import Pace
from channels.slack.presses import part
from channels.slack.web import Payload, Web

SITE = "api.slack.com/apps, then your app"
_WAIT_S = 10.0
_WAY, _MEND = "card round trip", "Mend that, then look again."


class Examination:
    """One look at everything."""

    def __init__(self, web: Web, *, teams: Sequence[str], app: Web | None, pace: Pace) -> None:
        """`app` calls with the app-level token; None in HTTP mode."""
        self._web, self._teams, self._app, self._pace = web, teams, app, pace

    async def findings(self, sample: Card, room: str | None) -> AsyncIterator[Finding]:
        """One after the other; what needs the one before it is left out where that is amiss."""
        try:
            who, granted = await self._web.who_we_are()
        except ChannelError as error:
            yield Finding("bot token", _said(error), _about_the_bot_token(error))
            return
        team = str(who["team_id"])
        yield Finding("bot token", f"It is accepted: {who.get('user')} in {who.get('team')} ({team}).")
        yield _scopes(scopes.missing(granted))
        yield self._workspace(team)
        yield await self._connection()
        if room is None:
            to_do = "Name a room that the app is in: --room C0123ABCD, or slack.approvals_room in the settings."
            yield Finding(_WAY, "Not tried, since no room is named.", to_do)
            return
        found = await self._room(team, who.get("user"), room)
        yield found
        if found.ok:
            yield await self._card(who, Address(channel=places.NAME, space=team, room=room), sample)

    def _workspace(self, team: str) -> Finding:
        if team in self._teams:
            return Finding("workspace", f"People of {team} are listened to.")
        listed = ", ".join(self._teams) or "none"
        to_do = f'In the settings: [slack] teams = ["{team}"]. Until then everybody there is ignored.'
        return Finding("workspace", f"The app is in {team}; slack.teams lists {listed}.", to_do)

    async def _connection(self) -> Finding:
        if self._app is None:
            return Finding(
                "connection",
                "Slack posts to /slack/events of the service. Whether it gets there shows only in Slack: at "
                f"{SITE}, Event Subscriptions, the Request URL is to be https://YOUR-HOST/slack/events, and verified.",
            )
        try:
            address = str((await self._app.change("apps.connections.open"))["url"])
            async with (
                asyncio.timeout(_WAIT_S), aiohttp.ClientSession() as session, session.ws_connect(address) as socket
            ):  # fmt: skip
                hello = await socket.receive_json()
        except ChannelError as error:
            return Finding("connection", _said(error), _about_the_app_token(error))
        except (aiohttp.ClientError, TimeoutError, TypeError, ValueError) as error:
            to_do = "Let this machine open connections to Slack (wss, port 443); a proxy in between may forbid it."
            return Finding("connection", f"The socket did not open ({type(error).__name__}).", to_do)
        return Finding("connection", f"The socket opens; {hello.get('num_connections')} open at this moment.")

    async def _room(self, team: str, user: object, room: str) -> Finding:
        address = Address(channel=places.NAME, space=team, room=room)
        invite = f"In Slack, open that room and write: /invite @{user}"
        try:
            answer = await self._web.read("conversations.info", address, channel=room)
        except ThreadGone as error:
            found = f"The app sees no room {room} ({error.reason}): it does not exist, or is private."
            return Finding("room", found, f"{invite}. If it is another room, name that one's id.")
        except ChannelError as error:
            return Finding("room", f"{room}: {_said(error)}", f"{invite}. If it is another room, name that one's id.")
        info = part(answer, "channel")
        if info.get("is_archived"):
            return Finding("room", f"#{info.get('name')} is archived.", "Un-archive it, or choose another room.")
        if not info.get("is_member") and not info.get("is_im"):
            return Finding("room", f"The app is not in #{info.get('name')}.", f"{invite}.")
        return Finding("room", f"The app is in #{info.get('name') or room}.")

    async def _card(self, who: Payload, room: Address, sample: Card) -> Finding:
        """Post, change, find and take away; what stands there in the end is nothing, whatever fails between."""
        out, nonce = Outgoing(self._web, str(who["bot_id"]), self._pace), secrets.token_hex(8)
        try:
            ts = await out.send(Outbound(address=room, nonce=nonce, content=sample))
        except ChannelError as error:
            return Finding(_WAY, f"It could not be posted. {_said(error)}", _MEND)
        amiss = await self._changed_and_found(out, room, ts, nonce, sample)
        try:
            await out.delete(room, ts)
        except ChannelError as error:
            return Finding(_WAY, f"It could not be taken away. {_said(error)}", "Delete it by hand, and mend that.")
        return amiss or Finding(_WAY, "A card was posted, changed, found again and taken away.")

    async def _changed_and_found(
        self, out: Outgoing, room: Address, ts: str, nonce: str, sample: Card
    ) -> Finding | None:
        """What went wrong with the card that stands there, if anything."""
        did = "changed"
        try:
            await out.edit(room, ts, sample.model_copy(update={"verbs": (), "outcome": ("A test, taken away again.",)}))
            did = "found again"
            found = await out.find(room, nonce)
        except ChannelError as error:
            return Finding(_WAY, f"It could not be {did}. {_said(error)}", _MEND)
        if found == ts:
            return None
        to_do = "An uncertain post may be repeated, and then says so. Check the scopes that end in :history."
        return Finding(_WAY, "It was posted and not found again.", to_do)


def _scopes(lacking: list[str]) -> Finding:
    if not lacking:
        return Finding("scopes", f"All {len(scopes.BOT)} are granted.")
    listed = "; ".join(f"{scope} (to {scopes.BOT[scope]})" for scope in lacking)
    to_do = f"At {SITE}, OAuth & Permissions, Scopes, Bot Token Scopes: add them. Then press Reinstall to Workspace."
    return Finding("scopes", f"Missing: {listed}.", to_do)


def _about_the_bot_token(error: ChannelError) -> str:
    if isinstance(error, AuthFailed):
        return f"At {SITE}, OAuth & Permissions: copy the Bot User OAuth Token (xoxb-…) into slack.bot_token."
    return "Try again in a minute. If it stays so, look whether this machine reaches Slack (slack.api_url)."


def _about_the_app_token(error: ChannelError) -> str:
    if isinstance(error, AuthFailed):
        return (
            f"At {SITE}, Socket Mode: switch it on. Then Basic Information, App-Level Tokens: generate one with "
            "connections:write, and copy it (xapp-…) into slack.app_token."
        )
    return "Try again in a minute. If it stays so, look whether this machine reaches Slack (slack.api_url)."


def _said(error: ChannelError) -> str:
    """What went wrong, for somebody who looks on: when it may be tried again is said beside it."""
    return f"{error.why[0].upper()}{error.why[1:]}." if isinstance(error, RetryLater) else str(error)
