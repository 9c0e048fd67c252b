"""HTTP mode: the requests that Slack posts to an app, and their signatures.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import hashlib
import hmac
import json
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.wire.slack.payload import Json


@dataclass(frozen=True)
class SignedRequest:
    """A POST as Slack sends it: the raw body and the headers. A test may change either with `dataclasses.replace`."""

    body: bytes
    headers: dict[str, str]


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """`v0=` and the HMAC-SHA256 of `v0:timestamp:body`, over the bytes as they are sent."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def sign(
    body: bytes, secret: str, at: float, *, content_type: str, retry: int = 0, reason: str = "http_timeout"
) -> SignedRequest:
    """A body made into a request of that moment. Retries say so in two headers.

    https://docs.slack.dev/apis/events-api/#retries
    """
    timestamp = str(int(at))
    headers = {
        "Content-Type": content_type,
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(secret, timestamp, body),
    }
    if retry:
        headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason}
    return SignedRequest(body, headers)


def request_for(kind: str, payload: Json, secret: str, at: float, *, retry: int = 0) -> SignedRequest:
    """The request that carries an envelope's payload: events as JSON, interactions in a form's `payload`, commands as
    a form.

    https://docs.slack.dev/apis/events-api/, https://docs.slack.dev/interactivity/handling-user-interaction,
    https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    if kind == "events_api":
        return sign(json.dumps(payload).encode(), secret, at, content_type="application/json", retry=retry)
    fields = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return sign(
        urlencode(fields).encode(), secret, at, content_type="application/x-www-form-urlencoded", retry=retry
    )  # fmt: skip
