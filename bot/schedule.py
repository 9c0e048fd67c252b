"""The schedule: ticks only. Each runs transactions over the truth that may be run at any time, and twice.

What falls due together, as after a night without a service, is done in batches: whoever writes beside a tick waits for
one of them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, tzinfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.clock import Clock
from bot.gates import gating
from bot.outbound import speech
from bot.outbound.delivery import Delivery
from bot.people import closing
from bot.settings import Settings
from bot.turns.engine import Engine
from bot.words.when import at_text
from casestore import cases, gates, leases, outbox
from casestore.db import Store
from casestore.errors import StoreError
from casestore.files import wal_bytes
from casestore.tx import Tx

log = logging.getLogger("casebound.schedule")


class Schedule:
    """Starts the ticks. APScheduler keeps no state: what is due is in the store (R6, R12)."""

    def __init__(
        self, store: Store, clock: Clock, settings: Settings, engine: Engine, delivery: Delivery, zone: tzinfo | None
    ) -> None:
        self._store, self._clock, self._settings = store, clock, settings
        self._engine, self._delivery, self._zone = engine, delivery, zone
        # misfire_grace_time None: a tick that comes late is run, not skipped; coalesce: many missed are run once
        self._scheduler = AsyncIOScheduler(
            timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )

    def start(self) -> None:
        """Begin to tick; every tick comes once at once, for what fell due while nobody ran."""
        for seconds, tick in (
            (5, self._expire_and_remind),
            (15, self._wake),
            (30, self._checkpoint),
            (60, self._auto_close),
        ):
            self._scheduler.add_job(
                self._guarded, "interval", seconds=seconds, args=(tick,), id=tick.__name__,
                next_run_time=datetime.fromtimestamp(self._clock.now() / 1000, UTC),
            )  # fmt: skip
        self._scheduler.start()

    def stop(self) -> None:
        """Tick no more; a tick under way is cut off, its transaction is whole or not there."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    @property
    def ticking(self) -> bool:
        """Whether the ticks come; shown by `/readyz`."""
        return self._scheduler.running

    async def _guarded(self, tick: Callable[[], Awaitable[None]]) -> None:
        try:
            await tick()
        except asyncio.CancelledError:
            return  # cut off by `stop`; handed on, the scheduler would report it as a failure
        except StoreError as error:
            log.warning("tick.failed", extra={"fields": {"tick": tick.__name__, "error": str(error)}})
        except Exception:  # the next tick may succeed; nothing else depends on this one
            log.exception("tick.raised", extra={"fields": {"tick": tick.__name__}})

    async def _expire_and_remind(self) -> None:
        now = self._clock.now()
        while expired := await self._store.write(gates.expire_due, now):
            for gate in expired:
                log.info("gate.expired", extra={"fields": {"gate": gate.id, "case": gate.case_id}})
            self._wake_both()
        while await self._store.write(remind, now, self._settings, self._zone):
            self._wake_both()

    async def _wake(self) -> None:
        self._wake_both()

    async def _checkpoint(self) -> None:
        if not await self._store.checkpoint():
            # somebody reads for long, or another process writes: what they hold up is in the WAL, which grows
            log.info("checkpoint.incomplete", extra={"fields": {"wal_bytes": wal_bytes(self._store.path)}})

    async def _auto_close(self) -> None:
        now = self._clock.now()
        while await self._store.write(auto_close, now, self._settings.cases.auto_close):
            self._wake_both()

    def _wake_both(self) -> None:
        self._engine.wake()
        self._delivery.wake()


def remind(tx: Tx, now: int, settings: Settings, zone: tzinfo | None) -> int:
    """A short message for each reminder that has come, and for each case a person has had for long; how many.

    As many as fit into one batch: called again until none are left.
    """
    due = gates.to_remind(tx, now)
    for gate in due:
        until = at_text(gate.expires_at, zone, now)
        case = cases.by_id(tx, gate.case_id)
        who = gating.who_decides(tx, gate)
        text = f"Still waiting in {case.label} for {who}, until {until}: {gate.statement} (gate {gate.id})"
        speech.say(tx, now, gate.case_id, text)
        for address in outbox.cards_beside(tx, gate):  # a room of those who approve is no thread of the case
            speech.put(tx, now, gate.case_id, address, text)
    held = leases.long_held(tx, now - settings.leases.human_reminder)
    for row in held:
        label = cases.by_id(tx, row.case_id).label
        speech.say(
            tx, now, row.case_id, f"{row.holder} still has {label}. Hand it back: casebound case release {label}"
        )
        leases.mark_reminded(tx, now, row.case_id)
    return len(due) + len(held)


def auto_close(tx: Tx, now: int, after_ms: int) -> int:
    """Close what has been resolved for long enough, a batch at a time; how many."""
    due = cases.resolved_before(tx, now - after_ms)
    for case in due:
        closing.close(tx, now, case, by="scheduler", why="resolved for long enough")
    return len(due)
