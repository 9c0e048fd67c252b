"""The way to one server: a program of ours, or an address. What it says beside the protocol stays out of our log."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from bot.settings.tools import Mcp
from bot.tools.mcp.program import program
from bot.tools.mcp.streams import LastWords, Watched

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams

LONGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of one answer: a line of a program, or an event. The SDK's 1 MiB for these is less than tools return."""

statuses: ContextVar[list[int] | None] = ContextVar("statuses", default=None)
"""Where the HTTP statuses of the answers to one request are noted: the SDK does not tell 401 from 503."""

_QUIET = ("mcp", "client", "httpx2", "httpcore2")
_CONNECT_S, _READ_S = 10.0, 300.0


@asynccontextmanager
async def connection(
    settings: Mcp, last_words: LastWords, ended: Callable[[], None]
) -> "AsyncGenerator[TransportStreams]":
    """The streams from and to a server. `ended` is called when it says no more. Raises whatever hinders it."""
    for name in _QUIET:  # they log with tracebacks, and with what a server said
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    over = _address(settings, settings.url) if settings.url is not None else _program(settings, last_words)
    async with over as (incoming, outgoing):
        yield Watched(incoming, ended), outgoing


@asynccontextmanager
async def _program(settings: Mcp, last_words: LastWords) -> "AsyncGenerator[TransportStreams]":
    from mcp.client.stdio import get_default_environment

    env = get_default_environment() | {name: value.get_secret_value() for name, value in settings.env.items()}
    with last_words.heard() as errors:
        async with program(settings.command or "", settings.args, env, errors, LONGEST_ANSWER) as streams:
            yield streams


@asynccontextmanager
async def _address(settings: Mcp, url: str) -> "AsyncGenerator[TransportStreams]":
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    client = httpx2.AsyncClient(
        headers={name: value.get_secret_value() for name, value in settings.headers.items()},
        timeout=httpx2.Timeout(_CONNECT_S, read=_READ_S), event_hooks={"response": [_note_status]},
    )  # fmt: skip
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST_ANSWER) as streams:
        yield streams


async def _note_status(response: "httpx2.Response") -> None:
    noted = statuses.get()
    if noted is not None:
        noted.append(response.status_code)
