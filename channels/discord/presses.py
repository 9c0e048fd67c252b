"""The buttons of a card, and what a press on one means.

A button is called `gate:ID:VERB:DIGEST8`; `gate:ID:view:DIGEST8` opens the whole call. Nothing about it is kept here,
so that it works after any restart, however old its message is.
https://docs.discord.com/developers/components/reference#button
"""

from __future__ import annotations

import re
from typing import cast

import discord

from channels.address import Address
from channels.card import Card, Verb
from channels.discord import places
from channels.messages import Press
from channels.plain import VERB_WORDS

PATTERN = r"gate:(?P<gate>[1-9][0-9]{0,17}):(?P<verb>[a-z_]{1,20}):(?P<digest>[0-9a-f]{8})"
VIEW = "view"
WITH_REASON = ("deny", "revise")
_NAME = re.compile(PATTERN)
_VERBS = frozenset({VIEW, *VERB_WORDS})
_STYLES: dict[str, discord.ButtonStyle] = {
    "approve": discord.ButtonStyle.success, "deny": discord.ButtonStyle.danger, VIEW: discord.ButtonStyle.primary,
}  # fmt: skip


def buttons(card: Card, *, whole: bool) -> discord.ui.View | None:
    """The buttons of an open card; where it does not show everything, approving is behind the one that does."""
    if not card.verbs:
        return None
    view = discord.ui.View(timeout=None)
    for verb in card.verbs:
        view.add_item(button(card, verb if whole or verb != "approve" else VIEW))
    return view


def button(card: Card, verb: str) -> discord.ui.Button[discord.ui.View]:
    """One button."""
    words = "View all and decide…" if verb == VIEW else VERB_WORDS[cast("Verb", verb)]
    return discord.ui.Button(
        label=words, style=_STYLES.get(verb, discord.ButtonStyle.secondary),
        custom_id=f"gate:{card.gate_id}:{verb}:{card.digest8}",
    )  # fmt: skip


def pressed(interaction: discord.Interaction, where: Address, name: str, reason: str | None = None) -> Press:
    """The press on the button of that name at `where`. On what one person alone is shown it is no copy of the card."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"no button of a card is called {name!r}")
    message = interaction.message
    seen_by_all = message is not None and not message.flags.ephemeral
    verb = "approve" if found["verb"] == VIEW else found["verb"]
    return Press.model_validate(
        {
            "address": where, "platform_id": str(message.id) if message is not None and seen_by_all else None,
            "account": places.account(interaction.user.id, interaction.user.display_name),
            "gate_id": int(found["gate"]), "verb": verb, "digest8": found["digest"], "reason": reason,
        }
    )  # fmt: skip


def verb_of(name: str) -> str:
    """What a button of that name is for; empty where it is no button of a card."""
    found = _NAME.fullmatch(name)
    return "" if found is None or found["verb"] not in _VERBS else found["verb"]
