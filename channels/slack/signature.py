"""Whether a request comes from Slack: its signature, over the very bytes that came, in constant time.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slack_sdk.signature import Clock, SignatureVerifier

_TIMESTAMP, _SIGNATURE = "x-slack-request-timestamp", "x-slack-signature"


class Signature:
    """What one signing secret has signed."""

    def __init__(self, secret: str, now: Callable[[], float] | None = None) -> None:
        """`now` in seconds since 1970; None: this machine's time.

        Raises `ValueError` for an empty secret, which anybody could sign with (R24).
        """
        clock = Clock()
        if now is not None:
            clock.now = now
        self._verifier = SignatureVerifier(secret, clock)

    def signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether the body is Slack's and no more than five minutes old. `headers` by their names in lower case.

        The headers are anybody's: digits or letters that cannot be compared are a no like any other.
        """
        timestamp, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
        if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 16 and signature.isascii()):
            return False
        try:
            return self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:  # Slack sends UTF-8
            return False
