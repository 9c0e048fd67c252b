"""What the bot may do in a server, and why: what its invite asks for, and not one thing more.

https://docs.discord.com/developers/topics/permissions
"""

from __future__ import annotations

import discord

NEEDED: dict[str, tuple[str, str]] = {
    "view_channel": ("View Channels", "see the rooms in which it is asked"),
    "send_messages": ("Send Messages", "ask for approvals in the operators' room"),
    "send_messages_in_threads": ("Send Messages in Threads", "answer"),
    "create_private_threads": ("Create Private Threads", "begin a thread for a case"),
    "create_public_threads": ("Create Public Threads", "begin one that everybody sees, where the settings say so"),
    "embed_links": ("Embed Links", "show cards"),
    "read_message_history": ("Read Message History", "read what was said while it was not there"),
}
"""Each with Discord's name for it, and what it is for."""


def number() -> int:
    """All of them, as the invite carries them."""
    return discord.Permissions(**dict.fromkeys(NEEDED, True)).value


def missing(have: discord.Permissions) -> list[str]:
    """Those that are lacking, by Discord's names."""
    return [name for key, (name, _) in NEEDED.items() if not (have.administrator or getattr(have, key))]


def invite(application_id: int) -> str:
    """Where somebody who manages a server lets the bot in.

    https://docs.discord.com/developers/topics/oauth2#bot-authorization-flow
    """
    return (
        f"https://discord.com/oauth2/authorize?client_id={application_id}&scope=bot+applications.commands"
        f"&permissions={number()}"
    )
