"""Who may do what where.

https://docs.discord.com/developers/topics/permissions: the bits, and how they add up.
"""

from enum import IntFlag


class May(IntFlag):
    """#permissions-bitwise-permission-flags, those that matter here."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    SEND_TTS_MESSAGES = 1 << 12
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


NOTHING = May(0)
EVERYTHING = ~NOTHING

# What `@everyone` of a new server may do, `MENTION_EVERYONE` among it.
USUAL = (
    May.VIEW_CHANNEL | May.SEND_MESSAGES | May.EMBED_LINKS | May.ATTACH_FILES | May.READ_MESSAGE_HISTORY
    | May.ADD_REACTIONS | May.MENTION_EVERYONE | May.USE_APPLICATION_COMMANDS
    | May.CREATE_PUBLIC_THREADS | May.CREATE_PRIVATE_THREADS | May.SEND_MESSAGES_IN_THREADS
)  # fmt: skip
