"""The card of a gate: everything one person needs to decide, in the engine's words.

A card is data. Each channel lays it out in its own way (`plain.py` is the layout for text), and a card is
made anew from its gate each time it is sent or edited (R28). Every string in it is made visible as the card
is built: no surface can show an approver less than what is there.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, PositiveInt, model_validator

from channels.visible import Shown

Verb = Literal["approve", "deny", "revise", "happened", "not_happened", "rerun", "withdraw"]
"""What can be answered: the first three to a question, the next three to "did it happen?"; the last takes it back."""

Digest8 = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
"""The first eight hexadecimal digits of the digest that was shown: tells a stale copy from a fresh one."""

Needed = Annotated[Shown, Field(min_length=1)]


class Argument(BaseModel, frozen=True, extra="forbid"):
    """One argument of the held call.

    `was` is the value it was asked with, when somebody has changed it since. `length` is None while `value`
    is the whole value; where `value` holds only its first and last part, it is the whole's length in
    characters.
    """

    name: Needed
    value: Shown
    was: Shown | None = None
    length: PositiveInt | None = None

    @property
    def shortened(self) -> bool:
        """Whether the value must be opened before it can be approved."""
        return self.length is not None


class Card(BaseModel, frozen=True, extra="forbid"):
    """A gate as people see it: open while it offers `verbs`, decided once it has an `outcome` in their place.

    statement    the engine's sentence: verb, object, place
    case_label   `C-1042`; case_title; case_url leads to the case, where there is a dashboard
    origin       where the case came from and its priority, `alert · critical`
    tier_note    what kind of call it is, `consequential, not reversible`
    asked_by     on whose behalf, and how they were verified
    because      the assistant's words: shown quoted, never as the engine's
    looked_at    the calls that ran in this turn, newest last, each with its result
    waiting      what waits behind this call; earlier: an earlier effect of the same intent
    decides      who may; if_nobody: when it expires, and what happens then
    expires_at   the same time in ms UTC, for surfaces that show a time by the clock of who reads it
    outcome      lines that take the place of the buttons: who decided what, and what came of it
    """

    kind: Literal["card"] = "card"
    gate_id: PositiveInt
    digest8: Digest8
    verbs: tuple[Verb, ...]
    heading: Needed = "Approve?"
    statement: Needed
    case_label: Needed
    case_title: Shown
    case_url: Annotated[str, Field(pattern=r"^https?://[!-~]+$")] | None = None
    origin: Shown
    tool: Needed
    tier_note: Shown
    arguments: tuple[Argument, ...]
    asked_by: Shown
    because: Shown | None = None
    looked_at: tuple[Shown, ...] = ()
    waiting: Shown | None = None
    earlier: Shown | None = None
    decides: Shown
    if_nobody: Shown
    expires_at: Annotated[int | None, Field(ge=0, exclude=True)] = None
    outcome: tuple[Shown, ...] = ()

    @model_validator(mode="after")
    def _open_or_decided(self) -> Self:
        if self.verbs and self.outcome:
            raise ValueError("A card offers verbs or shows an outcome: leave verbs empty once it is decided.")
        if self.verbs and not (self.decides and self.if_nobody):
            raise ValueError("An open card says who decides and what happens if nobody does.")
        return self
