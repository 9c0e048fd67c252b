"""Presses on a card's buttons, and what is written into the modal that two of them open.

A button's value is `gate:ID:VERB:DIGEST8`. Some open a modal (`modals`), which carries all that a press is in its
`private_metadata`; what is submitted is then one press, perhaps with a reason.
https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from channels.address import Account, Address
from channels.messages import Command, Press
from channels.slack import modals, places
from channels.slack.blocks import as_written
from channels.slack.events import Us

log = logging.getLogger("casebound.slack")

ACTIONS = re.compile(r"gate_(approve|deny|revise|happened|not_happened|rerun|withdraw)")
VIEW = "gate_view"
WITH_REASON = ("deny", "revise")
_HAND = re.compile(r"/case (take|release) [1-9][0-9]{0,17}")
_VALUE = re.compile(r"gate:([1-9][0-9]{0,17}):([a-z_]{1,20}):([0-9a-f]{8})")

Payload = Mapping[str, object]


def pressed(body: Payload, us: Us) -> Press | None:
    """The press that a `block_actions` payload is; None for somebody who does not exist for us, or another's button."""
    account = account_of(body, us)
    container, action = part(body, "container"), _first(body, "actions")
    value = _VALUE.fullmatch(str(action.get("value", "")))
    room, ts = container.get("channel_id"), container.get("message_ts")
    if account is None or value is None:
        return None
    if at_home(body):
        room, ts, where = account.account_id, None, ""
    elif isinstance(room, str) and isinstance(ts, str):
        begins = container.get("thread_ts") or part(body, "message").get("thread_ts")
        # a card that stands in no thread was posted to the room itself
        where = "" if begins in (None, ts) else str(begins)
    else:
        return None
    address = Address(channel=places.NAME, space=us.team, room=room, thread=where)
    return _understood(
        {"address": address, "platform_id": ts, "account": account, "gate_id": int(value[1]), "verb": value[2],
         "digest8": value[3]}
    )  # fmt: skip


def submitted(body: Payload, us: Us) -> Press | None:
    """The press that a submitted modal is."""
    account = account_of(body, us)
    view = part(body, "view")
    if account is None or view.get("callback_id") not in (modals.REASON, modals.WHOLE):
        return None
    try:
        held: object = json.loads(str(view.get("private_metadata", "{}")))
    except ValueError:
        held = None
    written = part(part(part(part(view, "state"), "values"), "reason"), "text").get("value")
    reason = written.strip() if isinstance(written, str) else ""
    return _understood(
        {**cast("dict[str, object]", held), "account": account, "reason": reason or None}
        if isinstance(held, dict) else {}
    )  # fmt: skip


def _understood(press: Payload) -> Press | None:
    """The press, or None for one that no button and no modal of ours makes: it is no answer to anything."""
    try:
        return Press.model_validate(press)
    except ValidationError as error:
        log.warning("slack.press_not_understood", extra={"fields": {"faults": error.error_count()}})
        return None


def account_of(body: Payload, us: Us) -> Account | None:
    """Whose account acts; None for one of a workspace that we do not listen to (R20)."""
    user = part(body, "user")
    user_id = user.get("id")
    team = user.get("team_id") or part(body, "team").get("id")
    if not (isinstance(user_id, str) and isinstance(team, str)) or team not in us.teams:
        return None
    return Account(channel=places.NAME, space=team, account_id=user_id)


def at_home(body: Payload) -> bool:
    """Whether the button stood on the person's own page."""
    return part(body, "container").get("type") == "view" and part(body, "view").get("type") == "home"


def command_of(body: Payload, us: Us) -> Command | None:
    """The command that a button on somebody's page stands for; None for one who does not exist for us."""
    account, action = account_of(body, us), _first(body, "actions")
    value = _HAND.fullmatch(str(action.get("value", "")))
    if account is None or value is None:
        return None
    return Command(
        address=Address(channel=places.NAME, space=us.team, room=account.account_id), account=account, text=value[0]
    )


def statement_of(body: Payload) -> str:
    """The statement on the card that was pressed, for the modal to repeat: there, no character is markup."""
    text = part(body, "message").get("text")
    return as_written(text) if isinstance(text, str) else ""


def part(body: Payload, key: str) -> Payload:
    """An object within a payload; empty where there is none."""
    found = body.get(key)
    return cast("Payload", found) if isinstance(found, dict) else {}


def _first(body: Payload, key: str) -> Payload:
    found = body.get(key)
    items = cast("list[object]", found) if isinstance(found, list) else []
    return cast("Payload", items[0]) if items and isinstance(items[0], dict) else {}
