"""Profiles at work: permissions intersect, so a profile takes away and never gives (design, section 7)."""

from collections.abc import Iterable, Mapping

from bot.settings import Settings
from bot.settings.profiles import Profile
from bot.settings.values import Verdict
from bot.tools.declare import Tool
from casestore.models import Principal

_STRICTER: tuple[Verdict, ...] = ("free", "gate", "refuse")
NONE: Mapping[str, Profile] = {}
"""Where it is not said for whom something is done."""


def of(settings: Settings, acts_for: Principal | None) -> Mapping[str, Profile]:
    """The profiles that hold for what is done for somebody, by what they are called in the settings."""
    if acts_for is None:
        return settings.profiles.of(None, None)
    return settings.profiles.of(acts_for.role, acts_for.name)


def narrowed(tool: Tool, verdict: Verdict, profiles: Iterable[Profile]) -> Verdict:
    """The strictest of what the policy and the profiles say about a call."""
    said: list[Verdict] = [verdict]
    for profile in profiles:
        said.append(profile.says(tool.tier) or "free")
        if not profile.leaves(tool.name):
            said.append("refuse")
    return max(said, key=_STRICTER.index)
