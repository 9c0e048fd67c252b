"""Rate limits. https://docs.discord.com/developers/topics/rate-limits

They run on real time, because a real client sleeps in it.
"""

import asyncio
import hashlib
from dataclasses import dataclass, field

from tests.wire.discord.faults import Fault


@dataclass
class Bucket:
    """So many calls in so many seconds, for each top-level resource of the path on its own."""

    name: str
    limit: int
    per: float
    windows: dict[str, tuple[float, int]] = field(default_factory=dict[str, tuple[float, int]])

    def take(self, resource: str) -> tuple[bool, int, float]:
        """Whether this call is let through, how many more are, and in how many seconds the window ends."""
        now = asyncio.get_running_loop().time()
        ends, used = self.windows.get(resource, (0.0, 0))
        if ends <= now:
            ends, used = now + self.per, 0
        if used >= self.limit:
            return False, 0, ends - now
        self.windows[resource] = (ends, used + 1)
        return True, self.limit - used - 1, ends - now


class Limits:
    """The buckets of all endpoints. Where a test has set none, there is room for more than any test asks."""

    def __init__(self) -> None:
        self._set: dict[str, Bucket] = {}

    def set(self, name: str, limit: int, per: float) -> None:
        """So many calls of an endpoint in so many seconds, in each channel."""
        self._set[name] = Bucket(name, limit, per)

    def take(self, name: str, resource: str) -> tuple[dict[str, str], Fault | None]:
        """The headers of the answer, and the refusal if there is one.

        #header-format: Limit, Remaining, Reset, Reset-After, and Bucket, "non-inclusive of top-level resources".
        """
        bucket = self._set.get(name)
        allowed, left, after = (True, 49, 1.0) if bucket is None else bucket.take(resource)
        headers = {
            "X-RateLimit-Limit": str(50 if bucket is None else bucket.limit),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset-After": f"{after:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(name.encode()).hexdigest()[:16],
        }
        return headers, None if allowed else Fault(429, retry_after=round(after, 3))


def refusal(fault: Fault) -> tuple[dict[str, object], dict[str, str]]:
    """The body and the headers of a 429. #exceeding-a-rate-limit: the two examples there, bucket and global.

    `Via`: Discord stands behind a proxy, and its clients take an answer without it for a ban by that proxy.
    """
    seconds = fault.retry_after or 0.0
    body: dict[str, object] = {
        "message": "You are being rate limited.", "retry_after": seconds, "global": fault.everywhere,
    }  # fmt: skip
    headers = {"Retry-After": f"{max(1, round(seconds))}", "Via": "1.1 google"}
    headers["X-RateLimit-Scope"] = "global" if fault.everywhere else "user"
    if fault.everywhere:
        headers["X-RateLimit-Global"] = "true"
    return body, headers
