"""Standby: the conversation goes on from memory while the store cannot be written (R15).

The reply goes out unpersisted, only read-only tools run, and the exchange waits in the spool until it can be stored.
Nobody is shown an error for it; it is logged once, counted, and shown in health.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import tzinfo

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from bot.degraded import absorb, look_only, recall
from bot.degraded.look_only import LookOnly
from bot.degraded.spool import Answered, Arrived, Exchange, Left, Spool
from bot.errors import ModelRefused, ModelUnavailable
from bot.turns import window
from bot.turns.desk import Desk
from casestore.db import Store
from casestore.errors import StoreError, StoreUnavailable
from casestore.models import CaseId
from channels.errors import ChannelError, RetryLater, ThreadGone, Undeliverable
from channels.messages import Address, Inbound, Outbound, Text
from channels.port import Channel
from channels.text import pieces, style_for

log = logging.getLogger("casebound.standby")

_KNOWN_AT_MOST = 10_000


class Standby:
    """Stands in for store and engine; one per service. `worked` says whether the engine is working a case now."""

    def __init__(
        self, store: Store, desk: Desk, model: Model, channels: Mapping[str, Channel], spool: Spool, zone: tzinfo | None
    ) -> None:
        self._store, self._desk, self._zone = store, desk, zone
        self._channels, self.spool = channels, spool
        self._assistant = LookOnly(desk, model)
        self._reader = window.Reader()
        self._known: dict[tuple[str, str, str] | str, None] = {}
        self._answering: dict[str, CaseId | None] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling = asyncio.Lock()
        self._sent = 0
        self.worked: Callable[[CaseId], bool] = lambda _: False
        self.since: int | None = None
        """Since when (ms UTC) the store cannot be written, as far as anybody needed it; None while it can."""
        self.answered = 0
        """How many answers were given from memory."""

    def speaks_on(self, channel: Channel) -> None:
        """A channel that was opened beside those of the service, and whose threads are answered here too."""
        self._channels = {**self._channels, channel.name: channel}

    def remember(self, inbound: Inbound) -> None:
        """A message that was stored: who and where is known even where nothing can be read any more."""
        for what in (inbound.account.identity, str(inbound.address)):
            self._known.pop(what, None)
            self._known[what] = None
        while len(self._known) > _KNOWN_AT_MOST:
            del self._known[next(iter(self._known))]

    async def caught_up(self) -> bool:
        """Whether all that came before is stored. Where a fact waits and nobody has noticed why, it is tried now."""
        if len(self.spool) and self.since is None:
            try:
                await self.settle()
            except StoreUnavailable as error:
                self._stopped(error)
        return not len(self.spool)

    async def take(self, inbound: Inbound, error: StoreUnavailable | None = None) -> None:
        """A message that cannot be stored now: it is spooled, and answered from memory where it would be answered."""
        if error is not None:
            self._stopped(error)
        try:
            admitted = await self._store.read(recall.admitted, inbound, self._desk.settings)
        except StoreError:
            # nobody can look: a thread with a case may be a person's, an unknown account a stranger's (R12, R20).
            # It is kept, and intake will judge it; but only what is certainly neither is answered now.
            known = inbound.account.identity in self._known and str(inbound.address) not in self._known
            spoken_to = inbound.addressed and known and not inbound.account.program
            admitted = recall.Admitted(None, spoken_to=spoken_to)
        if admitted is None or self.spool.has(inbound):  # the same one may have come twice while we read
            return
        self.spool.keep(Arrived(inbound=inbound, case_id=admitted.case_id, at=self._desk.now()))
        if self.since is not None and admitted.spoken_to and not self._works(admitted.case_id):
            self._answer(inbound.address, admitted.case_id)

    async def answer_case(self, case_id: CaseId, error: StoreUnavailable) -> None:
        """The case cannot be worked: what was said in it is answered from memory, in the thread it was said in."""
        self._stopped(error)
        self.spool.keep(Left(case_id=case_id, boot=self._desk.worker.boot))
        try:
            address = await self._store.read(recall.where_to_answer, case_id)
        except StoreError:
            return
        if address is not None:
            self._answer(Address.parse(address), case_id)

    def holds(self, case_id: CaseId) -> bool:
        """Whether a case has an answer, or is being given one, that is not stored yet: the engine leaves it alone."""
        spooled = (entry for thread in self.spool.threads.values() for entry in thread)
        return case_id in self._answering.values() or any(entry.case_id == case_id for entry in spooled)

    async def settle(self) -> list[CaseId]:
        """Store what can be stored by now; the cases there is work in. Raises `StoreUnavailable`."""
        found = await self._settle_all() if len(self.spool) else []
        if self.since is not None and not len(self.spool) and self._store.healthy:
            log.warning("standby.over", extra={"fields": {"since": self.since, "answered": self.answered}})
            self.since = None
        return found

    async def idle(self) -> None:
        """Wait until nothing is being answered."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    async def stop(self) -> None:
        """Give up what is being answered; what was said stays in the spool."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _settle_all(self) -> list[CaseId]:
        async with self._settling:
            for fact in list(self.spool.facts):
                try:
                    await self._store.write(absorb.fact, fact)
                except StoreUnavailable:
                    raise
                except Exception:
                    log.exception("standby.refused", extra={"fields": {"kind": fact.kind}})
                    self.spool.set_aside([fact])
                self.spool.drop_fact(fact)
            found = [await self._settle(address) for address in list(self.spool.threads)]
        return [case_id for case_id in found if case_id is not None]

    async def _settle(self, address: str) -> CaseId | None:
        if address in self._answering:
            return None
        entries = list(self.spool.threads[address])
        case_id = None
        try:
            case_id = await self._store.write(absorb.thread, entries, self._desk, self._zone)
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("standby.refused", extra={"fields": {"address": address}})
            self.spool.set_aside(entries)
        self.spool.drop_thread(address, len(entries))
        return case_id

    def _stopped(self, error: StoreUnavailable) -> None:
        """The one notice: once each time, not for every message."""
        if self.since is None:
            self.since = self._desk.now()
            log.error("standby.begun", extra={"fields": {"error": str(error)}})

    def _works(self, case_id: CaseId | None) -> bool:
        return case_id is not None and self.worked(case_id)

    def _answer(self, address: Address, case_id: CaseId | None) -> None:
        """One answer at a time for each thread; what arrives meanwhile is answered after it (R11)."""
        if str(address) in self._answering or address.channel not in self._channels:
            return
        self._answering[str(address)] = case_id
        task = asyncio.create_task(self._answer_all(address, case_id), name=f"standby-{address}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_all(self, address: Address, case_id: CaseId | None) -> None:
        try:
            while await self._answer_once(address, case_id):
                continue
        except (ModelUnavailable, ModelRefused) as error:
            log.warning("standby.no_answer", extra={"fields": {"error": str(error)}})
        except Exception:
            log.exception("standby.failed", extra={"fields": {"address": str(address)}})
        finally:
            del self._answering[str(address)]

    async def _answer_once(self, address: Address, case_id: CaseId | None) -> bool:
        """Answer what has not been answered; False where there is nothing, or it cannot be answered from memory."""
        entries = list(self.spool.threads.get(str(address), []))
        try:
            found = await self._store.read(recall.recalled, str(address), case_id, self._desk.settings)
            spoken = await self._store.read(recall.said, entries)
        except StoreError:
            if case_id is not None or str(address) in self._known:
                return False
            found, spoken = recall.Recalled(None, (), (), 0), recall.said_by_somebody(entries)
        if found is None:
            return False
        if (messages := self._messages(found, spoken)) is None:
            return False
        response, usage = await self._assistant.answer(messages)
        text = window.text_of(response)
        if not text.strip():
            return False
        platform_ids, in_doubt = await self._say(address, text)
        self.spool.keep(
            Answered(
                address=address, case_id=found.case_id, answers=_last_of(entries), seen=found.seen, text=text,
                message=window.dump(response), usage=usage, platform_ids=platform_ids, in_doubt=in_doubt,
                at=self._desk.now(),
            )
        )  # fmt: skip
        self.answered += 1
        return True

    def _messages(self, found: recall.Recalled, spoken: list[UserPromptPart | str]) -> list[ModelMessage] | None:
        """What the model is sent; None where nothing waits for an answer."""
        prompt = look_only.offered(self._desk).prompt
        messages = self._reader.messages(window.Window(found.rows, prompt.version, ""), prompt.text)
        if messages and any(isinstance(part, ToolCallPart) for part in messages[-1].parts):
            return None
        waiting = list(found.unread)
        for part in spoken:
            if isinstance(part, UserPromptPart):
                waiting.append(part)
                continue
            if waiting:
                messages.append(recall.request(waiting))
            messages.append(ModelMessagesTypeAdapter.validate_json(f"[{part}]")[0])
            waiting = []
        if waiting:
            messages.append(recall.request(waiting))
        if not messages or not isinstance(last := messages[-1], ModelRequest):
            return None
        messages[-1] = ModelRequest(last.parts, instructions=prompt.text, metadata=last.metadata)
        return messages

    async def _say(self, address: Address, text: str) -> tuple[tuple[str, ...], bool]:
        """Say it at once; the platform's ids of what certainly was said, and whether the piece after it is in doubt."""
        sent: list[str] = []
        for piece in pieces(style_for(address.channel), text):
            self._sent += 1
            nonce = f"m-{self._desk.worker.boot[:12]}-{self._sent}"
            outbound = Outbound(address=address, nonce=nonce, content=Text(text=piece))
            try:
                sent.append(await self._channels[address.channel].send(outbound))
            except (RetryLater, ThreadGone, Undeliverable):  # certainly not said; the outbox says it later
                return tuple(sent), False
            except ChannelError:
                return tuple(sent), True
        return tuple(sent), False


def _last_of(entries: list[Exchange]) -> str | None:
    arrived = [entry.inbound.platform_id for entry in entries if isinstance(entry, Arrived)]
    return arrived[-1] if arrived else None
