"""The Slack of the tests, started as a process of its own so that it shares no event loop with what is measured."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

ROOT = Path(__file__).parents[1]
ROOMS = 20
_LONGEST_LINE = 2**24
_GIVE_UP_S = 90.0


class SlackProcess:
    """One such process. Times are those of `time.perf_counter`, in seconds."""

    def __init__(self, process: asyncio.subprocess.Process, where: dict[str, str]) -> None:
        self._process = process
        self.api_url, self.team, self.person = where["api_url"], where["team"], where["person"]
        self.bot_token, self.app_token = where["bot_token"], where["app_token"]

    async def begin(self, text: str) -> list[tuple[str, str]]:
        """Somebody mentions the app in every room; the threads, as room and timestamp."""
        answer = await self._ask(do="begin", text=text)
        return [(room, ts) for room, ts in cast("list[list[str]]", answer["threads"])]

    async def say(self, times: int, text: str, *, together: bool = False) -> list[float]:
        """Somebody writes in the threads by turns; how long each took until it was acknowledged.

        `together`: without waiting for that; one value, from the first to the last acknowledgement.
        """
        return cast("list[float]", (await self._ask(do="say", times=times, text=text, together=together))["seconds"])

    async def heard(self, times: int) -> list[float]:
        """When each post came in, once there are so many; then they are forgotten."""
        at = cast("list[float]", (await self._ask(do="heard", times=times))["at"])
        await self._ask(do="forget")
        return at

    async def _ask(self, **order: object) -> dict[str, object]:
        to = self._process.stdin
        if to is None:
            raise RuntimeError("the process of the server has no input")
        to.write(json.dumps(order).encode() + b"\n")
        return await answered(self._process)


@asynccontextmanager
async def slack_process() -> AsyncGenerator[SlackProcess]:
    """Start one, and end it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.slack_server", str(ROOMS), cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LONGEST_LINE,
    )  # fmt: skip
    try:
        yield SlackProcess(process, cast("dict[str, str]", await answered(process)))
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()


async def answered(process: asyncio.subprocess.Process) -> dict[str, object]:
    """Its next answer. Raises `RuntimeError` where it has ended; why is on its stderr, which is ours."""
    async with asyncio.timeout(_GIVE_UP_S):
        line = await process.stdout.readline() if process.stdout is not None else b""
    if not line:
        raise RuntimeError("the process of the server has ended")
    return json.loads(line)


@asynccontextmanager
async def bare_bolt(slack: SlackProcess) -> AsyncGenerator[AsyncWebClient]:
    """The floor: an app of slack-bolt that acknowledges and does nothing, and the client by which it posts."""
    client = AsyncWebClient(slack.bot_token, base_url=slack.api_url, retry_handlers=[])
    app = AsyncApp(client=client, request_verification_enabled=False)
    for event in ("message", "app_mention"):
        cast("Any", app).event(event)(_nothing)  # its decorators are typed by what they do not know
    handler = AsyncSocketModeHandler(app, slack.app_token)
    await handler.connect_async()
    try:
        yield client
    finally:
        await handler.close_async()


async def _nothing() -> None:
    """Nothing is done with it."""
