"""Slack's time, in this server: it stands until a test moves it, so that nothing has to be waited for."""


class Clock:
    """Seconds since 1970."""

    def __init__(self, start: float) -> None:
        self._now = start
        self._last = ""
        self._within = 0

    def now(self) -> float:
        """What time it is."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds

    def ts(self) -> str:
        """A new timestamp, greater than every one before: what Slack names a message by in its room.

        https://docs.slack.dev/messaging/retrieving-messages ("ts")
        """
        second = f"{int(self._now)}"
        self._within = self._within + 1 if second == self._last else 1
        self._last = second
        return f"{second}.{self._within:06d}"
