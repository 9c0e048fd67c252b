"""Casebound on a file, put together as the service does it, but for the model and the tools; and those who use it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic_ai.models import Model

from bench import workload
from bench.workload import Moment, Told
from bot import ids
from bot.clock import SystemClock
from bot.degraded.spool import Spool
from bot.degraded.standby import Standby
from bot.gates import gating
from bot.inbound import intake
from bot.models.prompt import BUILT_IN
from bot.settings import Settings
from bot.turns.conduct import Conductor
from bot.turns.desk import Desk, Prompt, Toolbox
from bot.turns.engine import Engine
from bot.turns.instruct import Ended, Lost
from casestore import gates, principals
from casestore.db import Store
from casestore.deciding import Decision
from casestore.errors import StoreUnavailable
from casestore.migrate import open_store
from casestore.models import CaseId
from casestore.scope import Tenant
from casestore.states import Outcome, Role, Verb
from casestore.turns import Worker
from casestore.tx import Tx
from channels.messages import Account, Address, Inbound

TENANT = "local"
REQUESTER = Account(channel="memory", space="bench", account_id="you")
CLOCK = SystemClock()


class Watched(Conductor):
    """The conductor, which tells whoever waits for a case how its run ended."""

    def __init__(self, store: Store, desk: Desk, model: Model, spool: Spool) -> None:
        super().__init__(store, desk, model, spool)
        self._waited: dict[CaseId, asyncio.Future[Ended]] = {}

    def wait_for(self, case_id: CaseId) -> "asyncio.Future[Ended]":
        """How the next run of this case will end."""
        self._waited[case_id] = asyncio.get_running_loop().create_future()
        return self._waited[case_id]

    async def work(self, case_id: CaseId) -> Ended | Lost | None:
        ended = await super().work(case_id)
        if isinstance(ended, Ended) and (waiting := self._waited.pop(case_id, None)) is not None:
            waiting.set_result(ended)
        return ended


async def _nobody(_: Moment) -> None:
    """Nobody wants to be told."""


@dataclass
class Installation:
    """A store, an engine at work on it, and how many turns its threads have had."""

    store: Store
    conductor: Watched
    engine: Engine
    settings: Settings
    toolbox: Toolbox
    turns: dict[str, int] = field(default_factory=dict[str, int])
    deciding_ms: list[float] = field(default_factory=list[float])
    """How long each decision took, its own store opened and closed."""
    sent_away: int = 0
    """How often one was told to try again, because others stood before it."""
    told: Told = _nobody
    """Called at each moment of a turn; whoever measures puts their own in its place."""

    async def turn(self, thread: str, *, elsewhere: bool = True) -> None:
        """One message in a thread (`t0`, `t1`, …), answered; its gate, if any, is approved elsewhere, or here."""
        number = self.turns[thread] = self.turns.get(thread, 0) + 1
        case_id = await self._say(thread, number)
        ended = await self._worked(case_id)
        if ended.outcome is Outcome.PARKED:
            await (self._approve if elsewhere else self._approve_here)(case_id)
            ended = await self._worked(case_id)
        if ended.outcome is not Outcome.ANSWERED:
            raise RuntimeError(f"turn {number} of {thread} ended {ended.outcome}, not answered")

    async def park(self, thread: str) -> None:
        """One message that leads to a gate, which stays open: the first of thread `t4`, `t9`, `t14`, …"""
        self.turns[thread] = 1
        ended = await self._worked(await self._say(thread, 1))
        if ended.outcome is not Outcome.PARKED:
            raise RuntimeError(f"the turn of {thread} ended {ended.outcome}, not parked")

    async def _say(self, thread: str, number: int) -> CaseId:
        inbound = Inbound(
            address=Address.parse(f"memory:bench/room/{thread}"), account=REQUESTER, platform_id=f"{number:08d}",
            text=workload.message(number, int(thread[1:])), addressed=True, at=CLOCK.now(),
        )  # fmt: skip
        await self.told(Moment.SAID)
        received = await self.store.write(intake.receive, CLOCK.now(), inbound, self.settings, None)
        if isinstance(received, intake.Ignored):
            raise TypeError(f"a message was ignored: {received.why}")
        return received.case_id

    async def _worked(self, case_id: CaseId) -> Ended:
        waiting = self.conductor.wait_for(case_id)
        self.engine.wake(case_id)
        return await waiting

    async def _approve_here(self, case_id: CaseId) -> None:
        """What a press or the HTTP API does: the service's own store."""
        seen = await self.store.read(_open_gate, case_id)
        await self.told(Moment.DECIDED)
        reply = await self.store.write(_decide, CLOCK.now(), seen)
        if not reply.taken:
            raise RuntimeError(reply.text)

    async def _approve(self, case_id: CaseId) -> None:
        """What `casebound gate approve` does beside a service: it opens the file itself."""
        began = asyncio.get_running_loop().time()
        elsewhere = await open_store(self.store.path, ids.nonce, serves=False)
        try:
            seen = await elsewhere.read(_open_gate, case_id)
            reply = await self._until_taken(elsewhere, seen)
            if not reply.taken:
                raise RuntimeError(reply.text)
        finally:
            await elsewhere.close()
        self.deciding_ms.append((asyncio.get_running_loop().time() - began) * 1_000)

    async def _until_taken(self, elsewhere: Store, seen: "_Seen") -> gating.Reply:
        while True:
            try:
                return await elsewhere.write(_decide, CLOCK.now(), seen)
            except StoreUnavailable:
                self.sent_away += 1


