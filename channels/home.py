"""What a person finds on the bot's own page in a platform: what waits for them, and their cases."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, PositiveInt

from channels.card import Digest8, Verb
from channels.visible import Shown

Hand = Literal["take", "release"]
"""What a person may do with a case by hand: take it over, or hand it back."""


class Waiting(BaseModel, frozen=True, extra="forbid"):
    """A gate that this person may decide; `until` says when it expires, in words."""

    gate_id: PositiveInt
    digest8: Digest8
    verbs: tuple[Verb, ...]
    case_label: Annotated[Shown, Field(min_length=1)]
    statement: Shown
    until: Shown


class CaseLine(BaseModel, frozen=True, extra="forbid"):
    """A case in one line; `number` is what a command names it by, `hand` what this person may do with it."""

    number: PositiveInt
    label: Annotated[Shown, Field(min_length=1)]
    stands: Shown
    title: Shown
    hand: Hand | None = None


class Home(BaseModel, frozen=True, extra="forbid"):
    """The page of one person. Each list is cut; `more` says of which, in words."""

    waiting: tuple[Waiting, ...]
    mine: tuple[CaseLine, ...]
    wanting: tuple[CaseLine, ...]
    """Cases that want an operator; none for anybody else."""
    is_operator: bool
    more: tuple[Shown, ...] = ()
