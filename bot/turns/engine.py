"""The engine: a case with work and no lease is worked, as an asyncio task, a bounded number at once."""

import asyncio
import logging

from bot.degraded.standby import Standby
from bot.retelling.paraphrasing import Paraphrasing
from bot.turns import endings
from bot.turns.conduct import Conductor
from bot.turns.desk import Desk
from bot.turns.instruct import Ended
from casestore import cases, leases, messages, model_steps, runs, turns
from casestore.db import Store
from casestore.errors import LeaseLost, StoreError, StoreUnavailable
from casestore.models import CaseId
from casestore.states import Cause, Outcome, TurnState
from casestore.tx import Tx

log = logging.getLogger("casebound.engine")

_IDLE_S = 1.0
_PUT_OFF_MS = 5_000


class Engine:
    """Finds cases with work and conducts them. One per file: it runs in the process that holds `<db>.service`."""

    def __init__(
        self, store: Store, desk: Desk, conductor: Conductor, standby: Standby,
        paraphrasing: Paraphrasing | None = None,
    ) -> None:  # fmt: skip
        self._store, self._desk, self._conductor, self._standby = store, desk, conductor, standby
        self._paraphrasing = paraphrasing
        self._tasks: dict[CaseId, asyncio.Task[None]] = {}
        standby.worked = self._tasks.__contains__
        self._again: set[CaseId] = set()
        self._behind = False
        """Whether others wait for a place: then whose turn it is, is the store's to say."""
        self._woken = asyncio.Event()
        self._stopping = False

    def wake(self, case_id: CaseId | None = None) -> None:
        """Something was stored: look for work, first of all in this case."""
        if case_id is not None:
            if case_id in self._tasks:
                self._again.add(case_id)
            elif self._free and not self._behind and not self._stopping:
                self._start(case_id)
                return
            else:
                self._behind = True
        self._woken.set()

    async def run(self) -> None:
        """Until stopped: start what is ready, then wait to be woken, or a second, for what comes with time."""
        voided = False
        while not self._stopping:
            self._woken.clear()
            try:
                if not voided:
                    await self._store.write(take_up, self._desk.now(), self._desk.worker.boot)
                    voided = True
                await self._start_ready()
            except StoreUnavailable as error:
                log.warning("engine.store_unavailable", extra={"fields": {"error": str(error)}})
            except Exception:  # whatever it is, the cases that can be worked are worked
                log.exception("engine.failed")
            try:
                async with asyncio.timeout(_IDLE_S):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def stop(self, grace_s: float) -> None:
        """Start nothing more; give what runs `grace_s` seconds, then cut it off: the store knows how to go on."""
        self._stopping = True
        self._woken.set()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks.values(), timeout=grace_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def idle(self) -> None:
        """Wait until nothing is being worked; for tests and for the console."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    @property
    def working(self) -> int:
        """How many cases are being worked now."""
        return len(self._tasks)

    @property
    def _free(self) -> int:
        return max(0, self._desk.settings.service.concurrency - len(self._tasks))

    async def _start_ready(self) -> None:
        if not self._free:
            return
        ready = await self._store.read(
            leases.ready, self._desk.now(), self._desk.settings.service.concurrency + 1,
            talks=self._desk.worker.talks,
        )  # fmt: skip
        waiting = [case_id for case_id in ready if case_id not in self._tasks]
        free = self._free
        for case_id in waiting[:free]:
            self._start(case_id)
        self._behind = len(waiting) > free

    def _start(self, case_id: CaseId) -> None:
        task = asyncio.create_task(self._work(case_id), name=f"case-{case_id}")
        self._tasks[case_id] = task
        task.add_done_callback(lambda _: self._ended(case_id))

    def _ended(self, case_id: CaseId) -> None:
        self._tasks.pop(case_id, None)
        if case_id in self._again:
            self._again.discard(case_id)
            self.wake(case_id)
        self._woken.set()

    async def _work(self, case_id: CaseId) -> None:
        try:
            await self._standby.settle()
            ended = None if self._standby.holds(case_id) else await self._conductor.work(case_id)
        except StoreUnavailable as error:
            log.warning("run.store_unavailable", extra={"fields": {"case": case_id, "error": str(error)}})
            await self._standby.answer_case(case_id, error)
            await asyncio.sleep(_IDLE_S)  # it has work still, and would be started again at once
        except LeaseLost:
            log.info("run.lease_lost", extra={"fields": {"case": case_id}})
        except Exception as error:
            log.exception("run.failed", extra={"fields": {"case": case_id}})
            await self._record_failure(case_id, error)
        else:
            if isinstance(ended, Ended):
                # the head anchors the trail outside the file: cutting its end off is found by it (R18)
                fields = {"case": case_id, "run": ended.run_id, "outcome": ended.outcome, "trail_head": ended.head}
                log.info("run.ended", extra={"fields": fields})
                if self._paraphrasing is not None:
                    self._paraphrasing.after(case_id, ended)

    async def _record_failure(self, case_id: CaseId, error: Exception) -> None:
        """A bug in a run: its record says so, the turn is tried again a few times, then an operator gets it (R13)."""
        now = self._desk.now()
        try:
            await self._store.write(_fail, now, self._desk, case_id, type(error).__name__)
        except StoreError:
            log.exception("run.failure_not_recorded", extra={"fields": {"case": case_id}})


def take_up(tx: Tx, now: int, boot: str) -> None:
    """What an earlier process of this service was at, it is at no more (R10, R13)."""
    leases.void_earlier_boots(tx, boot)
    model_steps.interrupt(tx, now)


def _fail(tx: Tx, now: int, desk: Desk, case_id: CaseId, error: str) -> None:
    """What was under way in this process failed. What somebody else has by now, or has ended, is left alone."""
    lease, case = leases.of_case(tx, case_id), cases.by_id(tx, case_id)
    if (lease.kind is not None and lease.boot != desk.worker.boot) or case.state in cases.ENDED:
        return
    run = runs.open_run(tx, case_id)
    if run is not None:
        stop = "an error in the engine; its log says more"
        runs.end(tx, now, run.id, Outcome.ERROR, stop_reason=stop, error=error)
    turn = turns.unsettled(tx, case_id)
    if turn is not None and turn.state is TurnState.PARKED:  # it stays as it is; what failed was beside it
        turn = turns.due_beside(tx, now, turn)
    elif turn is None and messages.unread(tx, case_id):
        turn = turns.queue(tx, now, case_id, Cause.MESSAGE)
    leases.free(tx, case_id)
    if turn is None:
        return
    if run is None:  # not even its beginning could be stored; that counts as an attempt all the same
        turns.count_attempt(tx, turn.id)
    if run is None and turn.attempts >= desk.settings.limits.attempts:
        endings.abandon(tx, now, case, turn.id, "it could not be begun", desk.settings.approval_rooms())
    else:
        turns.requeue(tx, turn.id, not_before=now + _PUT_OFF_MS)
