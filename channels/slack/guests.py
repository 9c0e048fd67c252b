"""Who is a guest of the workspace: asked of Slack, and remembered for an hour.

https://docs.slack.dev/reference/objects/user-object
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from channels.address import Account
from channels.errors import AuthFailed, ChannelError, RetryLater, ScopeMissing
from channels.messages import Inbound
from channels.slack.presses import part
from channels.slack.web import Web
from channels.storable import storable

log = logging.getLogger("casebound.slack")

_REMEMBERED, _FOR_S, _AFTER_A_FAILURE_S = 10_000, 3_600.0, 20.0
_SIGNS = ("is_restricted", "is_ultra_restricted", "is_stranger")


@dataclass(frozen=True, slots=True)
class _Standing:
    """What Slack says of somebody: whether they are a guest (None: it does not say now), and what they are called."""

    guest: bool | None
    name: str = ""


class Guests:
    """Marks accounts. `now` in seconds."""

    def __init__(self, web: Web, now: Callable[[], float]) -> None:
        self._web, self._now = web, now
        self._known: OrderedDict[str, tuple[_Standing, float]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[_Standing]] = {}

    async def marked(self, account: Account) -> Account:
        """The account, with whether it is a guest's; None where Slack does not say now, True where it never will.

        And with what its owner is called, which is for people to read alone (R20).
        """
        standing = await self._of(account.account_id)
        return account.model_copy(update={"guest": standing.guest, "display_name": storable(standing.name)})

    async def _of(self, user: str) -> _Standing:
        found = self._known.get(user)
        if found is not None and found[1] > self._now():
            return found[0]
        if (asking := self._asking.get(user)) is None:  # a mention comes as two events at once, and is asked about once
            asking = self._asking[user] = asyncio.create_task(self._ask(user))
            asking.add_done_callback(lambda _: self._asking.pop(user, None))
        return await asyncio.shield(asking)

    async def _ask(self, user: str) -> _Standing:
        standing, for_s = _Standing(None), _AFTER_A_FAILURE_S
        try:
            person = part(await self._web.read("users.info", user=user), "user")
        except ChannelError as error:
            if not _passes(error):  # of whom Slack never tells is like a guest, or they would stop a thread for ever
                standing, for_s = _Standing(True), _FOR_S
            log.warning("slack.standing_unknown", extra={"fields": {"error": str(error)}})
        else:
            named = part(person, "profile").get("display_name") or person.get("name") or ""
            standing, for_s = _Standing(any(person.get(sign) for sign in _SIGNS), str(named)), _FOR_S
        self._known[user] = (standing, self._now() + for_s)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return standing


def _passes(error: ChannelError) -> bool:
    """Whether the same question may be answered later: a token may be good again, a scope or a person does not come."""
    return isinstance(error, RetryLater) or (isinstance(error, AuthFailed) and not isinstance(error, ScopeMissing))


async def marked(said: Inbound, guests: Guests) -> Inbound:
    """A message with its author marked; a program is no guest."""
    if said.account.program:
        return said
    return said.model_copy(update={"account": await guests.marked(said.account)})
