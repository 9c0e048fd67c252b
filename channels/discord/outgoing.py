"""Saying things: posts, edits, deletions, and finding out what became of a post.

Every post carries our own id of it as its nonce. For a few minutes Discord answers a second post of the same nonce with
the first one; later it cannot be asked.
https://docs.discord.com/developers/resources/message#create-message
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress

import discord

from channels.address import Address
from channels.card import Card
from channels.discord import places, presses
from channels.discord.cards import laid_out
from channels.discord.failures import ARCHIVED, MessageMissing, translated
from channels.errors import CannotTell
from channels.messages import Content, Outbound
from channels.plain import POSSIBLE_DUPLICATE

_LONGEST_NONCE = 25
_REMEMBERED_S = 120.0
"""How long a repeat is surely answered with the first post: Discord says "the past few minutes"."""


class Outgoing:
    """What goes to Discord. Calls for one address come one after another."""

    def __init__(self, client: discord.Client, now: Callable[[], float]) -> None:
        """`now` in seconds, of a clock that only runs forward."""
        self._client, self._now = client, now
        self._tried: dict[str, float] = {}

    async def send(self, outbound: Outbound) -> str:
        """Post it; the id that names it."""
        at = outbound.address
        self._tried = {nonce: when for nonce, when in self._tried.items() if self._now() - when < _REMEMBERED_S}
        self._tried[outbound.nonce] = self._now()
        with translated(at, sends=True):
            try:
                message = await self._post(outbound)
            except discord.HTTPException as error:
                if error.code != ARCHIVED:
                    raise
                await self._open_again(at)
                message = await self._post(outbound)
        self._tried.pop(outbound.nonce, None)
        return str(message.id)

    async def edit(self, address: Address, message_id: str, content: Content) -> None:
        """Make the message show this."""
        message = self._message(address, message_id)
        with translated(address):
            if isinstance(content, Card):
                laid = laid_out(content)
                view = presses.buttons(content, whole=laid.whole)
                await message.edit(embeds=laid.embeds, view=_kept_nowhere(view))
            else:
                await message.edit(content=content.text, embeds=[], view=None)

    async def delete(self, address: Address, message_id: str) -> None:
        """Take it away; one that is not there is taken away."""
        with suppress(MessageMissing), translated(address):
            await self._message(address, message_id).delete()

    async def find(self, address: Address, nonce: str) -> str | None:
        """What became of a post: None where posting it again is answered with the first; else nobody can tell."""
        with translated(address):
            await self._client.fetch_channel(places.channel_of(address))
        tried = self._tried.get(nonce)
        if tried is not None and self._now() - tried < _REMEMBERED_S:
            return None
        raise CannotTell(f"Discord keeps no id of ours with what was said at {address}")

    async def typing(self, address: Address) -> None:
        """Show for some ten seconds that something is being written."""
        with translated(address):
            await self._place(address).typing()

    async def _post(self, outbound: Outbound) -> discord.Message:
        content, place = outbound.content, self._place(outbound.address)
        note = POSSIBLE_DUPLICATE if outbound.possible_duplicate else None
        nonce = _nonce(outbound)
        if not isinstance(content, Card):
            return await place.send(f"{note} {content.text}" if note else content.text, nonce=nonce)
        laid = laid_out(content)
        view = _kept_nowhere(presses.buttons(content, whole=laid.whole))
        if view is None:
            return await place.send(note, embeds=laid.embeds, nonce=nonce)
        return await place.send(note, embeds=laid.embeds, view=view, nonce=nonce)

    async def _open_again(self, address: Address) -> None:
        """An archived thread takes posts again once somebody opens it who may. One that is locked stays so."""
        await self._client.http.edit_channel(places.channel_of(address), archived=False)

    def _place(self, address: Address) -> discord.PartialMessageable:
        guild = None if address.space == places.DIRECT else int(address.space)
        return self._client.get_partial_messageable(places.channel_of(address), guild_id=guild)

    def _message(self, address: Address, message_id: str) -> discord.PartialMessage:
        return self._place(address).get_partial_message(int(message_id) if message_id.isdecimal() else 0)


def _nonce(outbound: Outbound) -> str:
    """What tells Discord a repeat: our id of the post with what it says and where.

    The id alone comes again in a store that was restored or set up anew, and Discord would answer what is said then
    with what was said before. A card is told by its gate, as its words change with the time.
    """
    content = outbound.content
    what = f"{content.gate_id}:{content.digest8}" if isinstance(content, Card) else content.text
    said = f"{outbound.nonce} {outbound.address} {what}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).hexdigest()[:_LONGEST_NONCE]


def _kept_nowhere(view: discord.ui.View | None) -> discord.ui.View | None:
    """A view that discord.py does not keep: what its buttons mean stands in their names."""
    if view is not None:
        view.stop()
    return view
