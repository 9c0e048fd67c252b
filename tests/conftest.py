"""What every test may use: a fixed time, a counted nonce, a real store, and short ways to a case that is at work."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from bot.tools import arguments
from casestore import (
    asking,
    bindings,
    cases,
    deciding,
    gates,
    leases,
    messages,
    model_steps,
    principals,
    runs,
    steps,
    turns,
)
from casestore.asking import Policy, Question
from casestore.cases import Opening
from casestore.db import Store
from casestore.deciding import Decided, Decision, NotDecided
from casestore.leases import Lease
from casestore.messages import Said, text_body
from casestore.migrate import open_store
from casestore.model_steps import ModelCall, Usage
from casestore.models import Case, CaseId, Gate, GateId, Message, Principal, Run, Step, StepId, Turn
from casestore.scope import System
from casestore.states import GateKind, OnExpiry, Origin, Outcome, Provenance, Role, Tier, Verb
from casestore.steps import Call
from casestore.turns import Begun, Worker
from casestore.tx import Tx
from tests import empty_store

settings.register_profile("casebound", deadline=None)
settings.load_profile("casebound")

NOW = 1_790_000_000_000
SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
LEASE_TTL = 10 * MINUTE
BOOT = "boot-1"
WORKER = Worker(holder="engine-1", boot=BOOT, agent="assistant", model="playbook", lease_ttl=LEASE_TTL)
USAGE = Usage("stop", "playbook-1", "response-1", 100, 20, 10, 0.25)
RESTART = Call(0, "call-1", "host.restart_service", "v1", Tier.CONSEQUENTIAL, '{"service":"nginx"}')


@pytest.fixture(scope="session", autouse=True)
def each_signature_is_read_once() -> Iterator[None]:
    """The same bundled tools are declared for thousands of tests: what is read from a signature is kept."""
    kept: dict[object, tuple[dict[str, object], str | None, arguments.Check]] = {}
    declaring, read = import_module("bot.tools.declare"), arguments.from_signature

    def once(
        function: Callable[..., object], name: str, *, skip: int
    ) -> tuple[dict[str, object], str | None, arguments.Check]:
        code = getattr(function, "__code__", function)
        same = (name, skip, code, function.__doc__, str(inspect.signature(function)))
        if same not in kept:
            kept[same] = read(function, name, skip=skip)
        schema, described, check = kept[same]
        return deepcopy(schema), described, check

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(declaring, "from_signature", once)
        yield


@pytest.fixture
def now() -> int:
    """The time that everything in a test happens at, in ms UTC."""
    return NOW


@pytest.fixture
def nonce() -> Callable[[], str]:
    """Randomness that is the same in every run: n1, n2, …"""
    numbers = count(1)
    return lambda: f"n{next(numbers)}"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where the store of this test lies."""
    return tmp_path / "casebound.db"


@pytest.fixture(scope="session")
def new_file() -> bytes:
    """A store with nothing in it."""
    return empty_store.migrated()


@pytest.fixture
async def store(db: Path, nonce: Callable[[], str]) -> AsyncIterator[Store]:
    """A real file, opened as the service does."""
    empty_store.lay(db)
    opened = await open_store(db, nonce, serves=True)
    yield opened
    await opened.close()


@dataclass(frozen=True, slots=True)
class People:
    """Three principals of one tenant: an admin, an operator and a requester."""

    operator: Principal
    kim: Principal
    you: Principal


def add_people(tx: Tx, now: int) -> People:
    """The three, in the tenant `local`."""
    return People(
        operator=principals.add(tx, now, tenant="local", name="operator", role=Role.ADMIN),
        kim=principals.add(tx, now, tenant="local", name="kim", role=Role.OPERATOR),
        you=principals.add(tx, now, tenant="local", name="you", role=Role.REQUESTER),
    )


@pytest.fixture
async def people(store: Store, now: int) -> People:
    """Who is known to the store."""
    return await store.write(add_people, now)


@dataclass(frozen=True, slots=True)
class Working:
    """A case whose turn runs: the model has answered, the calls of its response wait."""

    begun: Begun
    model_step: StepId
    steps: tuple[Step, ...]

    @property
    def case(self) -> Case:
        """As it was when the turn began."""
        return self.begun.case

    @property
    def lease(self) -> Lease:
        """What every act has to show."""
        return self.begun.lease

    @property
    def turn(self) -> Turn:
        """The turn at work."""
        return self.begun.turn

    @property
    def run(self) -> Run:
        """The run that works it."""
        return self.begun.run

    @property
    def step(self) -> Step:
        """The first call."""
        return self.steps[0]


@dataclass(frozen=True, slots=True)
class Asked(Working):
    """A case that is parked at an open gate, for its first call."""

    gate: Gate = field(kw_only=True)


def finish_response(tx: Tx, now: int, begun: Begun, calls: Sequence[Call]) -> Working:
    """One model call, made and answered with these calls."""
    asked = ModelCall(request='{"prompt":"p"}', digest="d" * 64, deadline=now + MINUTE)
    model_step = model_steps.start(tx, now, begun.lease, begun.run, asked)
    model_steps.finish(tx, now, model_step, begun.run.id, USAGE, response_seq=1)
    return Working(begun, model_step, tuple(steps.bear(tx, begun.run, model_step, calls)))


