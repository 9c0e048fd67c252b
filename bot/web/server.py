"""The HTTP server, in the loop of the service."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import uvicorn

from bot.app import Service
from bot.errors import Refused
from bot.web.application import application

_GRACE_S = 5
_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


@asynccontextmanager
async def serving(service: Service, host: str, port: int) -> AsyncGenerator[int]:
    """Answer HTTP until the block is left; gives the port, which is a free one where 0 was asked for.

    Raises `Refused` where the address cannot be had. Left, it takes nothing more, and lets what is being answered be
    answered.
    """
    sockets = await _bound(host, port)
    config = uvicorn.Config(
        application(service), log_config=None, access_log=False, lifespan="off", ws="none", proxy_headers=False,
        server_header=False, timeout_graceful_shutdown=_GRACE_S,
    )  # fmt: skip
    server = _Server(config)
    answering = asyncio.create_task(server.serve(sockets=sockets), name="http")
    try:
        await server.up.wait()
        yield _port(sockets[0])
    finally:
        service.previews.close()  # else whoever listens would be waited for
        server.should_exit = True
        await answering


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it is up, and leaves signals to the service."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def _bound(host: str, port: int) -> list[socket.socket]:
    """A listening socket for every address of the host, all on one port."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError:
        raise Refused(f"There is no address for {host}. Name another one: --host, or host in [service].") from None
    sockets: list[socket.socket] = []
    for family, address in dict.fromkeys((info[0], info[4]) for info in found):
        try:
            sockets.append(_listening(family, str(address[0]), _port(sockets[0]) if sockets else port))
        except OSError as error:
            if error.errno in _NOT_HERE and (sockets or len(found) > 1):
                continue  # a name of this machine may stand for addresses it does not have
            for one in sockets:
                one.close()
            raise Refused(_why_not(error, host, port)) from None
    if not sockets:
        raise Refused(f"{host} is no address of this machine. Name another one: --host, or host in [service].")
    return sockets


def _listening(family: int, address: str, port: int) -> socket.socket:
    return socket.create_server((address, port), family=family, backlog=2048)


def _port(one: socket.socket) -> int:
    return int(one.getsockname()[1])


def _why_not(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} on {host} is in use. Stop what listens there, or choose another: --port {port + 1}"
        case errno.EACCES:
            return f"Port {port} may not be used by this account. Choose one above 1023: --port 8642"
        case errno.EADDRNOTAVAIL:
            return f"{host} is no address of this machine. Name another one: --host, or host in [service]."
        case _:
            return f"Nothing can listen on {host}, port {port} ({error.strerror}). Choose others: --host, --port"
