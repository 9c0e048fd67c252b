"""The message shortcut "Open a case": a case in the thread of that message, for whoever used it.

https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
"""

from __future__ import annotations

from channels.messages import Quoting
from channels.slack import events, presses
from channels.slack.events import Us
from channels.slack.presses import Payload, part

OPEN_CASE = "open_case"


def asked(body: Payload, us: Us) -> Quoting | None:
    """Who asks for a case on which message. None for one who does not exist for us, or where nobody has said it."""
    account = presses.account_of(body, us)
    message = {**part(body, "message"), "type": "message", "channel": part(body, "channel").get("id")}
    said = events.of_anybody(message, us)
    if account is None or said is None:
        return None
    return Quoting(by=account, said=said, listened_to=said.account.space in us.teams)
