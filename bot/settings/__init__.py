"""Everything an installation can set, checked once at the start. `docs/settings.md` says what each key means.

`load` reads `casebound.toml`, the environment and secret files; `Settings()` is the defaults alone.
"""

from bot.settings.discord import Discord
from bot.settings.load import load
from bot.settings.sections import (
    Access,
    Alerts,
    Api,
    Cases,
    Files,
    Gates,
    Host,
    Leases,
    Limits,
    Model,
    Playbooks,
    Policy,
    Service,
    Settings,
    Slack,
    Verdict,
)
from bot.settings.tools import Mcp, Python, ToolSettings

__all__ = [
    "Access",
    "Alerts",
    "Api",
    "Cases",
    "Discord",
    "Files",
    "Gates",
    "Host",
    "Leases",
    "Limits",
    "Mcp",
    "Model",
    "Playbooks",
    "Policy",
    "Python",
    "Service",
    "Settings",
    "Slack",
    "ToolSettings",
    "Verdict",
    "load",
]
