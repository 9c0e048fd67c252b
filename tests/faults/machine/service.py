"""The real store on a real file, driven one transaction at a time; it can be killed, restarted, and made to fail."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Concatenate, Literal, ParamSpec, TypeVar

from bot.desk import Desk, Prompt, Toolbox
from bot.instruct import CallModel, RunCalls
from bot.settings import Settings
from casestore import leases, principals
from casestore.db import Store
from casestore.migrate import open_store
from casestore.models import Principal
from casestore.states import Role
from casestore.turns import Worker
from casestore.tx import Params, Tx
from tests.loop import hands
from tests.loop.effects import Effects, tools_of
from tests.loop.rig import ManualClock

P = ParamSpec("P")
T = TypeVar("T")

Fault = Literal["raises", "is rolled back"]


class Broken(Exception):
    """What a transaction raises that is made to fail."""


@dataclass(slots=True)
class Hand:
    """What a run of some process would do next: it lives in memory alone, and a kill takes it away."""

    boot: str
    instruction: CallModel | RunCalls
    made: bool = False
    """Whether the calls of this instruction were made already, though nobody has been told."""


class _FailingTx(Tx):
    """Fails with its n-th statement, as a function that has a bug or as SQLite does when the disk is full."""

    __slots__ = ("_fault", "_left")

    def __init__(self, tx: Tx, nth: int, fault: Fault) -> None:
        super().__init__(tx._conn, tx.nonce)
        self._left, self._fault = nth, fault

    def _execute(self, sql: str, params: Params):  # pyright: ignore[reportIncompatibleMethodOverride]
        self._left -= 1
        if self._left == 0:
            self.fail()
        return super()._execute(sql, params)

    def fail(self) -> None:
        """Fail now."""
        if self._fault == "is rolled back":  # what SQLITE_FULL and SQLITE_IOERR do to the transaction
            self._conn.execute("ROLLBACK")
        raise Broken


@dataclass
class Service:
    """One installation over its whole life: the file and the clock outlive each of its processes."""

    path: Path
    settings: Settings = field(default_factory=Settings)
    hands: list[Hand] = field(default_factory=list[Hand])
    """What the running process would do next."""
    ghosts: list[Hand] = field(default_factory=list[Hand])
    """What processes would do that were stopped past their lease and go on without knowing it."""

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.toolbox = Toolbox(tools_of(Effects()), self.settings)
        self._runner = asyncio.Runner()
        self._boots, self._nonces = count(1), count(1)
        self.people: dict[str, Principal] = {}

    def open(self) -> None:
        """Start the process: open the file, void what its earlier boots held."""
        self.boot = f"boot-{next(self._boots)}"
        worker = Worker(f"engine {self.boot}", self.boot, "casebound", "scripted", self.settings.leases.ttl)
        prompt = Prompt("test", "Work the case.", self.toolbox.schemas())
        self.desk = Desk(
            settings=self.settings, clock=self.clock, toolbox=self.toolbox, prompt=prompt, worker=worker
        )  # fmt: skip
        opening = open_store(self.path, lambda: f"n{next(self._nonces)}", serves=True)
        self.store: Store = self._runner.run(opening)
        if not self.people:
            self.people = self.write(_everybody, self.clock.now())
        self.write(leases.void_earlier_boots, self.boot)

    def kill(self, *, stopped: bool) -> None:
        """The process is gone, or only `stopped` and will go on; the next one starts."""
        self._let_go(stopped=stopped)
        self.shut()
        self.open()

    def lose(self, hand: Hand, *, stopped: bool) -> None:
        """One run is cut off in the middle, while its process lives on: its lease has to run out."""
        self.hands.remove(hand)
        if stopped:
            self.ghosts.append(hand)

    def shut(self) -> None:
        """Close the file."""
        self._runner.run(self.store.close())

    def end(self) -> None:
        """Close everything."""
        self.shut()
        self._runner.close()

    @property
    def now(self) -> int:
        """What the clock says."""
        return self.clock.now()

    def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One transaction."""
        return self._runner.run(self.store.write(fn, *args, **kwargs))

    def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One snapshot."""
        return self._runner.run(self.store.read(fn, *args, **kwargs))

    def together(self, *jobs: Callable[[Tx], object]) -> list[object]:
        """Several transactions that share one commit; what each returned or raised."""

        async def at_once() -> list[object]:
            return list(await asyncio.gather(*(self.store.write(job) for job in jobs), return_exceptions=True))

        return self._runner.run(at_once())

    def _let_go(self, *, stopped: bool) -> None:
        if stopped:
            self.ghosts.extend(self.hands)
        self.hands.clear()


def failing(job: Callable[[Tx], object], nth: int, fault: Fault, *, once: bool) -> Callable[[Tx], object]:
    """A transaction whose `nth` statement fails, or its end if it has fewer; `once`: not when it is run again."""
    runs = count(1)

    def run(tx: Tx) -> object:
        if once and next(runs) > 1:
            return job(tx)
        broken = _FailingTx(tx, nth, fault)
        job(broken)
        broken.fail()
        raise AssertionError

    return run


def _everybody(tx: Tx, now: int) -> dict[str, Principal]:
    """Those of every test of the loop, and an operator of another tenant."""
    known = hands.people(tx, now)
    other = principals.add(tx, now, tenant="elsewhere", name="eve", role=Role.OPERATOR)
    return {**known, "eve": other}