@asynccontextmanager
async def installed(
    db: Path, settings: Settings | None = None, answering: Model | None = None, without: Sequence[str] = ()
) -> AsyncGenerator[Installation]:
    """Open the file with fresh objects and let the engine run; what an earlier one of ours left is gone on with.

    `answering` takes the place of the scripted model, and tells nobody when it is asked; `without` are tools
    that somebody else offers.
    """
    settings = settings or Settings()
    store = await open_store(db, ids.nonce, serves=True, create=True)
    try:
        await store.write(_people, CLOCK.now())

        async def told(moment: Moment) -> None:
            await installation.told(moment)

        desk = _desk(settings, told, without)
        model, spool = answering or workload.ScriptedModel(told), Spool(db)
        conductor = Watched(store, desk, model, spool)
        engine = Engine(store, desk, conductor, Standby(store, desk, model, {}, spool, None))
        installation = Installation(store, conductor, engine, settings, desk.toolbox)
        running = asyncio.create_task(engine.run())
        installation.turns.update(await store.read(_turns_so_far))
        yield installation
        await engine.stop(10)
        await running
    finally:
        await store.close()


def _desk(settings: Settings, told: Told, without: Sequence[str]) -> Desk:
    box = Toolbox({tool.name: tool for tool in workload.tools(told) if tool.name not in without}, settings)
    worker = Worker(
        holder="bench", boot=ids.boot_id(), agent="casebound", model="scripted", lease_ttl=settings.leases.ttl
    )
    return Desk(settings, CLOCK, box, Prompt("scripted", BUILT_IN, box.schemas()), worker)


def _people(tx: Tx, now: int) -> None:
    if principals.listing(tx):
        return
    principals.add(tx, now, tenant=TENANT, name="operator", role=Role.OPERATOR)
    you = principals.add(tx, now, tenant=TENANT, name="you", role=Role.REQUESTER)
    channel, space, account_id = REQUESTER.identity
    principals.bind(tx, now, you.id, channel=channel, space=space, account_id=account_id, bound_by=None)


def _turns_so_far(tx: Tx) -> dict[str, int]:
    said = tx.tuples("SELECT address, count(*) FROM messages WHERE direction = 'in' GROUP BY address")
    return {str(address).rpartition("/")[2]: int(str(turns)) for address, turns in said}


@dataclass(frozen=True, slots=True)
class _Seen:
    gate_id: int
    digest: str


def _open_gate(tx: Tx, case_id: CaseId) -> _Seen:
    gate = gates.open_gate(tx, case_id)
    if gate is None:
        raise RuntimeError("no gate is open")
    shown = gates.get(tx, Tenant(TENANT), gate.id)
    return _Seen(shown.id, shown.digest_shown)


def _decide(tx: Tx, now: int, seen: _Seen) -> gating.Reply:
    operator = principals.by_name(tx, "operator")
    return gating.decide(tx, now, operator, seen.gate_id, Decision(Verb.APPROVE, seen.digest, "cli"), None)
