"""A whole service on a real file, without its timers: a test says when something is worked, sent, killed, restarted."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from itertools import count
from pathlib import Path
from typing import TypeVar

from pydantic_ai.models import Model as AnyModel

from bot.degraded.spool import Spool
from bot.degraded.standby import Standby
from bot.gates import gating
from bot.gates.gating import Reply
from bot.inbound.receiver import Receiver
from bot.outbound.delivery import Delivery
from bot.retelling.paraphrasing import Paraphrasing
from bot.settings import Settings
from bot.settings.sections import Model
from bot.tools.declare import Tool
from bot.turns import beside
from bot.turns.conduct import Conductor
from bot.turns.desk import Desk, Prompt, Toolbox
from bot.turns.engine import Engine, take_up
from bot.turns.preview import Previews
from casestore import bindings, cases, gates, leases, messages, outbox, runs, trail, turns
from casestore.db import Store
from casestore.deciding import Decision
from casestore.migrate import open_store
from casestore.models import Case, CaseId, Gate, Message, OutboxRow, Run, Step, Turn
from casestore.scope import System
from casestore.states import Verb
from casestore.turns import Worker
from channels.memory import MemoryChannel
from channels.messages import Account, Address
from tests import empty_store
from tests.loop import hands
from tests.loop.effects import Effects, tools_of
from tests.loop.scripted import ASKED, ScriptedModel

T = TypeVar("T")

START = 1_790_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE
THREAD = Address(channel="memory", space="S", room="help", thread="t1")
AT_ONCE = 64
_NAMED = Model(name="openai:scripted", base_url="http://127.0.0.1:1/v1")
"""What the settings say where a model is at work; it is never asked there."""


class Killed(BaseException):
    """The process is gone: nothing that follows is run, nothing that would follow is written."""


class ManualClock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.ms = START

    def now(self) -> int:
        return self.ms

    def pass_by(self, ms: int) -> None:
        """Let time pass."""
        self.ms += ms


class Rig:
    """The service; `restart` is a new process on the same file and the same platform.

    `asked` is the model that answers, where that is not the script, and `named` what it goes by; `waited` has the
    pauses between its attempts, in seconds, which take no time here.
    """

    def __init__(
        self, db: Path, model: ScriptedModel, *, settings: Settings | None = None, channel: MemoryChannel | None = None
    ) -> None:
        self.db, self.model = db, model
        self.asked: AnyModel = model
        self.waited: list[float] = []
        self.settings = Settings() if settings is None else settings
        self.clock = ManualClock()
        self.effects = Effects()
        self.tools: dict[str, Tool] = tools_of(self.effects)
        self.channel = MemoryChannel() if channel is None else channel
        self.prompt = "Work the case."
        self.named = ASKED
        self.boots = count(1)
        self.woken_for: list[CaseId] = []
        self.woken: Callable[[CaseId], None] = self.woken_for.append
        self._nonces = count(1)
        self._beside: set[asyncio.Task[object]] = set()

    async def open(self) -> None:
        """Start the process: open the file, void what its earlier boots held, listen."""
        empty_store.lay(self.db)
        self.store = await open_store(self.db, lambda: f"n{next(self._nonces)}", serves=True, create=True)
        self.people = await self.store.write(hands.people, self.clock.now())
        if self.asked is self.model and self.model.talks != self.settings.model.talks:
            self.settings = self.settings.model_copy(update={"model": _NAMED if self.model.talks else Model()})
        box = Toolbox(self.tools, self.settings)
        self.boot = f"boot-{next(self.boots)}"
        worker = Worker(
            f"engine {self.boot}", self.boot, "casebound", self.named, self.settings.leases.ttl,
            beside.can_talk(self.model),
        )  # fmt: skip
        prompt = Prompt("test", self.prompt, box.schemas())
        self.desk = Desk(settings=self.settings, clock=self.clock, toolbox=box, prompt=prompt, worker=worker)
        self.spool = Spool(self.db)
        self.standby = Standby(self.store, self.desk, self.asked, {"memory": self.channel}, self.spool, None)
        self.previews = Previews(self.settings.api.listeners)
        self.conductor = Conductor(
            self.store, self.desk, self.asked, self.spool, retry_after_s=(0.0, 0.0), wait=self._pause,
            previews=self.previews,
        )  # fmt: skip
        self.paraphrasing = Paraphrasing(self.store, self.desk, self.asked, self.spool)
        self.engine = Engine(self.store, self.desk, self.conductor, self.standby, self.paraphrasing)
        self.delivery = Delivery(self.store, self.clock, {"memory": self.channel}, self.boot, None)
        self.receiver = Receiver(self.store, self.clock, self.settings, self.delivery, None, self._wake, self.standby)
        await self.store.write(take_up, self.clock.now(), self.boot)
        await self.channel.start(self.receiver)

    async def kill(self) -> None:
        """End the process at once: whatever it was doing is not gone on with, what was asked of the file is done."""
        await self.channel.stop()
        await self.store.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        ours = [task for task in others if task in self._beside or _is_bots(task)]
        for task in ours:
            task.cancel()
        await asyncio.gather(*ours, return_exceptions=True)
        self._beside.clear()

    async def restart(self) -> None:
        """Kill it and start it again."""
        await self.kill()
        await self.open()

    def die(self, *, before: Callable[..., object] | None = None, after: Callable[..., object] | None = None) -> None:
        """Be killed right before, or right after, the first transaction that runs this function."""
        write = self.store.write

        async def dying(fn: Callable[..., object], *args: object, **kwargs: object) -> object:
            if fn is before:
                raise Killed
            value = await write(fn, *args, **kwargs)
            if fn is after:
                raise Killed
            return value

        setattr(self.store, "write", dying)  # noqa: B010 - the real one takes any function, as a type cannot say

    async def _pause(self, for_s: float) -> None:
        self.waited.append(for_s)
        await asyncio.sleep(0)

    def _wake(self, case_id: CaseId) -> None:
        self.woken(case_id)

    # What people do

    def account(self, name: str) -> Account:
        """The account of somebody on the platform."""
        return Account(channel="memory", space="S", account_id=f"U-{name}", display_name=name)

    async def say(
        self,
        text: str,
        *,
        by: str = "ann",
        at: Address = THREAD,
        addressed: bool = True,
        platform_id: str | None = None,
    ) -> Case:
        """Somebody writes in a thread; the case it is in by then."""
        await self.channel.say(text, address=at, account=self.account(by), addressed=addressed, platform_id=platform_id)
        case = await self.store.read(bindings.case_at, str(at))
        assert case is not None
        return case

    async def decide(
        self, case: Case, verb: Verb = Verb.APPROVE, *, by: str = "kim", reason: str | None = None,
        changes: Mapping[str, object] | None = None, gate: Gate | None = None,
    ) -> Reply:  # fmt: skip
        """Somebody answers the open gate of a case (or one that is named)."""
        asked = await self.gate(case) if gate is None else gate
        changed = None if changes is None else gating.changed(self.desk.toolbox.get(asked.tool), asked, changes)
        decision = Decision(verb, asked.digest_shown[:8], "cli", reason, changed)
        return await self.store.write(
            gating.decide, self.clock.now(), self.people[by], asked.id, decision, self.settings.service.zone
        )

    async def take(self, case: Case, by: str = "kim") -> None:
        """Somebody takes a case over."""
        await self.store.write(hands.take, self.clock.now(), case.id, self.people[by])

    async def release(self, case: Case, by: str = "kim") -> None:
        """Somebody hands it back."""
        await self.store.write(hands.release, self.clock.now(), case.id, self.people[by])

    async def resolve(self, case: Case, by: str = "kim") -> None:
        """An operator says that it is dealt with."""
        await self.store.write(hands.resolve, self.clock.now(), case.id, self.people[by])

    async def close(self, case: Case, by: str = "kim") -> None:
        """An operator closes it for good."""
        await self.store.write(hands.close, self.clock.now(), case.id, self.people[by])

    async def speak(self, case: Case, text: str, *, by: str) -> Message:
        """Somebody says something in a case from the command line."""
        now, settings = self.clock.now(), self.settings
        return await self.store.write(hands.speak, now, case.id, self.people[by], text, settings)

    # What the service does

    async def work(self, *, deliver: bool = True) -> None:
        """Work every case that has work, until none has, and deliver what was said."""
        for _ in range(50):
            ready = await self.store.read(leases.ready, self.clock.now(), AT_ONCE, talks=self.model.talks)
            if not ready:
                break
            await asyncio.gather(*(self.conductor.work(case_id) for case_id in ready))
        else:
            raise AssertionError("the cases always have work: something goes round in circles")
        if deliver:
            await self.deliver()

    async def deliver(self) -> None:
        """Deliver what is due now."""
        while await self.delivery.deliver_due():
            continue

    def start(self, work: Coroutine[object, object, T]) -> "asyncio.Task[T]":
        """Let something go on beside the test."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        return task

    # What is on disk

    async def case(self, case: Case) -> Case:
        """The case as it is now."""
        return await self.store.read(cases.by_id, case.id)

    async def gate(self, case: Case) -> Gate:
        """The open gate of a case."""
        found = await self.store.read(gates.open_gate, case.id)
        assert found is not None, "no gate is open"
        return found

    async def open_gate(self, case: Case) -> Gate | None:
        """The open gate of a case, if there is one."""
        return await self.store.read(gates.open_gate, case.id)

    async def gates(self, case: Case) -> list[Gate]:
        """Every gate of a case, oldest first."""
        return await self.store.read(gates.of_case, case.id)

    async def turns(self, case: Case) -> list[Turn]:
        """The turns of a case."""
        return await self.store.read(turns.of_case, case.id)

    async def runs(self, case: Case) -> list[Run]:
        """The runs of a case, oldest first."""
        return (await self.store.read(runs.listing, System(), case_id=case.id))[::-1]

    async def steps(self, case: Case, *, tools_only: bool = True) -> list[Step]:
        """The steps of a case, in order."""
        return await self.store.read(hands.steps, case.id, tools_only=tools_only)

    async def messages(self, case: Case) -> list[Message]:
        """What was said."""
        return await self.store.read(messages.of_case, System(), case.id)

    async def texts(self, case: Case) -> list[str]:
        """What we said, as stored."""
        return [message.text for message in await self.messages(case) if message.direction == "out"]

    async def outbox(self, case: Case) -> list[OutboxRow]:
        """What was or is to be sent."""
        return await self.store.read(outbox.of_case, case.id)

    async def trail(self, case: Case) -> list[str]:
        """The kinds of what happened, oldest first."""
        return [entry.kind for entry in await self.store.read(trail.read, System(), case.id)]

    def posted(self, at: Address = THREAD) -> list[str]:
        """What stands in a thread, as its people see it."""
        return self.channel.texts(at)


def _is_bots(task: "asyncio.Task[object]") -> bool:
    """Whether it is the service's own, and not the test's."""
    return "/bot/" in getattr(task.get_coro(), "cr_code").co_filename  # noqa: B009 - not every coroutine has one


async def checked(store: Store, case: Case) -> None:
    """The trail of a case holds."""
    found = await store.read(trail.verify, System(), case.id)
    assert found.problems == ()
