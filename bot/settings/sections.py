"""The settings, section by section, with their defaults. Durations are milliseconds once they are read."""

import zoneinfo
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from bot.errors import SettingsError
from bot.settings.discord import Discord
from bot.settings.model import Model
from bot.settings.profiles import Profiles
from bot.settings.section import Section
from bot.settings.tools import Mcp, Note, Python, ServerName, ToolSettings
from bot.settings.values import (
    ApiUrl,
    Count,
    Directory,
    Fraction,
    Place,
    RoomId,
    TeamId,
    TenantName,
    Verdict,
    ZoneName,
    secret,
)
from bot.words.durations import Duration, duration, duration_text
from bot.words.sizes import Size, size
from casestore.states import OnExpiry, Role

LEASE_MARGIN_MS = 30_000

_SPOKEN_ON = ("slack", "discord", "web", "console")


class Service(Section):
    """`[service]`: the process."""

    db: Place = Path("casebound.db")
    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8642, ge=0, le=65_535)
    timezone: ZoneName | None = None
    tenant: TenantName = "local"
    concurrency: Count = 64

    @property
    def zone(self) -> tzinfo | None:
        """The zone that times are shown in; None stands for the machine's, as in `bot.words.when.at_text`."""
        return None if self.timezone is None else zoneinfo.ZoneInfo(self.timezone)


class Prompt(Section):
    """`[prompt]`: what the operator tells the model, beside what is built in."""

    label: str | None = Field(default=None, min_length=1, max_length=80)
    house: Place | None = None
    channels: dict[str, Note] = Field(default_factory=dict[str, Note])

    @field_validator("channels")
    @classmethod
    def _known(cls, channels: dict[str, str]) -> dict[str, str]:
        if strange := sorted(channels.keys() - {*_SPOKEN_ON}):
            raise ValueError(f"there is no channel {strange[0]!r}; there are {', '.join(_SPOKEN_ON)}")
        return channels


class Playbooks(Section):
    """`[playbooks]`: the operator's own."""

    paths: tuple[Place, ...] = ()


class Policy(Section):
    """`[policy]`: what is done with each tier (R24)."""

    read_only: Verdict = "free"
    routine: Verdict = "free"
    consequential: Verdict = "gate"
    observe: bool = False


class Gates(Section):
    """`[gates]`: who decides, and until when; copied into each gate when it is asked."""

    ttl: Duration = duration("24h")
    reminders: tuple[Fraction, ...] = (0.5, 0.8)
    roles: tuple[Role, ...] = Field(default=(Role.OPERATOR,), min_length=1)
    four_eyes: bool = True
    on_expiry: OnExpiry = OnExpiry.TELL

    @field_validator("reminders")
    @classmethod
    def _ascending(cls, reminders: tuple[float, ...]) -> tuple[float, ...]:
        if list(reminders) != sorted(set(reminders)):
            raise ValueError("have to ascend, each larger than the one before")
        return reminders


class Leases(Section):
    """`[leases]`: the right to work a case (R10, R12)."""

    ttl: Duration = duration("10m")
    human_reminder: Duration = duration("4h")


class Limits(Section):
    """`[limits]`: what one run may use up; reaching one hands the case to an operator."""

    model_calls: Count = 20
    tool_calls: Count = 50
    tokens: Count = 200_000
    cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 5.0
    wall: Duration = duration("30m")
    attempts: Count = 5
    invalid_in_a_row: Count = 3
    programs_in_a_row: Count = 5
    programs_open: Count = 10
    programs_within: Duration = duration("1h")
    window_turns: Count = 20
    window_tokens: int = Field(default=50_000, ge=1_000)
    result_characters: int = Field(default=20_000, ge=200)


class Access(Section):
    """`[access]`: whom we listen to (R20, R12)."""

    unknown: Literal["ignore", "requester"] = "ignore"
    guests: Literal["ignore", "requester"] = "ignore"
    quoted: Literal["bystander", "requester"] = "bystander"
    operator_writes: Literal["takes_over", "joins"] = "takes_over"


class Guarded(Section):
    """A section with the secret that a caller has to know."""

    token: SecretStr | None = None

    _not_empty = field_validator("token")(secret())


class Alerts(Guarded):
    """`[alerts]`: what may open cases by itself."""


class Api(Guarded):
    """`[api]`: what scripts use; at most so many of them may listen to cases at once."""

    listeners: Count = 32


