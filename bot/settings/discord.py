"""`[discord]`: the bot of one application."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator

from bot.errors import SettingsError
from bot.settings.section import Section
from bot.settings.values import ApiUrl, secret


def _id(text: str) -> str:
    if not (text.isdecimal() and 15 <= len(text) <= 20):
        raise ValueError("has to be an id, a number of some 18 digits in quotes: Discord's developer mode copies it")
    return text


def _socket(url: str) -> str:
    if not url.startswith(("wss://", "ws://")):
        raise ValueError("has to begin with wss://, or ws:// for a server on this machine")
    return url


DiscordId = Annotated[str, AfterValidator(_id)]
"""A server, room or person by Discord's own id: names change hands (R20)."""


class Discord(Section):
    """`[discord]`: on once its token is set; without a server in `guilds` nobody is listened to (R20, R24)."""

    token: SecretStr | None = None
    guilds: tuple[DiscordId, ...] = ()
    rooms: tuple[DiscordId, ...] = ()
    operators_room: DiscordId | None = None
    private_threads: bool = True
    api_url: ApiUrl = "https://discord.com/api/v10/"
    gateway_url: Annotated[str, AfterValidator(_socket)] = Field(default="wss://gateway.discord.gg/")

    _token_is_one = field_validator("token")(secret())

    @property
    def on(self) -> bool:
        """Whether Discord is a channel here."""
        return self.token is not None

    @model_validator(mode="after")
    def _room_has_a_guild(self) -> "Discord":
        if self.operators_room is not None and not self.guilds:
            raise SettingsError("discord.operators_room is in a server: list that one first in discord.guilds")
        return self
