"""The terminal: typed lines come in, nothing of the terminal is changed, and its end is noticed."""

from __future__ import annotations

import asyncio
import fcntl
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

from channels.console import ConsoleChannel
from channels.errors import ThreadGone
from channels.lines import LONGEST, Lines
from channels.messages import Account, Outbound, Text
from channels.text import original
from tests.channel_contract.recorder import Recorder
from tests.channel_contract.rigs import ConsoleRig, Paper


def conversation(source: TextIO, output: TextIO) -> ConsoleChannel:
    ids = iter(range(1000))
    return ConsoleChannel("kim", source=source, output=output, now=lambda: 5, new_id=lambda: f"c{next(ids)}")


async def heard(source: TextIO) -> list[str]:
    """Everything that comes from `source` until it ends."""
    receiver = Recorder()
    channel = conversation(source, Paper())
    await channel.start(receiver)
    await channel.until_end()
    assert not channel.connected
    await channel.stop()
    return [inbound.text for inbound in receiver.stored]


async def test_r20_the_person_is_the_account_the_terminal_was_opened_for(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    await console.says("I am root")
    assert console.receiver.stored[0].account == Account(channel="console", space="local", account_id="kim")
    assert console.receiver.stored[0].at == 1000


async def test_a_line_with_a_slash_is_a_command_and_its_answer_is_printed(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    console.types(b"/consent yes\n")
    await console.receiver.until_commanded(1)
    await asyncio.sleep(0)
    assert console.receiver.commands[0].text == "/consent yes"
    assert console.receiver.stored == []
    assert console.shown() == ["done: /consent yes"]


async def test_an_answer_to_a_command_does_not_act_on_the_terminal(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    console.types(b"/title \x1b]0;owned\x07\n")
    await console.receiver.until_commanded(1)
    await asyncio.sleep(0)
    assert console.shown() == ["done: /title ⟨U+001B⟩]0;owned⟨U+0007⟩"]


async def test_a_path_with_a_blank_before_it_is_no_command(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    await console.says(" /var/lib is full")
    assert console.receiver.commands == []


async def test_blank_lines_say_nothing(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    console.types(b"\n  \n\r\n\t\n")
    await console.says("hello")
    assert [inbound.text for inbound in console.receiver.tried] == ["hello"]


async def test_a_line_that_arrives_in_parts_is_one_line(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    for part in "wie geht es dir, größer? 🔥".encode():
        console.types(bytes([part]))
        await asyncio.sleep(0)
    await console.says("")
    assert [inbound.text for inbound in console.receiver.stored] == ["wie geht es dir, größer? 🔥"]


async def test_lines_pasted_at_once_all_arrive_even_across_a_stop(console: ConsoleRig) -> None:
    first_arrived, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Recorder):
        async def inbound(self, inbound: object) -> None:
            first_arrived.set()
            await go_on.wait()

    await console.channel.start(Slow())
    console.types(b"in hand when stopped\none\ntwo\n")
    await first_arrived.wait()
    await console.channel.stop()
    await console.channel.start(console.receiver)
    await console.receiver.until_tried(2)
    assert [inbound.text for inbound in console.receiver.stored] == ["one", "two"]


async def test_a_stopped_channel_no_longer_watches_the_terminal(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    await console.says("hello")
    await console.channel.stop()
    assert not asyncio.get_running_loop().remove_reader(console.source.fileno())


async def test_the_end_of_the_input_ends_the_conversation_after_the_last_line(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    console.types(b"hello\nno line feed")
    console.hangs_up()
    await console.channel.until_end()
    assert [inbound.text for inbound in console.receiver.stored] == ["hello", "no line feed"]
    assert not console.channel.connected
    await console.channel.send(Outbound(address=console.address, nonce="1", content=Text(text="goodbye")))
    assert console.shown() == ["goodbye"]


async def test_bytes_that_are_no_utf8_are_stored_visibly_and_not_lost(console: ConsoleRig) -> None:
    await console.channel.start(console.receiver)
    console.types(b"caf\xe9 \x00 ok\n")
    await console.receiver.until_tried(1)
    text = console.receiver.stored[0].text
    assert text == "caf⟨U+DCE9⟩ ⟨U+0000⟩ ok"
    assert original(text).encode("utf-8", "surrogateescape") == b"caf\xe9 \x00 ok"


async def test_a_regular_file_is_read_to_its_end(tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_bytes("erste\r\nzweite\n\ndritte €".encode())
    with script.open() as source:
        assert await heard(source) == ["erste", "zweite", "dritte €"]


async def test_no_input_at_all_ends_at_once() -> None:
    with open(os.devnull) as source:
        assert await heard(source) == []


async def test_a_stream_without_a_file_descriptor_is_read_as_it_is() -> None:
    assert await heard(io.StringIO("one\ntwo")) == ["one", "two"]


class Broken(io.StringIO):
    """A terminal whose line has gone dead."""

    def read(self, size: int | None = -1, /) -> str:
        raise OSError(5, "Input/output error")


async def test_input_that_fails_is_input_that_has_ended() -> None:
    assert await heard(Broken()) == []


async def test_input_that_was_closed_is_input_that_has_ended() -> None:
    source = io.StringIO("never read")
    source.close()
    assert await heard(source) == []


@pytest.mark.parametrize(("beyond", "parts"), [(-1, 1), (0, 1), (1, 2)])
async def test_an_endless_line_comes_in_parts(beyond: int, parts: int) -> None:
    lines = Lines(io.StringIO("x" * (LONGEST + beyond)))
    found: list[str] = []
    while (line := await lines.next()) is not None:
        found.append(line)
    assert len(found) == parts
    assert sum(map(len, found)) == LONGEST + beyond


async def test_a_terminal_keeps_its_settings_while_it_is_listened_to() -> None:
    """Standard input and output of a terminal are one open file: non-blocking input breaks long output."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "r+b", buffering=0) as raw, io.TextIOWrapper(raw) as terminal:
        receiver = Recorder()
        channel = conversation(terminal, Paper())
        before = fcntl.fcntl(theirs, fcntl.F_GETFL)
        await channel.start(receiver)
        os.write(ours, b"hello from a terminal\n")
        await receiver.until_tried(1)
        assert fcntl.fcntl(theirs, fcntl.F_GETFL) == before
        await channel.stop()
        assert not terminal.closed
        assert receiver.stored[0].text == "hello from a terminal"
    os.close(ours)


async def test_a_terminal_that_hangs_up_ends_the_conversation() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "r+b", buffering=0) as raw, io.TextIOWrapper(raw) as terminal:
        channel = conversation(terminal, Paper())
        await channel.start(Recorder())
        os.close(ours)
        await channel.until_end()
        assert not channel.connected
        await channel.stop()


async def test_printing_to_a_closed_pipe_is_a_lost_thread() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    output = os.fdopen(writing, "w")
    channel = conversation(io.StringIO(), output)
    await channel.start(Recorder())
    with pytest.raises(ThreadGone, match="closed"):
        await channel.send(Outbound(address=channel.address, nonce="1", content=Text(text="x" * 100)))
    await channel.stop()
    with pytest.raises(BrokenPipeError):
        output.close()


async def test_a_terminal_of_another_encoding_shows_what_it_can() -> None:
    raw = io.BytesIO()
    output = io.TextIOWrapper(raw, encoding="ascii")
    channel = conversation(io.StringIO(), output)
    await channel.start(Recorder())
    await channel.send(Outbound(address=channel.address, nonce="1", content=Text(text="94 % → 🔥\x1b[2J")))
    await channel.stop()
    assert raw.getvalue() == rb"94 % \u2192 \U0001f525\u27e8U+001B\u27e9[2J" + b"\n"


_PROGRAM = """
import asyncio, itertools, sys
from channels.console import ConsoleChannel

class Nobody:
    async def inbound(self, inbound): ...
    async def press(self, press): return ""
    async def command(self, command): return ""
    async def gone(self, gone): ...

async def main():
    ids = itertools.count()
    channel = ConsoleChannel(
        "kim", source=sys.stdin, output=sys.stdout, now=lambda: 0, new_id=lambda: str(next(ids))
    )
    await channel.start(Nobody())
    await asyncio.sleep(0)
    await channel.stop()
    print("stopped")

asyncio.run(main())
"""


async def test_a_program_that_stopped_the_channel_ends_though_its_input_stays_open() -> None:
    root = Path(__file__).parents[2]
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM], stdin=reading, capture_output=True, cwd=root, timeout=30, check=True
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert done.stdout == b"stopped\n"
    assert done.stderr == b""
