"""What opens before somebody who denies or revises: a field for the reason.

Its name carries all that the press is, so that what is sent off means the same after a restart.
https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-modal
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import discord

from channels.discord import presses

_NAME = "reason:"
_FIELD = "reason"
_CHARACTERS = 2_000


def reason(button: str) -> discord.ui.Modal:
    """Asks why not, or what to do instead, of whoever pressed the button of that name."""
    revises = presses.verb_of(button) == "revise"
    modal = discord.ui.Modal(title="Revise" if revises else "Deny", custom_id=f"{_NAME}{button}", timeout=None)
    field = discord.ui.TextInput[discord.ui.Modal](
        custom_id=_FIELD, style=discord.TextStyle.paragraph, required=revises, max_length=_CHARACTERS
    )
    label = "What should happen instead?" if revises else "Why not?"
    modal.add_item(discord.ui.Label(text=label, component=field))
    modal.stop()  # or discord.py keeps it until it is sent off, which may never be
    return modal


def button_of(name: str) -> str:
    """The button that opened the modal of that name; empty where it is none of ours."""
    return name.removeprefix(_NAME) if name.startswith(_NAME) else ""


def written(interaction: discord.Interaction) -> str | None:
    """What was written into it; None where nothing was."""
    data = cast("Mapping[str, object]", interaction.data or {})
    values = (str(field.get("value") or "") for field in _fields(data) if field.get("custom_id") == _FIELD)
    return next(values, "").strip() or None


def _fields(component: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    yield component
    inner = [component.get("component"), *cast("list[object]", component.get("components") or [])]
    for one in inner:
        if isinstance(one, dict):
            yield from _fields(cast("Mapping[str, object]", one))
