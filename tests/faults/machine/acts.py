"""Doing one thing to the store and looking at all of it afterwards: what every rule of the machine is made of."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from bot.turns.conduct import _response as response_of  # pyright: ignore[reportPrivateUsage] - what the engine stores
from bot.turns.instruct import CallModel, Ended, Lost, RunCalls
from casestore import leases, trail
from casestore.errors import LeaseLost, MoveRefused, StoreUnavailable
from casestore.models import CaseId
from casestore.scope import System
from casestore.tx import Tx
from tests import empty_store
from tests.faults.machine import moves, states
from tests.faults.machine.model import Model, holds
from tests.faults.machine.picture import Picture, Row, snapshot, take_picture
from tests.faults.machine.service import Broken, Hand, Service, failing
from tests.faults.machine.service import Fault as Fault
from tests.store.rows import everything

__all__ = ["Acts", "Job", "response_of"]

Job = Callable[[Tx], object]
IN_MEMORY = Path("/dev/shm")
"""Where there is such a folder: a machine whose disk is slow plays as many histories as another."""
REFUSED = (MoveRefused, LeaseLost)


class Acts(RuleBasedStateMachine):
    """One history of one installation."""

    histories: ClassVar[int] = 0
    commits: ClassVar[int] = 0
    totals: ClassVar[dict[str, int]] = {}

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None)
        path = Path(self._folder.name) / "casebound.db"
        empty_store.lay(path)
        self.service = Service(path)
        self.service.open()
        self.model = Model()
        with snapshot(path) as tx:
            self.picture: Picture = take_picture(tx)
        self._verified: dict[int, int] = {}
        self.whole = True
        """Whether every look so far found the rules kept."""

    def teardown(self) -> None:
        """The end of a history."""
        self.service.shut()
        self._folder.cleanup()
        Acts.histories += 1
        for name, times in self.model.tally.items():
            Acts.totals[name] = Acts.totals.get(name, 0) + times

    # Doing

    def do(self, job: Job, after: Callable[[Any], None] = lambda _: None) -> object:
        """Commit one thing; what it returned, or the refusal it raised, goes to `after`, once all was looked at."""
        try:
            value: object = self.service.write(job)
        except REFUSED as refusal:
            value = refusal
        return self._done(value, after)

    def do_failing(
        self, job: Job, beside: Job, nth: int, fault: Fault, *, once: bool, alone: bool,
        after: Callable[[Any], None] = lambda _: None, after_beside: Callable[[Any], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """Commit one thing whose n-th statement fails, alone or with something that has nothing to do with it.

        Nothing of what failed is stored; what was beside it is, once; what failed `once` is, where it is run again.
        """
        before = self.service.read(everything)
        broken = failing(job, nth, fault, once=once)
        self.model.tally[f"fault.{fault}"] += 1
        if alone:
            (value,) = self.service.together(broken)
            assert isinstance(value, (Broken, StoreUnavailable, *REFUSED)), value
            assert self.service.read(everything) == before, "what failed is stored"
            self.look()
            return
        told = self.service.together(broken, beside)
        assert not isinstance(told[1], BaseException), told[1]
        if isinstance(told[0], Exception):
            assert isinstance(told[0], (Broken, StoreUnavailable, *REFUSED)), told[0]
            self._done(told[1], after_beside)
            return
        assert once
        assert fault == "is rolled back"
        self.model.tally["fault.done again"] += 1
        self.look()
        after(told[0])
        after_beside(told[1])

    def _done(self, value: object, after: Callable[[Any], None]) -> object:
        before = self.picture
        self.look()
        if isinstance(value, REFUSED):
            assert self.picture.tables == before.tables, "what was refused has changed something"
        after(value)
        return value

    def look(self) -> None:
        """Read the whole file and hold it against every rule."""
        Acts.commits += 1
        self.whole = False
        now, before = self.service.now, self.picture
        with snapshot(self.service.path) as tx:
            self.picture = take_picture(tx)
            ready = [int(case_id) for case_id in leases.ready(tx, now, 100)]
            for case in self.picture.all("cases"):
                entries = sum(1 for _ in self.picture.all("trail", case_id=case["id"]))
                if self._verified.get(case["id"]) != entries:
                    assert trail.verify(tx, System(), CaseId(case["id"])).problems == (), "R18"
                    self._verified[case["id"]] = entries
        moves.check(before, self.picture, self.model, now)
        states.check(self.picture, self.model, now, ready)
        self.whole = True

    # What a holder does next

    def follow(self, boot: str, value: object) -> None:
        """What a transaction of a run told it to do is what the hand does next."""
        if isinstance(value, CallModel | RunCalls):
            self.service.hands.append(Hand(boot, value))
            if value.begun not in self.service.begun[-1:]:
                self.service.begun.append(value.begun)
        else:
            assert value is None or isinstance(value, Ended | Lost | Exception)

    def stands(self, hand: Hand) -> bool:
        """Whether the lease of a hand stands now, by the model."""
        lease = hand.instruction.begun.lease
        return holds(self.picture, self.service.now, lease.case_id, lease.fence)

    def stale(self, before: Picture, case_id: int, value: object) -> None:
        """R10: an act without a lease has changed nothing but facts."""
        self.model.tally["stale act"] += 1
        assert isinstance(value, Lost | LeaseLost) or value is None, value
        after = self.picture
        assert after.one("leases", case_id) == before.one("leases", case_id)
        for table in ("gates", "messages", "turns", "runs", "transcript", "steps"):
            new = [row for row in after.added(before, table) if row["case_id"] == case_id]
            assert not new, f"R10: a stale act put a row into {table}"
        for _, step in after.changed(before, "steps"):
            assert step["state"] not in ("started", "waiting", "refused"), "R10: a stale act started something"

    def pick(self, rows: list[Row], number: int) -> Row | None:
        """One of these, or None of none."""
        return rows[number % len(rows)] if rows else None

    @property
    def now(self) -> int:
        """What the clock says."""
        return self.service.now

    def bound(self, fn: Callable[..., object], *args: object, **kwargs: object) -> Job:
        """A transaction at the time it is now."""
        return partial(_call, fn, self.now, args, kwargs)


def _call(fn: Callable[..., object], now: int, args: tuple[object, ...], kwargs: dict[str, object], tx: Tx) -> object:
    return fn(tx, now, *args, **kwargs)
