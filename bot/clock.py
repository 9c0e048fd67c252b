"""The one place that reads a clock. Everything else is handed `now`, so that a test can say what time it is."""

import time
from typing import Protocol


class Clock(Protocol):
    """What time it is."""

    def now(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z."""
        ...


class SystemClock:
    """The machine's clock. It may jump, also backwards: nothing durable is undone because of that (R6)."""

    def now(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z, rounded down."""
        return time.time_ns() // 1_000_000
