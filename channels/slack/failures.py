"""What Slack refuses, in our words: each of its errors is one answer to "what now?" (R27).

https://docs.slack.dev/reference/methods/chat.postMessage#errors
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import aiohttp
from slack_sdk.errors import SlackApiError

from channels.address import Address
from channels.errors import (
    AuthFailed,
    ChannelError,
    FileGone,
    RetryLater,
    ScopeMissing,
    ThreadGone,
    Uncertain,
    Undeliverable,
)  # fmt: skip
from channels.slack.places import NAME

_TOKEN = frozenset({
    "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type",
    "org_login_required", "team_access_not_granted", "access_denied",
    "two_factor_setup_required",
})  # fmt: skip
_SCOPE = frozenset({"missing_scope", "no_permission"})
_GONE = frozenset({
    "channel_not_found", "is_archived", "not_in_channel", "thread_not_found", "thread_locked",
    "restricted_action", "restricted_action_thread_locked", "restricted_action_read_only_channel",
    "restricted_action_non_threadable_channel", "messages_tab_disabled", "user_not_found", "cannot_reply_to_message",
})  # fmt: skip
_NO_FILE = frozenset({"file_not_found", "file_deleted"})
_LATER = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded", "team_added_to_org", "request_timeout"})
_UNSURE = frozenset({"fatal_error", "internal_error", "service_unavailable"})
"""Of the first two Slack says that part of it may have been done all the same."""


class NotSlack(Exception):
    """What came is no answer of Slack's."""


class MessageMissing(Undeliverable):
    """The message that was to be changed is not there."""


@contextmanager
def translated(
    address: Address, *, sends: bool = False, setting: str = "slack.bot_token"
) -> Generator[None]:  # fmt: skip
    """Raise what the port says, not what Slack's client does; `sends` where a repeat would be a second message.

    `setting` is where the token stands that the call is made with.
    """
    try:
        yield
    except SlackApiError as error:
        raise _answer(cast("Any", error.response), address, setting, sends=sends) from None
    except NotSlack as error:
        raise _not_slacks(str(error), sends=sends) from None
    except aiohttp.ClientConnectorError as error:
        raise RetryLater(0, f"Slack cannot be reached ({type(error).__name__})") from None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        why = f"the connection to Slack broke ({type(error).__name__})"
        raise (Uncertain(why) if sends else RetryLater(0, why)) from None


def _answer(response: Any, address: Address, setting: str, *, sends: bool) -> ChannelError:
    found = getattr(response, "data", None)  # of an answer that only claims to be JSON there is the bare response
    status = int(getattr(response, "status_code", None) or response.status)
    data = cast("dict[str, object]", found if isinstance(found, dict) else {})
    name = str(data.get("error") or "")
    words = name.replace("_", " ") or f"status {status}"
    if status == 429 or name in _LATER:
        return RetryLater(retry_after_ms(response.headers), "Slack asks us to wait")
    if name in _SCOPE:
        needed = data.get("needed")
        return ScopeMissing(NAME, f"{words}, needs {needed}" if needed else words)
    if name in _TOKEN:
        return AuthFailed(NAME, f"{words} ({setting})")
    if name in _NO_FILE:
        return FileGone("it was deleted in Slack")
    if name in _GONE:
        return ThreadGone(str(address), words)
    if status >= 500 or name in _UNSURE:
        return Uncertain(f"Slack failed ({words})") if sends else RetryLater(0, f"Slack failed ({words})")
    if not name:
        return _not_slacks(words, sends=sends)
    kind = MessageMissing if name == "message_not_found" else Undeliverable
    return kind(f"Slack refuses it ({words})")


def _not_slacks(words: str, *, sends: bool) -> ChannelError:
    """Somebody in between has answered, such as a proxy with a page of its own: what Slack did is not known."""
    why = f"what answered is not Slack, perhaps a proxy ({words})"
    return Uncertain(why) if sends else RetryLater(0, why)


def retry_after_ms(headers: Mapping[str, object]) -> int:
    """How long Slack asks us to wait; 0 where it does not say."""
    value = next((str(value) for key, value in headers.items() if key.lower() == "retry-after"), "")
    return int(value) * 1_000 if value.isdecimal() else 0
