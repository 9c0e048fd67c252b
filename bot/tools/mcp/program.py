"""A server that is a program: started, spoken to in lines, and ended with all that it started.

The SDK's own way to a program is not taken: it keeps a line of any length, and joins it anew for every piece that
comes. It also leaves a program behind where a cancellation comes while it is being ended, and a child that outlives it.
"""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import anyio

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

_AT_ONCE = 65_536
GRACE_S = 2.0
"""How long a program may take to end when its input does, and again when it is told to, before it is killed."""
_POLL_S = 0.01


class LineTooLong(Exception):
    """A program sent a line that is longer than any answer may be: nothing after it can be understood."""

    def __init__(self, longest: int) -> None:
        super().__init__(f"it sent a line longer than {longest // 1024} KiB")


class Lines:
    """Cuts what a program writes into lines, and keeps no more than `longest` bytes of one that has no end."""

    def __init__(self, longest: int) -> None:
        self._longest, self._size = longest, 0
        self._begun: list[bytes] = []
        self.wrong: LineTooLong | None = None
        """Why no more of it is understood."""

    def cut(self, said: bytes) -> list[bytes]:
        """The lines that end in `said`. Raises `LineTooLong`."""
        *ends, rest = said.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            lines.append(b"".join((*self._begun, end)))
            self._begun.clear()
            self._size = 0
        self._begun.append(rest)
        self._size += len(rest)
        if self._size > self._longest:
            self._begun.clear()
            self.wrong = LineTooLong(self._longest)
            raise self.wrong
        return lines


@asynccontextmanager
async def program(
    command: str, args: Sequence[str], env: Mapping[str, str], errors: TextIO, longest: int
) -> "AsyncGenerator[TransportStreams]":
    """The streams from and to a program, until the block is left; then it, and all of its group, is gone.

    `longest` is how many bytes a line of it may have. Raises `OSError` where it cannot be started, and `LineTooLong`.
    """
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=_AT_ONCE, loop=loop),
            command, *args, stdin=PIPE, stdout=PIPE, stderr=errors, env=env, start_new_session=True,
        )
    )  # fmt: skip
    cut_short = await _done(starting)  # a start that is cut short stops a half of what was started
    transport, pipes = starting.result()
    heard, incoming = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    outgoing, said = anyio.create_memory_object_stream["SessionMessage"](0)
    lines = Lines(longest)
    reading = asyncio.create_task(_read(pipes, heard, lines))
    writing = asyncio.create_task(_write(pipes, said, heard))

    async def end() -> None:
        incoming.close()  # what it still says is read and dropped, so that it is not held up by us
        outgoing.close()
        await _end(transport)
        for task in (reading, writing):
            task.cancel()
        await asyncio.wait((reading, writing))

    try:
        try:
            if cut_short:
                raise asyncio.CancelledError
            yield incoming, outgoing
        finally:
            ending = asyncio.create_task(end())
            cut_short = await _done(ending)
            ending.result()
            if cut_short:
                raise asyncio.CancelledError
    except Exception:
        if lines.wrong:  # whoever spoke to it only knows that no more came
            raise lines.wrong from None
        raise
    if lines.wrong:
        raise lines.wrong


async def _done(work: "asyncio.Future[Any]") -> bool:
    """Wait for it, whatever comes; whether we were cancelled meanwhile."""
    cancelled = False
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            cancelled = True
    return cancelled


async def _read(
    pipes: SubprocessStreamProtocol, heard: "MemoryObjectSendStream[SessionMessage | Exception]", lines: Lines
) -> None:
    """Hand on what the program says, and read what nobody hears any more."""
    assert pipes.stdout is not None
    with suppress(OSError), heard:
        try:
            while said := await pipes.stdout.read(_AT_ONCE):
                for line in lines.cut(said):
                    await heard.send(_message(line))
        except (LineTooLong, anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass  # what follows has no meaning, or there is no session any more
        heard.close()
        while await pipes.stdout.read(_AT_ONCE):
            pass


def _message(line: bytes) -> "SessionMessage | Exception":
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False))
    except ValueError as error:
        return error


async def _write(
    pipes: SubprocessStreamProtocol,
    said: "MemoryObjectReceiveStream[SessionMessage]",
    heard: "MemoryObjectSendStream[SessionMessage | Exception]",
) -> None:
    """Hand on what is said to the program; where it does not listen any more, nobody shall wait for an answer."""
    assert pipes.stdin is not None
    async with said:
        try:
            async for message in said:
                pipes.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await pipes.stdin.drain()
        except OSError:
            heard.close()


async def _end(transport: asyncio.SubprocessTransport) -> None:
    """End a program, and what is left of its group: by the end of its input, then by a word, then by force."""
    writing, group = transport.get_pipe_transport(0), transport.get_pid()
    assert isinstance(writing, asyncio.WriteTransport)
    assert group is not None
    writing.close()  # once it has taken what was written
    await _wait_while(lambda: transport.get_returncode() is None)
    for word in (signal.SIGTERM, signal.SIGKILL):
        if not _tell(group, word) or not await _wait_while(lambda: _tell(group, 0)):
            break
    if writing.get_write_buffer_size():  # it was not taken, and whoever left the group may still hold the pipe
        writing.abort()
    transport.close()


async def _wait_while(still: Callable[[], bool]) -> bool:
    """Wait for the end of something, for `GRACE_S` at most; whether it still is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while still():  # noqa: ASYNC110 - processes that are not our children tell nobody of their end
                await asyncio.sleep(_POLL_S)
    return still()


def _tell(group: int, number: int) -> bool:
    """Signal a group of processes; whether any is left of it. The number 0 only asks."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # one that runs as somebody else is there, and not ours to end
        return True
    return True
