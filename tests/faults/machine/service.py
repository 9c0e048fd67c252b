"""The store's own commits on a real file, one at a time or in groups; it can be killed, restarted, and made to fail.

A connection set up like the store's writer, without its thread: a history has some hundred commits.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Concatenate, Literal, ParamSpec, TypeVar, cast

from bot.settings import Settings
from bot.turns.desk import Desk, Prompt, Toolbox
from bot.turns.instruct import CallModel, RunCalls
from casestore import leases, principals
from casestore.batch import Done, Job, Result, commit_together
from casestore.connection import _configure as configure  # pyright: ignore[reportPrivateUsage] - the store's pragmas
from casestore.models import Principal
from casestore.states import Role
from casestore.turns import Begun, Worker
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
    begun: list[Begun] = field(default_factory=list[Begun])
    """Every tenure there ever was."""
    ghosts: list[Hand] = field(default_factory=list[Hand])
    """What processes would do that were stopped past their lease and go on without knowing it."""

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.toolbox = Toolbox(tools_of(Effects()), self.settings)
        self._boots, self._nonces = count(1), count(1)
        self.people: dict[str, Principal] = {}
        self.talks = False

    def open(self) -> None:
        """Start the process: open the file, void what its earlier boots held."""
        self.boot = f"boot-{next(self._boots)}"
        worker = Worker(f"engine {self.boot}", self.boot, "casebound", "scripted", self.settings.leases.ttl, self.talks)
        prompt = Prompt("test", "Work the case.", self.toolbox.schemas())
        self.desk = Desk(
            settings=self.settings, clock=self.clock, toolbox=self.toolbox, prompt=prompt, worker=worker
        )  # fmt: skip
        self._conn = sqlite3.connect(f"{self.path.as_uri()}?mode=rw", uri=True, isolation_level=None)
        configure(self._conn, readonly=False, busy_timeout_ms=1_000)
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
        self._conn.close()

    @property
    def now(self) -> int:
        """What the clock says."""
        return self.clock.now()

    def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One transaction."""
        (result,) = self._commit([lambda tx: fn(tx, *args, **kwargs)])
        if isinstance(result, Done):
            return cast("T", result.value)
        raise result.error

    def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One snapshot."""
        self._conn.execute("BEGIN")
        try:
            return fn(Tx(self._conn, self._nonce), *args, **kwargs)
        finally:
            self._conn.execute("ROLLBACK")

    def together(self, *jobs: Job) -> list[object]:
        """Several transactions that share one commit; what each returned or raised."""
        return [result.value if isinstance(result, Done) else result.error for result in self._commit(jobs)]

    def _commit(self, jobs: Sequence[Job]) -> list[Result]:
        return commit_together(self._conn, self._nonce, jobs)

    def _nonce(self) -> str:
        return f"n{next(self._nonces)}"

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
