"""The child of a sweep: under the shim, or a limit, it acts out one scenario for each plan, each in its own process.

Run as a program: plans as lines of JSON on stdin, what everybody was told as lines of JSON on stdout.
"""

import asyncio
import ctypes
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from casestore import cases, prompts
from casestore.cases import Opening
from casestore.db import Store
from casestore.errors import StoreError
from casestore.migrate import open_store
from casestore.states import Origin
from casestore.tx import Tx
from tests.faults.disk.limit import LIMIT, Limit

NOW = 1_790_000_000_000
BODY = 6_000
"""Characters: more than a page, so that a transaction is several frames."""
FAULT_OVER = 1_000
"""The mark in the log where the fault has ended; smaller marks number those who were told "done"."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One fault: in which scenario, which write or sync fails, and how.

    Of a limit (`kinds` is `LIMIT`): after how many bytes more no file grows any further.
    """

    db: str
    log: str
    scenario: str
    n: int
    kinds: int
    good: bool
    error: int
    half: bool
    ends: bool = False
    """The process ends while the fault lasts, with its store open."""


class Fault(Protocol):
    """What makes writes fail."""

    def arm(self, plan: Plan, n: int) -> None:
        """Begin to count; `n` fails, -1 for none."""
        ...

    def counted(self) -> int:
        """How many could have failed since."""
        ...

    def over(self) -> None:
        """Nothing fails any more."""
        ...

    def mark(self, number: int) -> None:
        """A moment that a test wants to find again."""
        ...


@dataclass(slots=True)
class Outcome:
    """What became of it: what each was told, what could be read, and whether the store went on by itself."""

    told: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    healthy: bool | None = None
    seen: list[str] = field(default_factory=list[str])
    after: str = ""
    healthy_after: bool = False
    emptied: bool = False
    seen_after: list[str] = field(default_factory=list[str])
    counted: int = 0
    broke: str = ""

    def tell(self, fault: Fault, name: str, what: str) -> None:
        """Somebody has an answer."""
        self.told.append((name, what))
        if what == "done":
            fault.mark(len(self.told) - 1)


class Unwanted(Exception):
    """What the function of one caller raises of its own."""


