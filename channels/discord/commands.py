"""What Discord offers as commands: `/case`, `/gate`, and "Open a case" in the menu of a message.

They say what was typed as one line, as on every channel; what it means is the receiver's.
https://docs.discord.com/developers/interactions/application-commands
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import discord
from discord import app_commands

Said = Callable[[discord.Interaction, str], Awaitable[None]]
OpenedOn = Callable[[discord.Interaction, discord.Message], Awaitable[None]]

_CASES: dict[str, tuple[str, str | None, bool]] = {
    "open": ("Open a case", "What it is about", True),
    "list": ("The cases that you may see", None, False),
    "mine": ("The cases that are yours", None, False),
    "show": ("One case", "Such as C-1042", True),
    "take": ("Take a case over (operators)", "Such as C-1042", False),
    "release": ("Hand a case back (operators)", "Such as C-1042", False),
    "resolve": ("Resolve a case (operators)", "Such as C-1042, and why", False),
    "withdraw": ("Take back what waits for a decision in a case of yours", "Such as C-1042, and why", False),
    "bind": ("Bind a case to this thread too (operators)", "Such as C-1042", True),
    "unbind": ("Let go of this thread (operators)", None, False),
    "link": ("Let this account speak for you", "The code that you were given", True),
}
_GATES: dict[str, tuple[str, str | None, bool]] = {
    "list": ("What waits for a decision", None, False),
    "show": ("One gate", "Its number", True),
}
"""Verb → what it is for, what its text is, and whether there has to be one. None: it takes none."""


def offer(tree: app_commands.CommandTree[discord.Client], said: Said, opened_on: OpenedOn) -> None:
    """Put them all into the tree; each is answered by one of the two."""
    for noun, about, verbs in (("case", "Cases", _CASES), ("gate", "Approvals", _GATES)):
        group = app_commands.Group(name=noun, description=about, guild_only=True)
        for verb, (words, text, needed) in verbs.items():
            group.add_command(_command(noun, verb, words, text, said, needed=needed))
        tree.add_command(group)

    async def on_message(interaction: discord.Interaction, message: discord.Message) -> None:
        await opened_on(interaction, message)

    tree.add_command(app_commands.ContextMenu(name="Open a case", callback=on_message))


def _command(
    noun: str, verb: str, words: str, text: str | None, said: Said, *, needed: bool
) -> app_commands.Command[app_commands.Group, ..., None]:
    line = f"/{noun} {verb}"
    if text is None:

        async def alone(interaction: discord.Interaction) -> None:
            await said(interaction, line)

        return app_commands.Command(name=verb, description=words, callback=alone)
    if needed:

        async def with_text(interaction: discord.Interaction, text: str) -> None:
            await said(interaction, f"{line} {text}")

        return app_commands.describe(text=text)(app_commands.Command(name=verb, description=words, callback=with_text))

    async def perhaps(interaction: discord.Interaction, text: str = "") -> None:
        await said(interaction, f"{line} {text}".strip())

    return app_commands.describe(text=text)(app_commands.Command(name=verb, description=words, callback=perhaps))
