"""Discord's time, in this server: it stands until a test moves it, so that nothing has to be waited for."""

from datetime import UTC, datetime

# https://docs.discord.com/developers/reference#snowflakes: "Discord Epoch, the first second of 2015".
EPOCH_MS = 1_420_070_400_000


class Clock:
    """Seconds since 1970."""

    def __init__(self, start: float) -> None:
        self._now = start
        self._last = 0

    def now(self) -> float:
        """What time it is."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds

    def iso(self, at: float | None = None) -> str:
        """A time as Discord writes it: …/reference#iso8601-datetime."""
        return datetime.fromtimestamp(self._now if at is None else at, UTC).isoformat()

    def snowflake(self) -> str:
        """A new id: the time in its upper bits, and greater than every one before. …/reference#snowflakes"""
        begin = (int(self._now * 1000) - EPOCH_MS) << 22
        self._last = max(begin, self._last + 1)
        return str(self._last)
