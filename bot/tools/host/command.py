"""Running one program: an argument list, never a shell; bounded in time and in what is read from it."""

import asyncio
import os
import shutil
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.tools.declare import ToolFailed

SYSTEMD_RUNS = Path("/run/systemd/system")
KEPT_BYTES = 64 * 1024


@dataclass(frozen=True)
class Finished:
    """How a program ended: its exit code and the last part of what it wrote."""

    code: int
    out: str
    err: str


def service_manager() -> str | None:
    """The path of systemctl where systemd runs this machine, else None."""
    return shutil.which("systemctl") if SYSTEMD_RUNS.is_dir() else None


async def run(*argv: str, seconds: float) -> Finished:
    """Run a program to its end; raises `ToolFailed` if it cannot start or takes longer than `seconds`.

    Its own process group dies with the call, also when the caller is cancelled.
    """
    process = await _start(*argv)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(seconds):
            out, err = await asyncio.gather(_last(process.stdout), _last(process.stderr))
            code = await process.wait()
    except TimeoutError:
        raise ToolFailed(f"{Path(argv[0]).name} took longer than {seconds:g} s and was stopped.") from None
    finally:
        await _end(process)
    return Finished(code, out, err)


async def _start(*argv: str) -> Process:
    """The program, running. A start that is cut short stops a half of what was started, and may never return.

    So it is let come to its end, and the program is ended then.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError):
            await _end(await starting)
        raise
    except OSError as error:
        raise ToolFailed(f"{Path(argv[0]).name} could not be started: {error.strerror}.") from None


async def _end(process: Process) -> None:
    """End what is left of a program's group; the program itself may have ended before its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def _last(stream: asyncio.StreamReader) -> str:
    kept = b""
    while chunk := await stream.read(8192):
        kept = (kept + chunk)[-KEPT_BYTES:]
    return kept.decode("utf-8", "replace")
