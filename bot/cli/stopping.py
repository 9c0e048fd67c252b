"""Being told to stop: SIGTERM and SIGINT end a command in order, a second one at once."""

import asyncio
import os
import signal


def listen() -> asyncio.Event:
    """An event that is set when the process is told to stop. Told again, it ends there and then."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _tell, told, number)
    return told


def _tell(told: asyncio.Event, number: int) -> None:
    if told.is_set():
        os._exit(128 + number)
    told.set()
