"""What comes from a server: its messages, with a word when they end; and the last it said on its error output."""

import asyncio
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TextIO, TypeVar

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream

T_co = TypeVar("T_co", covariant=True)

_KEPT = 2_000
_AT_ONCE = 65_536


class Watched(Generic[T_co]):
    """A stream of messages that says when it ends: a session does not tell whoever asks it nothing just now."""

    def __init__(self, stream: "ReadStream[T_co]", ended: Callable[[], None]) -> None:
        self._stream, self._ended = stream, ended

    async def receive(self) -> T_co:
        """The next message."""
        return await self._stream.receive()

    async def aclose(self) -> None:
        """Read no more of it."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T_co:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._ended()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)


class LastWords:
    """The end of what a program writes to its error output: why it did not start, if anybody asks."""

    def __init__(self) -> None:
        self._tail = b""

    @property
    def line(self) -> str:
        """The last line of it; empty where there is none."""
        lines = self._tail.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    @contextmanager
    def heard(self) -> Generator[TextIO]:
        """A file for a program to write to. It is read as fast as it is written, so that nobody waits."""
        self._tail = b""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        loop = asyncio.get_running_loop()
        loop.add_reader(reading, self._read, reading)
        try:
            with os.fdopen(writing, "w") as file:
                yield file
        finally:
            loop.remove_reader(reading)
            self._read(reading)
            os.close(reading)

    def _read(self, reading: int) -> None:
        try:
            said = os.read(reading, _AT_ONCE)
        except BlockingIOError:
            return
        if said:
            self._tail = (self._tail + said)[-_KEPT:]
        else:
            asyncio.get_running_loop().remove_reader(reading)
