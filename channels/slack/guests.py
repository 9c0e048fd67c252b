"""Who is a guest of the workspace: asked of Slack, and remembered for an hour.

https://docs.slack.dev/reference/objects/user-object
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable

from channels.address import Account
from channels.errors import ChannelError
from channels.slack.presses import part
from channels.slack.web import Web

log = logging.getLogger("casebound.slack")

_REMEMBERED, _FOR_S = 10_000, 3_600.0
_SIGNS = ("is_restricted", "is_ultra_restricted", "is_stranger")


class Guests:
    """Marks accounts. `now` in seconds."""

    def __init__(self, web: Web, now: Callable[[], float]) -> None:
        self._web, self._now, self._asking = web, now, asyncio.Lock()
        self._known: OrderedDict[str, tuple[bool, float]] = OrderedDict()

    async def marked(self, account: Account) -> Account:
        """The account, with whether it is a guest's. Where Slack does not say, it is taken for one (R24)."""
        async with self._asking:  # a mention comes as two events at once, and is asked about once
            return account.model_copy(update={"guest": await self._is_guest(account.account_id)})

    async def _is_guest(self, user: str) -> bool:
        found = self._known.get(user)
        if found is not None and found[1] > self._now():
            return found[0]
        try:
            person = part(await self._web.read("users.info", user=user), "user")
        except ChannelError as error:
            log.warning("slack.standing_unknown", extra={"fields": {"error": str(error)}})
            return True
        guest = any(person.get(sign) for sign in _SIGNS)
        self._known[user] = (guest, self._now() + _FOR_S)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return guest
