"""A process that has imported the program and becomes it for each order: what it is called with, where, and its ends.

Run by `tests.started`. A child has nothing of any test in it: it is forked from a process that has done nothing but
import, before any thread or loop exists, and ends as an interpreter does. What it is not the same in is how it was
found: `tests/cli/test_quick_start.py` and others start the real command.
"""

import gc
import json
import os
import selectors
import signal
import socket
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import cast

import bot.__main__

IMPORTED = (
    "bot.app", "bot.cli.chat", "bot.cli.failures", "bot.cli.root", "bot.cli.up", "bot.settings.explain",
    "bot.web.server", "channels.console", "genai_prices.data",
)  # fmt: skip
_MOST = 1_000_000


def serve(orders: socket.socket) -> dict[str, object]:
    """Fork a child for each order and say how it ended; returns what is ordered, in the child alone."""
    ended, wake = socket.socketpair()
    for one in (ended, wake):
        one.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    children: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as looking:
        looking.register(orders, selectors.EVENT_READ)
        looking.register(ended, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in looking.select()}
            if orders in ready:
                text, fds, _, _ = socket.recv_fds(orders, _MOST, 4)
                if not text:
                    sys.exit()
                if (pid := os.fork()) == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for one in (orders, ended, wake, *children.values()):
                        one.close()
                    return {**json.loads(text), "fds": fds}
                for fd in fds[:3]:
                    os.close(fd)
                children[pid] = socket.socket(fileno=fds[3])
                children[pid].sendall(f"{pid}\n".encode())
            if ended in ready:
                ended.recv(_MOST)
                _tell_of_the_ended(children)


def _tell_of_the_ended(children: dict[int, socket.socket]) -> None:
    for pid, asked in list(children.items()):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            with suppress(OSError):  # whoever started it has gone
                asked.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            children.pop(pid).close()


def become(order: dict[str, object]) -> None:
    """Take the place, the environment, the ends and the words of the command line that were ordered."""
    fds = cast("list[int]", order["fds"])
    for ours, fd in enumerate(fds[:3]):
        os.dup2(fd, ours)
    for fd in fds:
        os.close(fd)
    os.chdir(cast("str", order["folder"]))
    os.environ.clear()
    os.environ.update(cast("dict[str, str]", order["environment"]))
    sys.argv = [bot.__main__.__file__, *cast("list[str]", order["arguments"])]
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - they are the process's own, to its end
    sys.stdout = open(1, "w", encoding="utf-8", buffering=1 if os.isatty(1) else -1)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    if os.environ.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    gc.freeze()
    become(serve(socket.socket(fileno=int(sys.argv[1]))))
    bot.__main__.main()