class Slack(Section):
    """`[slack]`: the app of one workspace; on once its bot token is set, and what its mode needs (R20, R24)."""

    mode: Literal["socket", "http"] = "socket"
    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    teams: tuple[TeamId, ...] = ()
    api_url: ApiUrl = "https://slack.com/api/"
    approvals_room: RoomId | None = None

    _bot_token_is_one = field_validator("bot_token")(secret("xoxb-"))
    _app_token_is_one = field_validator("app_token")(secret("xapp-"))
    _signing_secret_is_one = field_validator("signing_secret")(secret())

    @property
    def on(self) -> bool:
        """Whether Slack is a channel here."""
        return self.bot_token is not None

    @model_validator(mode="after")
    def _whole_or_left_out(self) -> "Slack":
        needed = "signing_secret" if self.mode == "http" else "app_token"
        missing = [name for name in ("bot_token", needed) if getattr(self, name) is None]
        begun = self.mode == "http" or self.app_token is not None or self.bot_token is not None
        if missing and begun:
            raise SettingsError(
                f"slack.{missing[0]} is missing: in the mode {self.mode!r} Slack needs bot_token and {needed}; "
                "to leave Slack out, set none of them"
            )
        if self.approvals_room is not None and not self.teams:
            raise SettingsError(
                "slack.approvals_room needs slack.teams too: the id (T…) of its workspace, as the first"
            )
        return self


class Delivered(Section):
    """`[delivery]`: what is said on the channels."""

    stale_after: Duration = duration("48h")


class Files(Section):
    """`[files]`: our own copies of what people attach to a message."""

    limit: Size = size("10MiB")


class Cases(Section):
    """`[cases]`: their end, and their threads."""

    auto_close: Duration = duration("72h")
    mirror: bool = False


class Host(Section):
    """`[host]`: this machine, and what the bundled tools may touch on it."""

    names: tuple[str, ...] = ()
    caches: dict[str, Directory] = Field(default_factory=dict[str, Directory])
    log_dirs: tuple[Directory, ...] = (Path("/var/log"),)


class Settings(Section):
    """All of it."""

    service: Service = Service()
    model: Model = Model()
    prompt: Prompt = Prompt()
    playbooks: Playbooks = Playbooks()
    policy: Policy = Policy()
    gates: Gates = Gates()
    leases: Leases = Leases()
    limits: Limits = Limits()
    access: Access = Access()
    alerts: Alerts = Alerts()
    api: Api = Api()
    delivery: Delivered = Delivered()
    slack: Slack = Slack()
    discord: Discord = Discord()
    files: Files = Files()
    cases: Cases = Cases()
    host: Host = Host()
    python: Python = Python()
    mcp: dict[ServerName, Mcp] = Field(default_factory=dict[ServerName, Mcp])
    tools: dict[str, ToolSettings] = Field(default_factory=dict[str, ToolSettings])
    profiles: Profiles = Profiles()

    @model_validator(mode="after")
    def _lease_outlives_what_is_set(self) -> "Settings":
        timeouts = [tool.timeout for tool in self.tools.values() if tool.timeout is not None]
        self.check_lease(max([self.model.timeout, *timeouts, *(server.timeout for server in self.mcp.values())]))
        return self

    def check_lease(self, longest_step_ms: int) -> None:
        """A lease is longer than any single step may take, and 30 s more (R10). Raises `SettingsError`.

        Checked here for what the settings say; to be called again with the longest timeout of the tools themselves.
        """
        least = longest_step_ms + LEASE_MARGIN_MS
        if self.leases.ttl <= least:
            raise SettingsError(
                f"leases.ttl is {duration_text(self.leases.ttl)}, but one step may take "
                f"{duration_text(longest_step_ms)} and a lease has to outlive it by 30s: set leases.ttl to more than "
                f"{duration_text(least)}, or lower model.timeout and the timeouts of tools"
            )

    def approval_rooms(self) -> tuple[str, ...]:
        """The addresses where gates are asked beside the threads of their cases."""
        slack, discord = self.slack, self.discord
        rooms: list[str] = []
        if slack.approvals_room is not None:
            rooms.append(f"slack:{slack.teams[0]}/{slack.approvals_room}")
        if discord.operators_room is not None:
            rooms.append(f"discord:{discord.guilds[0]}/{discord.operators_room}")
        return tuple(rooms)

    def secrets(self) -> tuple[str, ...]:
        """The value of every secret that is set: what no log line may show."""
        found: list[str] = []
        for name in type(self).model_fields:
            section = getattr(self, name)
            for value in vars(section).values() if isinstance(section, Section) else ():
                if isinstance(value, SecretStr):
                    found.append(value.get_secret_value())
        found += (secret for server in self.mcp.values() for secret in server.secrets())
        return tuple(found)
