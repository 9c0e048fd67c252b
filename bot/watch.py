"""Noticing what other processes commit, and that the store can be written again: then the service goes on."""

import asyncio
import logging

from bot.degraded.standby import Standby
from bot.outbound.delivery import Delivery
from bot.turns.engine import Engine
from casestore.db import Store
from casestore.errors import StoreError

log = logging.getLogger("casebound.watch")

_EVERY_S = 0.4


async def watch(store: Store, engine: Engine, delivery: Delivery, standby: Standby) -> None:
    """Until cancelled: wake engine and delivery within half a second of a foreign commit, or the store's return."""
    failing = False
    while True:
        await asyncio.sleep(_EVERY_S)
        try:
            changed = await store.changed_elsewhere() | bool(await standby.settle())
        except StoreError as error:
            if not failing:  # once: it is asked several times a second, and the disk may be full
                log.warning("watch.failed", extra={"fields": {"error": str(error)}})
            failing = True
            continue
        failing = False
        if changed:
            engine.wake()
            delivery.wake()
