"""What the channels talk to: everything that arrives is stored here before it is acknowledged (R29)."""

import logging
from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING, TypeVar

from bot.clock import Clock
from bot.commands import obey
from bot.errors import Refused
from bot.gates import card, gating
from bot.gates.gating import Reply
from bot.inbound import intake, quoting
from bot.outbound.delivery import Delivery
from bot.outbound.losing import lose
from bot.people import home, linking
from bot.settings import Settings
from bot.words import link_code
from casestore import gates, outbox, principals
from casestore.db import Store
from casestore.deciding import Decision
from casestore.errors import NotFound, StoreUnavailable
from casestore.models import CaseId, Principal
from casestore.states import Verb
from casestore.tx import Tx
from channels.home import Home
from channels.messages import Account, Card, Changed, Command, Gone, Inbound, Press, Quoting, Resumed

if TYPE_CHECKING:
    from bot.degraded.standby import Standby  # which needs the model layer; a command that only speaks does not

R = TypeVar("R", Reply, Reply | None)

log = logging.getLogger("casebound.receiver")

_NOT_DECIDED = "That could not be recorded, so nothing is decided yet. Please press again in a minute."
_NOT_DONE = "That could not be recorded, so nothing is done. Please try again in a minute."
_NOT_LOOKED_UP = "That cannot be looked up just now. Please try again in a minute."


class Receiver:
    """Stores messages, answers presses and commands. One for all channels of a process."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: Settings,
        delivery: Delivery,
        zone: tzinfo | None,
        wake: Callable[[CaseId], None],
        standby: "Standby | None" = None,
    ) -> None:
        """`standby` is the service's; without one, what cannot be stored raises `StoreUnavailable`."""
        self._store, self._clock, self._settings = store, clock, settings
        self._delivery, self._zone, self._wake, self._standby = delivery, zone, wake, standby
        self.catches_up: dict[str, Callable[[], None]] = {}
        """Who reads what was missed, by the name of the channel."""

    async def inbound(self, inbound: Inbound) -> str | None:
        """Store a message; returns once that is durable, or it is in the spool (R15).

        One that a code for linking an account may be in is not stored anywhere.
        """
        if link_code.is_out_of_place(inbound.said):
            return await self._keep_out(inbound)
        if self._standby is not None and not await self._standby.caught_up():  # what came before it is stored first
            await self._standby.take(inbound)
            return None
        try:
            received = await self._store.write(intake.receive, self._clock.now(), inbound, self._settings, self._zone)
        except StoreUnavailable as error:
            if self._standby is None:
                raise
            await self._standby.take(inbound, error)
            return None
        match received:
            case intake.Ignored(why):
                log.info("message.ignored", extra={"fields": {"address": str(inbound.address), "why": why}})
                if inbound.account.program:  # operators may have to be told that it is stopped
                    self._delivery.wake()
            case intake.Received(case_id, _, duplicate):
                if self._standby is not None:
                    self._standby.remember(inbound)
                if not duplicate:
                    self._wake(case_id)
                    self._delivery.wake()
        return None

    async def _keep_out(self, inbound: Inbound) -> str | None:
        try:
            tell = await self._store.write(linking.keep_out, self._clock.now(), inbound)
        except StoreUnavailable:  # no code can be used now either
            tell = inbound.addressed
        log.info("message.kept_out", extra={"fields": {"address": str(inbound.address), "why": "a code may be in it"}})
        return linking.SPOILT if tell else None

    async def quoted(self, asked: Quoting) -> str:
        """Open a case on somebody's message. What is refused leaves nothing behind."""
        if link_code.is_out_of_place(asked.said.said):
            return linking.SPOILT
        try:
            quoted = await self._store.write(quoting.quote, self._clock.now(), asked, self._settings)
        except StoreUnavailable:
            return _NOT_DONE
        except Refused as error:
            return str(error)
        if quoted.opened is not None:
            self._wake(quoted.opened)
        return quoted.text

    async def changed(self, changed: Changed) -> None:
        """Note an edit or a deletion; raises `StoreUnavailable` where it cannot be stored, so that it comes again.

        What it changes may still be in the spool: that is stored first.
        """
        if self._standby is not None and self._standby.spool.threads.get(str(changed.address)):
            await self._standby.settle()
            if self._standby.spool.threads.get(str(changed.address)):
                raise StoreUnavailable("What was said there is not stored yet.")
        if changed.text is not None and link_code.codes_in(changed.text):
            await self._store.write(linking.spoil, self._clock.now(), changed.text)
            changed = changed.model_copy(update={"text": link_code.left_out(changed.text, linking.LEFT_OUT)})
        await self._store.write(intake.change, self._clock.now(), changed)

    async def press(self, press: Press) -> str:
        """Decide a gate by a button; the sentence is for the one who pressed."""
        try:
            reply = await self._store.write(_press, self._clock.now(), press, self._zone)
        except StoreUnavailable:  # a decision that is not stored is none (R5)
            return _NOT_DECIDED
        if isinstance(reply, str):
            return reply
        return self._replied(reply)

    async def refusal(self, press: Press) -> str | None:
        """Why an answer of theirs would not be taken; None where it would be. What cannot be known is not said."""
        try:
            reply = await self._store.write(_refusal, self._clock.now(), press, self._zone)
        except StoreUnavailable:
            return None
        return self._replied(reply) if isinstance(reply, Reply) else reply

    def _replied(self, reply: Reply) -> str:
        self._wake(reply.gate.case_id)
        self._delivery.wake()
        return reply.text

    async def whole(self, press: Press) -> Card | str:
        """The card of a gate with every argument in full, for somebody who may see its case."""
        try:
            return await self._store.read(_whole, self._clock.now(), press, self._zone)
        except StoreUnavailable:
            return _NOT_LOOKED_UP

    async def command(self, command: Command) -> str:
        """Answer a command typed to the bot. What is refused leaves nothing behind."""
        writes = obey.writes(command)
        go = self._store.write if writes else self._store.read
        try:
            answer = await go(obey.obey, self._clock.now(), command, self._settings, self._zone)
        except StoreUnavailable:  # which is never "there are none" (R15)
            return _NOT_DONE if writes else _NOT_LOOKED_UP
        except Exception as error:
            if (said := obey.said_of(error)) is None:
                raise
            return said
        if answer.moved is not None:
            self._wake(answer.moved)
            self._delivery.wake()
        return answer.text

    async def home(self, account: Account) -> Home | None:
        """The page of one person."""
        return await self._store.read(home.of_account, self._clock.now(), account, self._zone)

    async def gone(self, gone: Gone) -> None:
        """A thread is lost, or a room with all its threads: the bindings end, the cases live on (R3)."""
        rooms = self._settings.approval_rooms()
        await self._store.write(lose, self._clock.now(), [gone.address, *gone.others], gone.reason, rooms)
        self._delivery.wake()

    async def resumed(self, resumed: Resumed) -> None:
        """A channel was away and is back: what was said meanwhile is read beside what is said now (R29)."""
        log.info("channel.resumed", extra={"fields": {"channel": resumed.channel}})
        if (catch_up := self.catches_up.get(resumed.channel)) is not None:
            catch_up()


