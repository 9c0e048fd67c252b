"""What a channel finds when it looks at its own set-up, for `casebound doctor`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from channels.card import Card


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    what     what it is, in a few words
    found    what there is, in one sentence
    to_do    what to do about it, step by step; empty: all is well
    """

    what: str
    found: str
    to_do: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing has to be done about it."""
        return not self.to_do


@runtime_checkable
class Examined(Protocol):
    """A channel that can tell what is amiss with its set-up."""

    def examine(self, sample: Card, room: str | None) -> AsyncIterator[Finding]:
        """Look at everything, one thing after the other, without starting to listen.

        `sample` is a card that is posted, changed, found and taken away again in `room`, the platform's id of one;
        None: nothing is posted.
        """
        ...


@runtime_checkable
class Acquainted(Protocol):
    """A channel that can tell from which accounts nobody acts."""

    async def absent(self, account_ids: Sequence[str]) -> Mapping[str, str]:
        """Of these ids of accounts, those from which nobody acts here, each with what it is instead: `is …`.

        Needs no start. What cannot be found out is left out; of many, only the first are asked about.
        """
        ...
