"""Lines from a stream, without a thread and without changing the stream.

A terminal, pipe or socket is waited for with the event loop and read only when there is something to read, so
that its file descriptor need not be made non-blocking: a terminal shares that setting with its output. A
regular file, and a stream without a file descriptor, never keep anybody waiting and are simply read.
"""

from __future__ import annotations

import asyncio
import codecs
import io
import os
from collections import deque
from typing import TextIO

LONGEST = 1 << 20
"""Characters in one line. A longer one is given in parts of that length, so that memory stays bounded."""

_CHUNK = 1 << 16


class Lines:
    """The lines of a stream, in order, each once; a caller that is cancelled while it waits loses none.

    Bytes that are not UTF-8 come as lone surrogates.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._whole: deque[str] = deque()
        self._rest = ""

    async def next(self) -> str | None:
        """The next line without its line end, the last one also when it has none; None at the end.

        Raises `OSError` or `ValueError` when the stream was closed.
        """
        while not self._whole:
            chunk = await _read(self._stream)
            if not chunk:
                last = self._rest + self._decoder.decode(b"", final=True)
                self._rest = ""
                return last.removesuffix("\r") if last else None
            self._take(chunk if isinstance(chunk, str) else self._decoder.decode(chunk))
        return self._whole.popleft()

    def _take(self, text: str) -> None:
        *whole, rest = (self._rest + text).split("\n")
        self._whole.extend(line.removesuffix("\r") for line in whole)
        while len(rest) > LONGEST:
            self._whole.append(rest[:LONGEST])
            rest = rest[LONGEST:]
        self._rest = rest


async def _read(stream: TextIO) -> str | bytes:
    """What there is to read, once there is something; empty at the end."""
    try:
        descriptor = stream.fileno()
    except io.UnsupportedOperation:
        await asyncio.sleep(0)
        return stream.read(_CHUNK)
    while True:
        await _readable(descriptor)
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            continue  # somebody else made it non-blocking, and was faster


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    try:
        loop.add_reader(descriptor, _wake, ready)
    except PermissionError:  # what the system says of a file that is always ready
        await asyncio.sleep(0)
        return
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
