"""How a test waits for something without sleeping: whatever happens here wakes it, and it looks again."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Something happened; what, is for the one who waits to see."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Event] = set()

    def changed(self) -> None:
        """Wake everybody who waits."""
        for event in self._waiting:
            event.set()

    async def until(self, look: Callable[[], T], *, within: float = 15.0, what: str = "") -> T:
        """The first true answer of `look`. Fails, rather than hangs, when nothing happens for `within` seconds.

        `look` may depend on anything; it is asked again after every change of the server, and now and then in
        between, because what a test waits for may be on the product's side.
        """
        event = asyncio.Event()
        self._waiting.add(event)
        deadline = asyncio.get_running_loop().time() + within
        try:
            while True:
                event.clear()
                if seen := look():
                    return seen
                if asyncio.get_running_loop().time() > deadline:
                    raise AssertionError(f"It did not happen within {within} s: {what or look}")
                try:
                    async with asyncio.timeout(0.05):
                        await event.wait()
                except TimeoutError:
                    pass
        finally:
            self._waiting.discard(event)
