"""`casebound up` on the default, as a process of its own: how soon it is ready, how much memory it holds when idle."""

import http.client
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from bench.table import Finding, spread

ROOT = Path(__file__).parents[1]
READY_AIM_S, MEMORY_AIM_MIB = 3.0, 150
_GIVE_UP_S = 60.0
_POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class Plan:
    """How often it is started, and how long it idles before its memory is read."""

    starts: int
    idle_s: float


FULL = Plan(3, 3.0)
QUICK = Plan(1, 1.0)


def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings on the service: each start is a first one, in an empty folder, and a second on what it left."""
    first: list[float] = []
    again: list[float] = []
    memory: list[float] = []
    cpu: list[float] = []
    for number in range(plan.starts):
        place = folder / f"service-{number}"
        place.mkdir()
        once = _started(place, plan.idle_s)
        first.append(once.ready_s)
        memory.append(once.held_mib)
        again.append(_started(place, 0.0).ready_s)
        cpu.append(once.cpu_s)
    slowest = max(median(first), median(again))
    return [
        Finding("s from exec to /readyz, first start", spread(first), aim=f"< {READY_AIM_S:.0f}",
                met=slowest < READY_AIM_S, n=f"{plan.starts}"),
        Finding("s from exec to /readyz, second start", spread(again), aim=f"< {READY_AIM_S:.0f}",
                met=slowest < READY_AIM_S, n=f"{plan.starts}"),
        Finding("s of CPU until then, first start", spread(cpu), n=f"{plan.starts}"),
        Finding("MiB held when idle (RSS)", spread(memory, 1), aim=f"< {MEMORY_AIM_MIB}",
                met=median(memory) < MEMORY_AIM_MIB, n=f"{plan.starts}"),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Start:
    """Seconds until `/readyz` answered 200, and of CPU it used for that; MiB of RSS after idling."""

    ready_s: float
    cpu_s: float
    held_mib: float


def _started(place: Path, idle_s: float) -> _Start:
    port = _free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CASEBOUND_")}
    with (place / "output").open("ab") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "up", "--db", "casebound.db", "--port", str(port)],
            cwd=place, env={**environment, "PYTHONPATH": str(ROOT)}, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        _wait_until_ready(process, port, place)
        ready = time.perf_counter() - began
        seen = psutil.Process(process.pid)
        used = seen.cpu_times()
        time.sleep(idle_s)
        return _Start(ready, used.user + used.system, seen.memory_info().rss / 2**20)
    finally:
        process.terminate()
        process.wait(_GIVE_UP_S)


def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int, place: Path) -> None:
    give_up = time.perf_counter() + _GIVE_UP_S
    while process.poll() is None and time.perf_counter() < give_up:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass  # it does not listen yet
        finally:
            connection.close()
        time.sleep(_POLL_S)
    said = (place / "output").read_text("utf-8", "replace").strip().splitlines()
    raise RuntimeError("casebound up was not ready in time; it said: " + " / ".join(said[-5:]))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
