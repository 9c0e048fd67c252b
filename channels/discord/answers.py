"""Presses, modals and commands: answered in time, to that person alone.

An interaction has to be answered within three seconds, and can be for fifteen minutes; so it is acknowledged first.
https://docs.discord.com/developers/interactions/receiving-and-responding
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import cast

import aiohttp
import discord

from channels import arguments
from channels.address import Account
from channels.card import Card
from channels.discord import events, modals, places, presses
from channels.discord.literal import as_shown, fenced, fenced_pieces
from channels.discord.whereabouts import Whereabouts
from channels.messages import Command, Press, Quoting
from channels.port import Receiver

log = logging.getLogger("casebound.discord")

_PIECE, _PIECES = 2_000, 8
_REMEMBERED = 1_000
_NOT_ANSWERED = (discord.DiscordException, aiohttp.ClientError, TimeoutError, OSError)
"""What becomes of an answer that does not get through: what was pressed or typed counts all the same."""


class Answers:
    """Answers interactions."""

    def __init__(self, receiver: Receiver, where: Whereabouts) -> None:
        self._receiver, self._where = receiver, where
        self._seen: OrderedDict[int, None] = OrderedDict()

    async def interacted(self, interaction: discord.Interaction) -> None:
        """A press on a button, or a modal that was sent off; commands come by the tree."""
        name = str(cast("Mapping[str, object]", interaction.data or {}).get("custom_id") or "")
        submitted = interaction.type is discord.InteractionType.modal_submit
        button = modals.button_of(name) if submitted else name
        if not presses.verb_of(button) or not self._is_new(interaction):
            return
        if not submitted and presses.verb_of(button) in presses.WITH_REASON:
            await self._ask_why(interaction, button)
        else:
            await _acknowledge(interaction, new=submitted)
            at = await self._where.of_interaction(interaction)
            if at is None:
                return
            press = presses.pressed(interaction, at, button, modals.written(interaction) if submitted else None)
            if presses.verb_of(button) == presses.VIEW:
                await self._show_whole(interaction, press)
            else:
                await _tell(interaction, await self._receiver.press(press))

    async def typed(self, interaction: discord.Interaction, line: str) -> None:
        """A command."""
        if not self._is_new(interaction):
            return
        await _acknowledge(interaction, new=True)
        at = await self._where.of_interaction(interaction)
        if at is None:
            await _tell(interaction, "I am not at work here.")
            return
        command = Command(address=at, account=_account(interaction), text=line)
        await _tell(interaction, await self._receiver.command(command))

    async def opened_on(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """A case on a message: quoted, with whose it is, for whoever asked for it."""
        if not self._is_new(interaction):
            return
        await _acknowledge(interaction, new=True)
        at = await self._where.of_interaction(interaction)
        if at is None:
            await _tell(interaction, "I am not at work here.")
            return
        said = events.inbound(message, at, interaction.client.user.id if interaction.client.user else 0)
        if said is None:
            await _tell(interaction, "Nobody has said that to anybody: there is nothing to open a case on.")
            return
        await _tell(interaction, await self._receiver.quoted(Quoting(by=_account(interaction), said=said)))

    async def _ask_why(self, interaction: discord.Interaction, button: str) -> None:
        """Not of somebody whose answer would be refused: they hear so before they write anything."""
        at = await self._where.of_interaction(interaction)
        if at is None:
            return
        refused = await self._receiver.refusal(presses.pressed(interaction, at, button))
        if refused is not None:
            await _acknowledge(interaction, new=False)
            await _tell(interaction, refused)
            return
        try:
            await interaction.response.send_modal(modals.reason(button))
        except _NOT_ANSWERED as error:
            _note("discord.not_opened", error)

    def _is_new(self, interaction: discord.Interaction) -> bool:
        """Whether it comes for the first time. Discord may send the same one twice, to one connection of ours."""
        if interaction.id in self._seen:
            return False
        self._seen[interaction.id] = None
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return True

    async def _show_whole(self, interaction: discord.Interaction, press: Press) -> None:
        """Every argument to its end, and then the button that approves. What is too long even for this has none."""
        card = await self._receiver.whole(press)
        if isinstance(card, str):
            await _tell(interaction, card)
            return
        text = arguments.lines(card.arguments)
        pieces = fenced_pieces(text, _PIECE)
        shown = pieces[:_PIECES]
        read = await _tell(interaction, f"{card.statement}\n{card.tool}")
        for piece in shown:
            read = read and await _whisper(interaction, fenced(piece))
        if not read:  # who has not seen all of it does not approve it here
            await _tell(interaction, "Not all of it could be shown. Please press the button again in a minute.")
        elif len(pieces) > _PIECES:
            left, where = len(text) - sum(map(len, shown)), f"casebound gate show {card.gate_id}"
            await _tell(interaction, f"… and {left:,} characters more. Decide it where all of it can be read: {where}")
        elif "approve" in card.verbs:
            await _offer(interaction, card)


async def _acknowledge(interaction: discord.Interaction, *, new: bool) -> None:
    """Say in time that it has arrived. Whether Discord hears that or not, it has.

    `new`: what is answered is a message of its own, and not beside the one that was pressed.
    """
    try:
        await interaction.response.defer(ephemeral=True, thinking=new)
    except _NOT_ANSWERED as error:
        _note("discord.not_acknowledged", error)


async def _offer(interaction: discord.Interaction, card: Card) -> None:
    view = discord.ui.View(timeout=None)
    view.add_item(presses.button(card, "approve"))
    view.stop()
    await _whisper(interaction, "That is all of it.", view)


async def _tell(interaction: discord.Interaction, text: str) -> bool:
    """Nobody's record: what was decided is on the card and in the trail."""
    return await _whisper(interaction, as_shown(text, 2_000)[0] or "Done.")


async def _whisper(interaction: discord.Interaction, text: str, view: discord.ui.View | None = None) -> bool:
    """Whether it got through, as it stands, to that person alone."""
    try:
        if view is None:
            await interaction.followup.send(text, ephemeral=True)
        else:
            await interaction.followup.send(text, view=view, ephemeral=True)
    except _NOT_ANSWERED as error:
        _note("discord.not_whispered", error)
        return False
    return True


def _note(what: str, error: Exception) -> None:
    """Without its text, which may hold the token of the interaction."""
    code = error.code if isinstance(error, discord.HTTPException) else None
    log.warning(what, extra={"fields": {"error": type(error).__name__, "code": code}})


def _account(interaction: discord.Interaction) -> Account:
    return places.account(interaction.user.id, interaction.user.display_name)