def put(tx: Tx, name: str) -> None:
    """A case with its trail, and a row that needs pages of its own."""
    cases.open_case(tx, NOW, Opening("local", name, Origin.CLI), actor="cli")
    prompts.keep(tx, NOW, text=name * (BODY // len(name)), tools="[]", label=name)


def put_and_raise(tx: Tx, name: str) -> None:
    """The same, and then it fails by itself."""
    put(tx, name)
    raise Unwanted


def names(tx: Tx) -> list[str]:
    """Of the cases that are whole: with their lease, their trail and their text."""
    found = tx.column(
        """SELECT c.title FROM cases c JOIN leases l ON l.case_id = c.id JOIN prompts p ON p.label = c.title
           WHERE EXISTS (SELECT 1 FROM trail t WHERE t.case_id = c.id) ORDER BY c.title"""
    )
    return [str(name) for name in found]


class Scene:
    """A store, the fault, and the record of what is told."""

    def __init__(self, fault: Fault, plan: Plan, outcome: Outcome) -> None:
        self.fault = fault
        self.plan = plan
        self.outcome = outcome
        self.opened: Store | None = None

    async def open(self) -> Store:
        """As the service does at its start."""
        self.opened = await open_store(Path(self.plan.db), lambda: "n", serves=True, create=True)
        return self.opened

    async def tell(self, store: Store, name: str, fn: Callable[[Tx, str], None] = put) -> str:
        """One caller writes; what it was told."""
        try:
            await store.write(fn, name)
        except StoreError as error:
            what = type(error).__name__
        except Unwanted:
            what = "raised"
        else:
            what = "done"
        self.outcome.tell(self.fault, name, what)
        return what

    def arm(self, n: int) -> None:
        """Begin to count; `n` fails, -1 for none."""
        self.fault.arm(self.plan, n)


async def opening(scene: Scene) -> None:
    """A first start: the file is made, migrated, and gets its first row."""
    scene.arm(scene.plan.n)
    try:
        store = await scene.open()
    except StoreError as error:
        scene.outcome.told.append(("open", type(error).__name__))
        return
    await scene.tell(store, "a")


async def single(scene: Scene) -> None:
    """Two, one after the other."""
    store = await _at_work(scene)
    await scene.tell(store, "a")
    await scene.tell(store, "b")


async def group(scene: Scene) -> None:
    """Five share a commit, of which one raises; then one alone."""
    store = await _at_work(scene)
    fns = [put, put, put_and_raise, put, put]
    await asyncio.gather(*(scene.tell(store, f"g{n}", fn) for n, fn in enumerate(fns)))
    await scene.tell(store, "z")


async def checkpoint(scene: Scene) -> None:
    """The WAL is moved into the file between two writes, and once more after them."""
    store = await _at_work(scene)
    await scene.tell(store, "a")
    await _checkpoint(store)
    await scene.tell(store, "b")
    await _checkpoint(store)
    await scene.tell(store, "c")


async def close(scene: Scene) -> None:
    """The last connection moves the WAL into the file as it goes, and takes it away."""
    store = await _at_work(scene)
    await scene.tell(store, "a")
    await store.close()
    scene.opened = None


SCENARIOS: dict[str, Callable[[Scene], Awaitable[None]]] = {
    each.__name__: each for each in (opening, single, group, checkpoint, close)
}


async def _at_work(scene: Scene) -> Store:
    store = await scene.open()
    await scene.tell(store, "before")
    scene.arm(scene.plan.n)
    return store


async def _checkpoint(store: Store) -> bool:
    try:
        return await store.checkpoint()
    except StoreError:
        return False


class Shim:
    """Fails the n-th write or sync, see `shim.c`."""

    def __init__(self) -> None:
        self._shim = ctypes.CDLL(None)

    def arm(self, plan: Plan, n: int) -> None:
        """Begin to count; `n` fails, -1 for none."""
        self._shim.fault_arm(
            plan.db.encode(), plan.log.encode(), n, plan.kinds, int(plan.good), plan.error, int(plan.half)
        )

    def counted(self) -> int:
        """How many could have failed since."""
        return int(self._shim.fault_counted())

    def over(self) -> None:
        """Nothing fails any more."""
        self._shim.fault_over()

    def mark(self, number: int) -> None:
        """A moment that is found again in the log."""
        self._shim.fault_mark(number)


async def act(plan: Plan) -> Outcome:
    """The scenario under its fault, then what follows once the fault is over; nobody closes the store."""
    outcome = Outcome()
    fault = Limit() if plan.kinds == LIMIT else Shim()
    scene = Scene(fault, plan, outcome)
    scene.arm(-1)
    await SCENARIOS[plan.scenario](scene)
    outcome.counted = fault.counted()
    if plan.ends:
        return outcome
    fault.over()
    fault.mark(FAULT_OVER)
    if scene.opened is not None:
        outcome.healthy = scene.opened.healthy
    store = scene.opened or await scene.open()
    outcome.seen = await store.read(names)
    outcome.after = await scene.tell(store, "after")
    outcome.healthy_after = store.healthy
    outcome.emptied = await _checkpoint(store)
    await scene.tell(store, "last")
    outcome.seen_after = await store.read(names)
    return outcome


def main() -> None:
    """One forked process for each plan; it is ended as a kill would, with its store open."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                outcome = asyncio.run(act(Plan(**json.loads(line))))
                os.write(1, json.dumps(asdict(outcome)).encode() + b"\n")
            except BaseException as error:  # told to the one who judges
                os.write(1, json.dumps({"broke": repr(error), "told": []}).encode() + b"\n")
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