def _whole(tx: Tx, now: int, press: Press, zone: tzinfo | None) -> Card | str:
    who = principals.by_account(tx, *press.account.identity)
    if who is None:
        return obey.STRANGER
    try:
        return card.of_gate(tx, now, gates.get(tx, gating.scope_of(who), press.gate_id), zone, whole=True)
    except NotFound:
        return f"There is no gate {press.gate_id} here that you may decide."


def _press(tx: Tx, now: int, press: Press, zone: tzinfo | None) -> Reply | str:
    return _judged(tx, now, press, zone, _answered)


def _answered(tx: Tx, now: int, who: Principal, press: Press, zone: tzinfo | None) -> Reply:
    if press.verb == "withdraw":
        via = press.address.channel
        return gating.withdraw(tx, now, who, press.gate_id, press.reason or "", via=via, zone=zone)
    return gating.decide(tx, now, who, press.gate_id, _decision(press), zone)


def _refusal(tx: Tx, now: int, press: Press, zone: tzinfo | None) -> Reply | str | None:
    return _judged(tx, now, press, zone, _refused)


def _refused(tx: Tx, now: int, who: Principal, press: Press, zone: tzinfo | None) -> Reply | None:
    return gating.refusal(tx, now, who, press.gate_id, _decision(press), zone)


def _decision(press: Press) -> Decision:
    return Decision(Verb(press.verb), press.digest8, via=press.address.channel, reason=press.reason)


def _judged(
    tx: Tx, now: int, press: Press, zone: tzinfo | None,
    judge: Callable[[Tx, int, Principal, Press, tzinfo | None], R],
) -> R | str:  # fmt: skip
    who = principals.by_account(tx, *press.account.identity)
    if who is None:
        return obey.STRANGER
    try:
        reply = judge(tx, now, who, press, zone)
    except NotFound:
        may = "withdraw" if press.verb == "withdraw" else "decide"
        return f"There is no gate {press.gate_id} here that you may {may}."
    if reply is None:
        return reply
    if press.platform_id is not None:  # a copy we did not know is registered, and edited to what it should show (R28)
        outbox.remember_card(
            tx, now, reply.gate.case_id, reply.gate.id, str(press.address), press.platform_id, shown="pressed"
        )
    return reply
