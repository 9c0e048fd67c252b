"""Accounts: people and bots."""

from dataclasses import dataclass

from tests.wire.discord.payload import Json


@dataclass(eq=False)
class Person:
    """One account. `accepts_direct` False: their settings let nobody of a server write to them.

    `shown`: what they call themselves, which anybody may at will: …/resources/user#usernames-and-nicknames names what
    is refused, and look-alikes of others' names are not.
    """

    id: str
    name: str
    bot: bool = False
    accepts_direct: bool = True
    shown: str | None = None

    @property
    def mention(self) -> str:
        """How a message names them: …/reference#message-formatting-formats."""
        return f"<@{self.id}>"

    def as_json(self) -> Json:
        """https://docs.discord.com/developers/resources/user#user-object"""
        return {
            "id": self.id, "username": self.name, "discriminator": "0", "global_name": self.shown or self.name.title(),
            "avatar": None, "bot": self.bot, "system": False, "flags": 0, "public_flags": 0,
        }  # fmt: skip
