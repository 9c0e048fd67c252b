"""What the app may do in a workspace, and why: what `deploy/slack-manifest.yaml` asks for, and not one thing more.

https://docs.slack.dev/reference/scopes
"""

from __future__ import annotations

BOT: dict[str, str] = {
    "app_mentions:read": "hear that it is mentioned",
    "channels:history": "hear and read threads in public rooms that it was invited to",
    "groups:history": "hear and read threads in private rooms that it was invited to",
    "im:history": "hear and read what people write to it directly",
    "im:read": "find whoever wrote to it directly for the first time while it was not there",
    "mpim:history": "hear and read threads in group conversations that it was added to",
    "channels:read": "hear that a public room is archived, deleted, or that it was sent out of one",
    "groups:read": "hear the same of private rooms",
    "chat:write": "answer, ask for approvals, and change what it has said",
    "users:read": "see who is only a guest, where the settings tell them apart",
    "files:read": "keep a copy of what people attach to their messages",
    "commands": "offer its commands and its shortcut",
}
"""Scopes of the bot token, each with what it is for."""

APP: dict[str, str] = {"connections:write": "open the socket over which Slack speaks to it"}
"""Scopes of the app-level token, which Socket Mode needs."""

EVENTS: tuple[str, ...] = (
    "app_home_opened", "app_mention", "channel_archive", "channel_deleted", "channel_left",
    "group_archive", "group_deleted", "group_left", "message.channels", "message.groups", "message.im", "message.mpim",
)  # fmt: skip
"""The events that it is told of."""

METHODS: dict[str, tuple[str, ...]] = {
    "apps.connections.open": ("connections:write",),
    "assistant.threads.setStatus": ("chat:write",),
    "auth.test": (),
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": ("channels:history", "groups:history", "im:history", "mpim:history"),
    "conversations.info": ("channels:read", "groups:read"),
    "conversations.list": ("im:read",),
    "conversations.replies": ("channels:history", "groups:history", "im:history", "mpim:history"),
    "files.info": ("files:read",),
    "users.info": ("users:read",),
    "views.open": (),
    "views.publish": (),
}
"""The methods that it calls, each with the scopes that Slack wants for it."""


def missing(granted: str) -> list[str]:
    """The scopes that a bot token lacks; `granted` as the header `X-OAuth-Scopes` lists them."""
    have = {scope.strip() for scope in granted.split(",")}
    return [scope for scope in BOT if scope not in have]
