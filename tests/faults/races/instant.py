"""One transaction is made to run right before, or right after, the n-th of the loop's own: in one commit with it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar

from bot.turns import advance
from tests.loop.rig import Rig

Event = Callable[[Rig], Coroutine[object, object, object]]
Transaction = Coroutine[object, object, object]

_in_event: ContextVar[bool] = ContextVar("in_event", default=False)


class Instant:
    """Counts the transactions of the loop and has `event` happen with the n-th of them; `None` only counts."""

    def __init__(self, rig: Rig, nth: int, event: Event | None, *, first: bool) -> None:
        self._rig, self._nth, self._event, self._first = rig, nth, event, first
        self._write = rig.store.write
        self._own: Transaction | None = None
        self._works: asyncio.Task[object] | None = None
        self.seen: list[str] = []
        """The loop's transactions, by name, in order."""
        self.order: list[str] = []
        """What ran in that instant, in order: `event` and `loop`."""
        setattr(rig.store, "write", self._written)  # noqa: B010 - see Rig.die

    async def _written(self, fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        if _in_event.get():
            asked = self._write(self._told("event", fn), *args, **kwargs)
            return await (self._with_own(asked) if self._own is not None else asked)
        if fn.__module__ != advance.__name__:
            return await self._write(fn, *args, **kwargs)
        self.seen.append(fn.__name__)
        if len(self.seen) - 1 != self._nth or self._event is None:
            return await self._write(fn, *args, **kwargs)
        return await self._together(self._event, self._write(self._told("loop", fn), *args, **kwargs))

    async def _together(self, event: Event, own: Transaction) -> object:
        """The loop waits until the event is over; its own transaction is asked for together with the event's first."""
        self._own = own
        token = _in_event.set(True)
        happens = self._rig.start(event(self._rig))
        _in_event.reset(token)
        await asyncio.wait([happens])
        works = self._works or self._start_own()  # where the event had nothing to write
        await asyncio.wait([works])
        happens.result()
        return works.result()

    async def _with_own(self, asked: Transaction) -> object:
        """Both are in the writer's queue before it looks: the one that is started first stands first."""
        if self._first:
            task = self._rig.start(asked)
            self._start_own()
        else:
            self._start_own()
            task = self._rig.start(asked)
        return await task

    def _start_own(self) -> "asyncio.Task[object]":
        assert self._own is not None
        self._works, self._own = self._rig.start(self._own), None
        return self._works

    def _told(self, who: str, fn: Callable[..., object]) -> Callable[..., object]:
        def told(*args: object, **kwargs: object) -> object:
            self.order.append(who)
            return fn(*args, **kwargs)

        return told


async def until_rest(rig: Rig, settle: Callable[[Rig], Awaitable[bool]]) -> None:
    """Work and deliver; let `settle` answer what waits for a person; until nothing is left that could go on."""
    for _ in range(20):
        await rig.work()
        if not await settle(rig):
            return
    raise AssertionError("it always waits for somebody: something goes round in circles")
