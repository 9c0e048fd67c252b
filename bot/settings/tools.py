"""Tools beside the bundled ones: `[python]` and `[mcp.NAME]`; and `[tools."NAME"]`, about each."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, model_validator

from bot.errors import SettingsError
from bot.settings.section import Section
from bot.settings.values import Place
from bot.words.durations import Duration, duration
from casestore.states import Tier

Note = Annotated[str, Field(min_length=1, max_length=4_000)]
"""A note for the model; it is sent with every request that it belongs to."""

_TAKEN = ("case", "host")


def _module(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", name) and not name.endswith(".py"):
        return name
    raise ValueError("has to be the name of a module, such as my_tools: no .py, and its directory in python.path")


class Python(Section):
    """`[python]`: tools of one's own, in Python."""

    module: Annotated[str, AfterValidator(_module)] | None = None
    path: Place = Path(".")


class ToolSettings(Section):
    """`[tools."NAME"]`: what the operator says about a tool; None leaves it as it was declared."""

    tier: Tier | None = None
    sensitive: bool | None = None
    verified: bool | None = None
    effect_key: str | None = None
    idempotent: bool | None = None
    may_change: tuple[str, ...] | None = None
    ttl: Duration | None = None
    timeout: Duration | None = None
    note: Note | None = None


def _server(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9-]+(_[a-z0-9-]+)*", name) or len(name) > 24:
        raise ValueError(
            f"{name[:40]!r} cannot be the name of an MCP server: at most 24 small letters, digits and -, with single _ "
            "between them, since the names of its tools begin with it"
        )
    if name in _TAKEN:
        raise ValueError(f"an MCP server cannot be called {name}: bundled tools are called {name}.…")
    return name


ServerName = Annotated[str, AfterValidator(_server)]
"""What an MCP server is called here."""


def _address(url: str) -> str:
    if not re.fullmatch(r"https?://[!-~]+", url):
        raise ValueError("has to begin with https:// or http:// and hold no blank")
    if "@" in url.split("/")[2]:
        raise ValueError("may hold no password: what the server has to know belongs in headers")
    return url


def _environment(given: dict[str, SecretStr]) -> dict[str, SecretStr]:
    """A variable of ours spells every name in small letters; programs want theirs in capitals."""
    return {name.upper() if name.islower() else name: value for name, value in given.items()}


def _headers(given: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name, value in given.items():
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or not re.fullmatch(r"[ -~]+", value.get_secret_value()):
            raise ValueError("a header is a word, and its value visible characters on one line")
    return {name.replace("_", "-"): value for name, value in given.items()}


class Mcp(Section):
    """`[mcp.NAME]`: a server of the Model Context Protocol, as a program or at an address."""

    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: Annotated[dict[str, SecretStr], AfterValidator(_environment)] = Field(default_factory=dict[str, SecretStr])
    url: Annotated[str, AfterValidator(_address)] | None = None
    headers: Annotated[dict[str, SecretStr], AfterValidator(_headers)] = Field(default_factory=dict[str, SecretStr])
    tier: Tier | None = None
    timeout: Duration = duration("30s")

    @model_validator(mode="after")
    def _one_way(self) -> "Mcp":
        if (self.command is None) == (self.url is None):
            raise SettingsError("an MCP server needs a command or a url, and not both")
        if self.command is None and (self.args or self.env):
            raise SettingsError("args and env of an MCP server are for a command; one with a url has headers")
        if self.url is None and self.headers:
            raise SettingsError("headers of an MCP server are for a url; a command has env")
        return self

    def secrets(self) -> tuple[str, ...]:
        """What no log line may show."""
        return tuple(value.get_secret_value() for value in (*self.env.values(), *self.headers.values()))
