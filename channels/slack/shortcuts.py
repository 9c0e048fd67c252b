"""The message shortcut "Open a case": a case in the thread of that message, for whoever used it.

https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
"""

from __future__ import annotations

from channels.messages import Inbound
from channels.slack import places, presses
from channels.slack.events import Us, spoken
from channels.slack.files import attached
from channels.slack.presses import Payload, part

OPEN_CASE = "open_case"


def opened_on(body: Payload, us: Us) -> Inbound | None:
    """What a person says by it: the message, quoted, and whose it is. None for one who does not exist for us."""
    account, message = presses.account_of(body, us), part(body, "message")
    room, ts = part(body, "channel").get("id"), message.get("ts")
    if account is None or not (isinstance(room, str) and isinstance(ts, str)):
        return None
    begins = message.get("thread_ts")
    author = str(message.get("user") or "somebody")
    text = spoken(str(message.get("text") or ""), us.user)
    # named, not kept: the quote is a message of its own, which does not go when the one that is quoted does
    lines = [*(text.split("\n") if text else []), *(f"(file: {file})" for file in attached(message))]
    quoted = "\n".join(f"> {line}" for line in lines)
    return Inbound(
        address=places.thread(us.team, room, begins if isinstance(begins, str) else ts),
        account=account,
        platform_id=f"{OPEN_CASE}-{ts}",  # once for each message, whoever uses it how often
        text=f"{quoted}\n(what @{author} wrote here; I opened a case on it)",
        addressed=True,
        at=places.millis(ts),
    )