class World:
    """Brings a store to where a test begins, by the functions that the service uses."""

    def __init__(self, store: Store, people: People, now: int) -> None:
        self.store = store
        self.people = people
        self.now = now
        self._said = count(1)

    async def case(
        self, *, requester: Principal | None = None, address: str | None = None, title: str = "nginx is down"
    ) -> Case:
        """A new case; of `you` unless another requester is named."""
        who = self.people.you if requester is None else requester
        opening = Opening(tenant=who.tenant, title=title, origin=Origin.MEMORY, requester=who.id)
        case = await self.store.write(cases.open_case, self.now, opening, actor="intake")
        if address is not None:
            await self.store.write(bindings.bind, self.now, case, address, actor="intake")
        return case

    async def say(self, case: Case, text: str = "please help", *, by: Principal | None = None) -> Message:
        """Somebody says something in a case; the requester unless named."""
        who = self.people.you if by is None else by
        provenance = Provenance.OPERATOR if who.is_operator else Provenance.REQUESTER
        number = next(self._said)
        said = Said(provenance, text_body(text), author=who.id, address="memory:S/R/T", platform_id=str(number))
        return await self.store.write(messages.receive, self.now, case.id, said)

    async def begin(self, case: Case | None = None, *, by: Principal | None = None, worker: Worker = WORKER) -> Begun:
        """A turn that runs, of a new case unless one is named."""
        case = await self.case() if case is None else case
        await self.say(case, by=by)
        begun = await self.store.write(turns.begin, self.now, case.id, worker)
        assert begun is not None
        return begun

    async def working(self, *calls: Call, case: Case | None = None, by: Principal | None = None) -> Working:
        """A run with a model step whose calls wait; one consequential call unless others are named."""
        begun = await self.begin(case, by=by)
        return await self.store.write(finish_response, self.now, begun, calls or (RESTART,))

    async def ask(
        self, working: Working | None = None, *, kind: GateKind = GateKind.APPROVAL,
        roles: Sequence[Role] = (Role.OPERATOR,), four_eyes: bool = True, expires_at: int | None = None,
        reminders: Sequence[int] = (), on_expiry: OnExpiry = OnExpiry.TELL, effect_key: str | None = None,
        effect_nth: int = 0,
    ) -> Asked:  # fmt: skip
        """A case parked at an open gate, which expires in a day."""
        at_work = await self.working() if working is None else working
        policy = Policy(roles, four_eyes, on_expiry, self.now + DAY if expires_at is None else expires_at, reminders)
        question = replace(
            question_for(at_work.step, policy), kind=kind, effect_key=effect_key, effect_nth=effect_nth
        )  # fmt: skip
        gate = await self.store.write(asking.ask, self.now, at_work.lease, at_work.turn.id, question)
        return Asked(at_work.begun, at_work.model_step, at_work.steps, gate=gate)

    async def decide(
        self, gate: Gate, who: Principal, verb: Verb = Verb.APPROVE, *, now: int | None = None,
        digest: str | None = None, changed_args: str | None = None, reason: str | None = None,
    ) -> Decided | NotDecided:  # fmt: skip
        """An answer from the web, with the digest that was shown."""
        shown = gate.digest_shown if digest is None else digest
        decision = Decision(verb, shown, "web", reason, changed_args)
        return await self.store.write(
            deciding.decide, self.now if now is None else now, System(), gate.id, who, decision
        )  # fmt: skip

    async def approved(self, asked: Asked | None = None) -> Asked:
        """A case whose gate kim has approved and that works again: the next run has begun."""
        asked = await self.ask() if asked is None else asked
        decided = await self.decide(asked.gate, self.people.kim)
        assert isinstance(decided, Decided)
        return await self.resumed(asked)

    async def resumed(self, asked: Asked) -> Asked:
        """The same after its gate has been decided: the next run has begun, the gate is as it stands now."""
        begun = await self.store.write(begin_again, self.now, asked)
        return replace(asked, begun=begun, gate=await self.gate(asked.gate.id))

    async def gate(self, gate_id: GateId) -> Gate:
        """A gate as it stands now."""
        return await self.store.read(gates.by_id, gate_id)

    async def trail_kinds(self, case_id: CaseId) -> list[str]:
        """The kinds of what happened to a case, oldest first."""
        kinds = await self.store.read(
            Tx.column, "SELECT kind FROM trail WHERE case_id = :id ORDER BY seq", id=case_id
        )  # fmt: skip
        return [str(kind) for kind in kinds]


def question_for(step: Step, policy: Policy) -> Question:
    """May a step be made? In the words a person would see."""
    return Question(GateKind.APPROVAL, step, "v1", True, f"Run {step.tool} on nginx.", "It is consequential.", policy)


def begin_again(tx: Tx, now: int, working: Working) -> Begun:
    """The run parks, lets go of the case, and the next one begins; the gate is decided by now."""
    runs.end(tx, now, working.run.id, Outcome.PARKED, stop_reason="it waits for a decision")
    leases.drop(tx, working.lease)
    begun = turns.begin(tx, now, working.case.id, WORKER)
    assert begun is not None
    return begun


@pytest.fixture
def world(store: Store, people: People, now: int) -> World:
    """Short ways to a case at work."""
    return World(store, people, now)
