"""The seam between a platform that tells us things by requests and whatever serves HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Request:
    """A POST as it came: its headers by their names in lower case, and the very bytes of its body."""

    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said back. A status of 200 acknowledges: what was told is stored."""

    status: int
    body: str = ""
    content_type: str = "text/plain; charset=utf-8"


class Webhook(Protocol):
    """An address of ours that a platform posts to. It checks for itself who posts there."""

    @property
    def path(self) -> str:
        """Where it is, such as `/slack/events`."""
        ...

    @property
    def most_bytes(self) -> int:
        """The longest body that the platform sends: of a longer one nothing is taken, whoever sends it."""
        ...

    async def take(self, request: Request) -> Answer:
        """Answer one request; one that is not the platform's gets a 401 before anything in it is read."""
        ...


@runtime_checkable
class HasWebhook(Protocol):
    """A channel that may be told things by requests."""

    @property
    def webhook(self) -> Webhook | None:
        """Its address, where it listens there; None where it has a connection of its own."""
        ...
