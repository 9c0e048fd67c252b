"""Files that people attach to a message: what is said of them there, and the bytes, which are asked for later.

A link of a platform expires, or takes a token; what names the file to its channel is its `reference`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Protocol, runtime_checkable

from pydantic import BaseModel, Field, NonNegativeInt

from channels.storable import Storable
from channels.visible import one_line

_NAME, _TYPE = 200, 100


class Attached(BaseModel, frozen=True, extra="forbid"):
    """One file, as the message tells of it. Name and type are what its sender says they are: data, never a path.

    `reference`: what `fetch` finds it by. `withheld`: why nobody need try; None where it may be asked for.
    """

    name: Storable
    media_type: Storable
    size: NonNegativeInt | None
    reference: Annotated[Storable, Field(min_length=1, max_length=500)]
    withheld: Storable | None = None

    def __str__(self) -> str:
        return described(self.name, self.media_type, self.size)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file's bytes, with what its platform says by now that it is called and is; empty where it does not say."""

    content: bytes = field(repr=False)
    name: str = ""
    media_type: str = ""


@runtime_checkable
class HasFiles(Protocol):
    """A channel whose files can be asked for."""

    @property
    def connected(self) -> bool:
        """Whether its platform can be asked now, as far as is known."""
        ...

    async def fetch(self, reference: str, limit: int) -> Fetched:
        """The file; never more than `limit` bytes are read of it.

        Raises `FileGone`, `FileTooLarge`, `FileRefused`, which are final; `RetryLater` (also while stopped) and
        `AuthFailed`, after which it may be had.
        """
        ...


def described(name: str, media_type: str, size: int | None) -> str:
    """A file in words: every character of its name seen, its type, its size in bytes."""
    many = "" if size is None else f", {size:,} byte{'' if size == 1 else 's'}"
    return f"{_cut(name, _NAME) or 'without a name'}, {_cut(media_type, _TYPE) or 'of no type'}{many}"


def _cut(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"
