"""Noticing what other processes commit: a command beside the service decides a gate, and the service goes on."""

import asyncio
import logging

from bot.delivery import Delivery
from bot.engine import Engine
from casestore.db import Store
from casestore.errors import StoreError

log = logging.getLogger("casebound.watch")

_EVERY_S = 0.4


async def watch(store: Store, engine: Engine, delivery: Delivery) -> None:
    """Until cancelled: wake engine and delivery within half a second of a foreign commit (design, section 4)."""
    while True:
        await asyncio.sleep(_EVERY_S)
        try:
            changed = await store.changed_elsewhere()
        except StoreError as error:
            log.warning("watch.failed", extra={"fields": {"error": str(error)}})
            continue
        if changed:
            engine.wake()
            delivery.wake()
