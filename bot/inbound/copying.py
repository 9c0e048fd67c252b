"""Copying: what people attach is fetched and stored, beside everything else and in nobody's way.

What is wanted stands in the store, so a copy that was cut off is fetched by the next process.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress

from bot.clock import Clock
from bot.inbound import attached
from casestore import attachments
from casestore.db import Store
from casestore.errors import StoreError
from casestore.models import File, FileId
from channels.attached import HasFiles
from channels.errors import AuthFailed, FileGone, FileRefused, FileTooLarge, RetryLater
from channels.port import Channel

log = logging.getLogger("casebound.copying")

_IDLE_S = 5.0
_AT_ONCE = 4
"""Copies that are under way: so many times the limit is what they hold in memory, and as much again to store it."""
_PATIENCE_S = 600.0
"""How long one copy may take; then it is tried again."""
MOST_ATTEMPTS = 15
"""With the waits between them, some four hours."""
_LONGEST_WAIT_MS = 60 * 60_000
_AUTH_WAIT_MS = 60_000


class Copying:
    """Fetches copies on the channels of this process whose files can be asked for."""

    def __init__(self, store: Store, clock: Clock, channels: Mapping[str, Channel], limit: int) -> None:
        """`limit` in bytes; a larger file is not kept, and with 0 none is."""
        self._store, self._clock, self._limit = store, clock, limit
        self._channels: dict[str, HasFiles] = {
            name: channel for name, channel in channels.items() if isinstance(channel, HasFiles)
        }
        self._woken = asyncio.Event()
        self._tasks: dict[asyncio.Task[None], FileId] = {}
        self._resting: dict[FileId, int] = {}

    def wake(self) -> None:
        """Something was stored that may have files."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled: fetch what is wanted, a few at a time. Without a channel that has files, nothing."""
        if not self._channels:
            return
        try:
            while True:
                self._woken.clear()
                try:
                    await self._start_due()
                except StoreError as error:
                    log.warning("copying.store_unavailable", extra={"fields": {"error": str(error)}})
                except Exception:  # whatever it is, the next look may succeed
                    log.exception("copying.failed")
                with suppress(TimeoutError):
                    async with asyncio.timeout(_IDLE_S):
                        await self._woken.wait()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _start_due(self) -> None:
        now, free = self._clock.now(), _AT_ONCE - len(self._tasks)
        # a platform that is out of reach, or not reached yet, takes no file's attempts away
        reached = tuple(name for name, channel in self._channels.items() if channel.connected)
        if free <= 0 or not reached:
            return
        self._resting = {file: until for file, until in self._resting.items() if until > now}
        under_way = {*self._tasks.values(), *self._resting}
        due = await self._store.read(attachments.due, now, reached, most=free, but=under_way)
        for file in await self._store.write(attachments.take, due) if due else []:
            task = asyncio.create_task(self._settle(file), name=f"file-{file.id}")
            self._tasks[task] = file.id
            task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        del self._tasks[task]
        self._woken.set()  # the next may begin
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("copying.raised", exc_info=error, extra={"fields": {"file": task.get_name()}})

    async def _settle(self, file: File) -> None:
        """One attempt to its end. Where that cannot be stored the file stays wanted, and is one attempt older."""
        try:
            await self._attempt(file)
        except FileTooLarge:
            await self._give_up(file, attached.too_large(self._limit))
        except FileRefused as error:
            await self._give_up(file, str(error))
        except FileGone as error:
            await self._give_up(file, str(error), gone=True)
        except AuthFailed as error:
            await self._retry(file, _AUTH_WAIT_MS, str(error))
        except RetryLater as error:
            await self._retry(file, error.after_ms, error.why)
        except TimeoutError:
            await self._retry(file, 0, "it takes too long")
        except StoreError as error:  # perhaps not even that can be noted: the file is let rest from memory
            log.warning("copying.store_unavailable", extra={"fields": {"error": str(error)}})
            self._resting[file.id] = self._clock.now() + _wait_ms(file)
        except Exception as error:
            log.exception("copying.raised", extra={"fields": {"file": file.id}})
            await self._retry(file, 0, f"an error here ({type(error).__name__})")

    async def _attempt(self, file: File) -> None:
        if self._limit == 0:
            raise FileRefused(attached.NONE_KEPT)
        if file.attempts > MOST_ATTEMPTS:
            raise FileRefused(f"it could not be fetched in {MOST_ATTEMPTS} attempts ({file.reason or 'cut off'})")
        async with asyncio.timeout(_PATIENCE_S):
            copy = await self._channels[file.channel].fetch(file.reference, self._limit)
        kept = await self._store.write(
            attachments.keep, self._clock.now(), file, copy.content, name=copy.name, media_type=copy.media_type
        )
        fields = {"file": file.id, "case": file.case_id, "bytes": len(copy.content), "kept": kept}
        log.info("file.fetched", extra={"fields": fields})

    async def _give_up(self, file: File, why: str, *, gone: bool = False) -> None:
        log.warning("file.not_kept", extra={"fields": {"file": file.id, "case": file.case_id, "why": why}})
        await self._store.write(attachments.give_up, self._clock.now(), file, why, gone=gone)

    async def _retry(self, file: File, after_ms: int, why: str) -> None:
        wait = max(after_ms, _wait_ms(file))
        log.info("file.not_fetched_yet", extra={"fields": {"file": file.id, "case": file.case_id, "why": why}})
        await self._store.write(attachments.retry, file, not_before=self._clock.now() + wait, why=why)


def _wait_ms(file: File) -> int:
    return min(1_000 * 2 ** min(file.attempts, 20), _LONGEST_WAIT_MS)
