"""What Slack sends: stored, decided or answered. Bolt takes the connection, the envelopes and the acknowledgement."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from slack_bolt.async_app import AsyncAck, AsyncApp

from channels.address import Account, Address
from channels.errors import ChannelError, RetryLater
from channels.messages import Command, Inbound, Press
from channels.port import Receiver
from channels.slack import events, home, modals, places, presses, shortcuts, typed
from channels.slack.events import Us
from channels.slack.guests import Guests
from channels.slack.outgoing import Outgoing
from channels.slack.typed import Typed
from channels.slack.web import Web

log = logging.getLogger("casebound.slack")

Body = Mapping[str, Any]

_ANYTHING = re.compile(r".*")


class Listener:
    """One for each connection of ours."""

    def __init__(self, web: Web, out: Outgoing, us: Us, receiver: Receiver, guests: Guests | None = None) -> None:
        """`guests` tells who is one, where that matters."""
        self._guests = guests
        self._web, self._out, self._us, self._receiver = web, out, us, receiver
        self._typed = Typed()

    def listen(self, app: AsyncApp) -> None:
        """From now on what `app` is sent comes here."""
        bolt = cast("Any", app)  # its decorators are typed by what they do not know
        # Bolt asks one listener after the other, and takes its time for each: what comes most often is asked for first
        bolt.event("app_home_opened")(self._home_opened)
        bolt.event(_ANYTHING)(_nothing_more)
        bolt.action(presses.ACTIONS)(self._pressed)
        bolt.action(presses.VIEW)(self._viewed)
        for callback_id in (modals.REASON, modals.WHOLE):
            bolt.view(callback_id)(self._submitted)
        bolt.shortcut(shortcuts.OPEN_CASE)(self._opened_on)
        for command in ("/case", "/gate"):
            bolt.command(command)(self._commanded)
        bolt.action(home.HAND)(self._handed)
        bolt.error(_not_taken)

    async def store_first(self, body: Body, next: Callable[[], Awaitable[object]]) -> None:
        """Before Bolt does anything with an event: what raises here is not acknowledged, and comes again (R29)."""
        if body.get("type") == "event_callback":
            await self._store(cast("Mapping[str, object]", body.get("event") or {}))
        await next()

    async def _store(self, event: Mapping[str, object]) -> None:
        if (said := events.inbound(event, self._us)) is not None:
            said = said.model_copy(update={"account": await self._marked(said.account)})
            if (command := typed.command(said)) is None:
                answer = await self._receiver.inbound(said)
                if answer and self._typed.begin(said):
                    await self._whisper(said.address, said.account.account_id, answer)
            elif self._typed.begin(said):
                await self._obey_once(said, command)
        elif (changed := events.changed(event, self._us)) is not None:
            await self._receiver.changed(changed)
        elif (gone := events.gone(event, self._us)) is not None:
            await self._receiver.gone(gone)

    async def _pressed(self, ack: AsyncAck, body: Body) -> None:
        await ack()
        press = presses.pressed(body, self._us)
        if press is None:
            return
        if press.verb in presses.WITH_REASON:
            refused = await self._receiver.refusal(press)
            if refused is not None:  # before they write anything
                await self._tell(press, refused)
                return
            statement = presses.statement_of(body) or await self._statement(press)
            await self._open(press, body, modals.reason(press, statement))
            return
        await self._decide(press)

    async def _statement(self, press: Press) -> str:
        """What is asked, where the button does not stand below it; or why that person cannot see it."""
        card = await self._receiver.whole(press)
        return card if isinstance(card, str) else card.statement

    async def _viewed(self, ack: AsyncAck, body: Body) -> None:
        await ack()
        press = presses.pressed(body, self._us)
        if press is None:
            return
        card = await self._receiver.whole(press)
        if isinstance(card, str):
            await self._tell(press, card)
        else:
            await self._open(press, body, modals.whole(press, card))

    async def _open(self, press: Press, body: Body, view: Mapping[str, object]) -> None:
        """Open a modal, within the three seconds that Slack gives for it."""
        try:
            await self._web.change("views.open", press.address, trigger_id=body["trigger_id"], view=view)
        except ChannelError as error:
            log.warning("slack.not_opened", extra={"fields": {"address": str(press.address), "error": str(error)}})
            after_ms = error.after_ms if isinstance(error, RetryLater) else 0
            when = f"in {math.ceil(after_ms / 1_000)} s" if after_ms else "now"
            await self._tell(press, f"Slack did not let me open it. Please press again {when}.")

    async def _submitted(self, ack: AsyncAck, body: Body) -> None:
        await ack()
        press = presses.submitted(body, self._us)
        if press is not None:
            await self._decide(press)

    async def _opened_on(self, ack: AsyncAck, body: Body) -> None:
        """Stored before it is acknowledged, like a message; whoever used it sees where that failed."""
        asked = shortcuts.asked(body, self._us)
        if asked is None:
            await ack()
            return
        by, author = await self._marked(asked.by), await self._marked(asked.said.account)
        said = asked.said.model_copy(update={"account": author})
        answer = await self._receiver.quoted(asked.model_copy(update={"by": by, "said": said}))
        await ack()
        await self._whisper(said.address, by.account_id, answer)

    async def _home_opened(self, event: Body) -> None:
        account = presses.account_of({"user": {"id": event["user"]}, "team": {"id": self._us.team}}, self._us)
        if account is not None and event.get("tab") == "home":
            await self._publish(account, shown=bool(event.get("view")))

    async def _handed(self, ack: AsyncAck, body: Body) -> None:
        await ack()
        command = presses.command_of(body, self._us)
        if command is not None:
            await self._publish(command.account, await self._receiver.command(command))

    async def _publish(self, account: Account, said: str = "", *, shown: bool = True) -> None:
        """Show somebody their page as it is now. Whom we do not know gets none: not even a word (R20).

        `shown`: they have one. Slack would go on showing it, cases and all, to whom we do not know any more.
        """
        page = await self._receiver.home(account)
        if page is None and not shown:
            return
        view = home.nobodys() if page is None else home.view(page, said)
        try:
            await self._web.change("views.publish", user_id=account.account_id, view=view)
        except ChannelError as error:  # it is shown as it is by then when it is opened again
            log.warning("slack.page_not_shown", extra={"fields": {"error": str(error)}})

    async def _decide(self, press: Press) -> None:
        await self._tell(press, await self._receiver.press(press))

    async def _tell(self, press: Press, answer: str) -> None:
        """Where they pressed: on their own page, or beside the card."""
        if press.platform_id is None:
            await self._publish(press.account, answer)
        else:
            await self._whisper(press.address, press.account.account_id, answer)

    async def _commanded(self, ack: AsyncAck, body: Body) -> None:
        await ack()
        account = presses.account_of({"user": {"id": body["user_id"], "team_id": body["team_id"]}}, self._us)
        if account is None:
            return
        account = await self._marked(account)
        address = Address(channel=places.NAME, space=self._us.team, room=body["channel_id"])
        text = events.spoken(f"{body['command']} {body.get('text') or ''}".strip(), self._us.user)
        await self._obey(Command(address=address, account=account, text=text))

    async def _marked(self, account: Account) -> Account:
        return account if self._guests is None or account.program else await self._guests.marked(account)

    async def _obey_once(self, said: Inbound, command: Command) -> None:
        try:
            await self._obey(command)
        except BaseException:
            self._typed.forget(said)  # it is not acknowledged then, and is to be done when it comes again
            raise

    async def _obey(self, command: Command) -> None:
        await self._whisper(command.address, command.account.account_id, await self._receiver.command(command))

    async def _whisper(self, address: Address, account_id: str, text: str) -> None:
        if not text:
            return
        try:
            await self._out.whisper(address, account_id, text)
        except ChannelError as error:  # nobody's record: what was decided is on the card and in the trail
            log.warning("slack.not_whispered", extra={"fields": {"address": str(address), "error": str(error)}})


async def _nothing_more() -> None:
    """What there was to store is stored by now; Bolt wants somebody to have listened."""


async def _not_taken(error: Exception, body: Body) -> None:
    """Bolt's own way to say it shows a traceback. An event is not acknowledged then, and comes again."""
    event = cast("Mapping[str, object]", body.get("event") or {})
    fields: dict[str, object] = {"kind": event.get("type") or body.get("type"), "error": type(error).__name__}
    log.warning("slack.not_taken", extra={"fields": fields})
