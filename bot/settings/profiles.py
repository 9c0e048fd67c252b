"""`[profiles]`: what the assistant may do for some people, or for nobody in particular: less than the policy allows."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from bot.settings.section import Section
from bot.settings.values import Verdict
from casestore.states import Role, Tier

NOBODY = "nobody"
"""Whom a turn acts for that no person has caused, such as one about an alert."""


def _named(names: str) -> str:
    if re.fullmatch(r"[\w-]+(\.[\w-]+)*(\.\*)?", names):
        return names
    raise ValueError("has to be the name of a tool, or host.* for all whose names begin so")


ToolNames = Annotated[str, Field(max_length=64), AfterValidator(_named)]
"""A tool, or with `.*` at its end every tool whose name begins so."""


class Profile(Section):
    """What one role or one person is left of what the policy allows. What is not set takes nothing away."""

    tools: tuple[ToolNames, ...] | None = None
    without: tuple[ToolNames, ...] = ()
    read_only: Verdict | None = None
    routine: Verdict | None = None
    consequential: Verdict | None = None

    def leaves(self, tool: str) -> bool:
        """Whether a tool may be used at all; an empty list of tools leaves none (R24)."""
        named = self.tools is None or any(_is_of(tool, names) for names in self.tools)
        return named and not any(_is_of(tool, names) for names in self.without)

    def says(self, tier: Tier) -> Verdict | None:
        """What is to be done with calls of a tier, where it is not what the policy says."""
        match tier:
            case Tier.READ_ONLY:
                return self.read_only
            case Tier.ROUTINE:
                return self.routine
            case Tier.CONSEQUENTIAL:
                return self.consequential


class Profiles(Section):
    """`[profiles]`: by the role of whom a turn acts for, and by their name here, which is the principal's (R20)."""

    roles: dict[str, Profile] = Field(default_factory=dict[str, Profile])
    principals: dict[str, Profile] = Field(default_factory=dict[str, Profile])

    @field_validator("roles")
    @classmethod
    def _known(cls, roles: dict[str, Profile]) -> dict[str, Profile]:
        there_are = (*map(str, Role), NOBODY)
        if strange := sorted(roles.keys() - {*there_are}):
            raise ValueError(f"there is no role {strange[0]!r}; there are {', '.join(there_are)}")
        return roles

    def every(self) -> dict[str, Profile]:
        """All of them, by what they are called in the settings."""
        roles = {f"profiles.roles.{role}": profile for role, profile in self.roles.items()}
        return roles | {f'profiles.principals."{name}"': profile for name, profile in self.principals.items()}

    def of(self, role: str | None, name: str | None) -> dict[str, Profile]:
        """Those that hold for what is done for somebody, by the same; for nobody, where that is None."""
        found = {f"profiles.roles.{role or NOBODY}": self.roles.get(role or NOBODY)}
        if name is not None:
            found[f'profiles.principals."{name}"'] = self.principals.get(name)
        return {where: profile for where, profile in found.items() if profile is not None}


def matches(names: str, tools: Iterable[str]) -> bool:
    """Whether there is a tool of these that is meant."""
    return any(_is_of(tool, names) for tool in tools)


def _is_of(tool: str, names: str) -> bool:
    return tool.startswith(names[:-1]) if names.endswith(".*") else tool == names
