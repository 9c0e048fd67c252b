"""Presses, modals and commands: answered in time, to that person alone.

An interaction has to be answered within three seconds, and can be for fifteen minutes; so it is acknowledged first.
https://docs.discord.com/developers/interactions/receiving-and-responding
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import cast

import discord

from channels import arguments
from channels.address import Account
from channels.card import Card
from channels.discord import events, modals, places, presses
from channels.discord.literal import fenced, literally
from channels.discord.whereabouts import Whereabouts
from channels.messages import Command, Press, Quoting
from channels.port import Receiver

log = logging.getLogger("casebound.discord")

_ALREADY_ANSWERED = 40060
_PIECE, _PIECES = 1_900, 8


class Answers:
    """Answers interactions."""

    def __init__(self, receiver: Receiver, where: Whereabouts) -> None:
        self._receiver, self._where = receiver, where

    async def interacted(self, interaction: discord.Interaction) -> None:
        """A press on a button, or a modal that was sent off; commands come by the tree."""
        name = str(cast("Mapping[str, object]", interaction.data or {}).get("custom_id") or "")
        submitted = interaction.type is discord.InteractionType.modal_submit
        button = modals.button_of(name) if submitted else name
        if not presses.verb_of(button):
            return
        if not submitted and presses.verb_of(button) in presses.WITH_REASON:
            await self._ask_why(interaction, button)
        elif await _acknowledged(interaction, new=submitted):
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
        if not await _acknowledged(interaction, new=True):
            return
        at = await self._where.of_interaction(interaction)
        if at is None:
            await _tell(interaction, "I am not at work here.")
            return
        command = Command(address=at, account=_account(interaction), text=line)
        await _tell(interaction, await self._receiver.command(command))

    async def opened_on(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """A case on a message: quoted, with whose it is, for whoever asked for it."""
        if not await _acknowledged(interaction, new=True):
            return
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
        if await self._where.of_interaction(interaction) is None:
            return
        try:
            await interaction.response.send_modal(modals.reason(button))
        except discord.HTTPException as error:
            log.warning("discord.not_opened", extra={"fields": {"code": error.code}})

    async def _show_whole(self, interaction: discord.Interaction, press: Press) -> None:
        """Every argument to its end, and then the button that approves. What is too long even for this has none."""
        card = await self._receiver.whole(press)
        if isinstance(card, str):
            await _tell(interaction, card)
            return
        text = arguments.lines(card.arguments)
        pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]
        await _tell(interaction, f"{card.statement}\n{card.tool}")
        for piece in pieces[:_PIECES]:
            await interaction.followup.send(fenced(piece), ephemeral=True)
        if len(pieces) > _PIECES:
            left, where = len(text) - _PIECE * _PIECES, f"casebound gate show {card.gate_id}"
            await _tell(interaction, f"… and {left:,} characters more. Decide it where all of it can be read: {where}")
        elif "approve" in card.verbs:
            await _offer(interaction, card)


async def _acknowledged(interaction: discord.Interaction, *, new: bool) -> bool:
    """Say in time that it has arrived; False where that was said before, as the same one came twice.

    `new`: what is answered is a message of its own, and not beside the one that was pressed.
    """
    try:
        await interaction.response.defer(ephemeral=True, thinking=new)
    except discord.HTTPException as error:
        if error.code == _ALREADY_ANSWERED:
            return False
        log.warning("discord.not_acknowledged", extra={"fields": {"code": error.code}})
    return True


async def _offer(interaction: discord.Interaction, card: Card) -> None:
    view = discord.ui.View(timeout=None)
    view.add_item(presses.button(card, "approve"))
    view.stop()
    await interaction.followup.send("That is all of it.", view=view, ephemeral=True)


async def _tell(interaction: discord.Interaction, text: str) -> None:
    """Nobody's record: what was decided is on the card and in the trail."""
    try:
        await interaction.followup.send(literally(text)[:2_000] or "Done.", ephemeral=True)
    except discord.HTTPException as error:
        log.warning("discord.not_whispered", extra={"fields": {"code": error.code}})


def _account(interaction: discord.Interaction) -> Account:
    return places.account(interaction.user.id, interaction.user.display_name)
