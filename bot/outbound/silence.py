"""Channels that refuse our token: each is left alone for a while, and then tried with one call at a time."""

from collections.abc import Iterable

from channels.errors import AuthFailed

WAIT_MS = 60_000


class Silence:
    """Question after question with a token that is refused makes it worse, and so do many at once."""

    def __init__(self) -> None:
        self.why: dict[str, str] = {}
        """The channels, and what each said last."""
        self._until: dict[str, int] = {}

    def begin(self, channel: str, error: AuthFailed, now: int) -> None:
        """It has refused us, at `now` (ms UTC)."""
        self.why[channel] = str(error)
        self._until[channel] = now + WAIT_MS

    def end(self, channel: str) -> None:
        """It has taken something."""
        self.why.pop(channel, None)
        self._until.pop(channel, None)

    def attempt(self, channel: str, now: int) -> None:
        """It is being tried: whoever looks meanwhile leaves it alone, however long the answer takes to come."""
        self._until[channel] = now + WAIT_MS

    def not_attempted(self, channel: str, now: int) -> None:
        """There was nothing to try it with."""
        if channel in self.why:
            self._until[channel] = now

    def over(self, channel: str, now: int) -> bool:
        """Whether it may be called at all."""
        return self._until.get(channel, 0) <= now

    def split(self, channels: Iterable[str], now: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those that are well, and those of which one call may find out whether they are again."""
        open_ones = [name for name in channels if self.over(name, now)]
        return tuple(name for name in open_ones if name not in self.why), tuple(
            name for name in open_ones if name in self.why
        )
