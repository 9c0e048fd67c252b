"""What a session asks to be told. https://docs.discord.com/developers/events/gateway#list-of-intents"""

from enum import IntFlag


class Intent(IntFlag):
    """Those that matter here by name; the others are known as numbers."""

    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    MESSAGE_CONTENT = 1 << 15


ALWAYS = Intent(0)
PRIVILEGED = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT
# Bits 0 to 16, 20, 21, 24 and 25 are on the list; any other is "invalid" (4013).
KNOWN = (1 << 17) - 1 | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25
