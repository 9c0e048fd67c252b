"""Drives one installation through boots and kills, and writes down what it asked and what was acknowledged."""

import json
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import cast

from tests.faults.kills.boot import Place
from tests.faults.kills.history import Act, History, services
from tests.faults.kills.people import People
from tests.faults.kills.served import FAULTS, Boot, fork, hand, serve, warm_up
from tests.faults.kills.standing import Standing, look

_DAY_MS = 24 * 3_600_000
_PATIENCE_S = 40.0
_ROUNDS = 80
_AT_ONCE = 8


class Stuck(Exception):
    """The service did not do in time what it has to; the history says what came before."""


@dataclass
class Service:
    """The service's process, as the driver sees it."""

    pid: int
    talk: socket.socket
    port: int | None = None
    rests: bool | None = None
    asked_whether: bool = False
    closed: bool = False
    buffer: bytes = b""
    hands: dict[int, tuple[int, int]] = field(default_factory=lambda: {})
    """What is under way beside it: the pipe of each hand, with its pid and the number of its act."""


class Driver:
    """One installation, from its first boot to the moment it rests."""

    def __init__(self, place: Place, seed: int) -> None:
        place.folder.mkdir(parents=True, exist_ok=True)
        self.place = place
        self._random = Random(f"{seed} {sum(1 for _ in place.folder.iterdir())}")
        self.history = History(place.history)
        self._people = People(self._random, self.history, place.counter)
        self._can_find = Random(seed).random() < 0.7
        # behind the machine's clock, which it never reaches: the ticks that the machine's clock starts are all due
        self._shift_ms = next(
            (cast("int", said["shift"]) for said in reversed(services(place.history)) if "shift" in said), -_DAY_MS * 2
        )
        self._log = place.folder / "service.log"
        if not place.db.exists():
            self._prepare()

    @staticmethod
    def warm_up() -> None:
        """Once, before the first fork."""
        with TemporaryDirectory() as folder:
            warm_up(Place(Path(folder)))

    def kill_once(self) -> None:
        """Start the service, let people act, and kill it at some moment: also before it is up."""
        random = self._random
        acts = self._people.acts(look(self.place.db))
        with self._service(fault=random.random() < 0.3) as service:
            if random.random() < 0.12:
                self._listen(service, random.uniform(0.0, 0.06))
            else:
                self._until(service, lambda: service.port is not None, "was not up")
                for act in [*self._unacknowledged(), *acts]:
                    if act["do"] != "alert" or service.port:  # nobody answers: they are sent once somebody does
                        self._do(service, act)
                self._wait_for_the_moment(service)
            os.kill(service.pid, signal.SIGKILL)
            self.history.note({"did": "kill", "up": service.port is not None})

    def _wait_for_the_moment(self, service: Service) -> None:
        """Half of the time soon, whatever goes on; else in the midst of the work that what was asked has caused."""
        random = self._random
        if random.random() < 0.4:
            self._listen(service, random.uniform(0.0, 0.12))
            return
        sent, made = len(self._unacknowledged()), _size(self.place.effects)
        self._while(service, lambda: bool(self._unacknowledged()), sent and 1.0)
        if random.random() < 0.5:
            self._while(service, lambda: _size(self.place.effects) == made, 0.4)
            self._listen(service, random.uniform(0.0, 0.012))
        else:
            self._listen(service, random.uniform(0.0, 0.35))

    def _while(self, service: Service, so: Callable[[], bool], most_s: float) -> None:
        give_up = time.monotonic() + most_s
        while so() and time.monotonic() < give_up:
            self._listen(service, 0.002)

    def come_to_rest(self) -> None:
        """No more kills: everything is answered and handed back, until nothing is left to do. Raises `Stuck`."""
        for _ in range(_ROUNDS):
            with self._service(later=True) as service:
                self._until(service, lambda: service.port is not None, "was not up")
                for act in self._unacknowledged():
                    self._do(service, act)
                self._until(service, lambda: self._at_rest(service), "did not come to rest")
                while (seen := look(self.place.db)).gates or seen.taken:
                    for act in self._last_acts(seen):
                        self._do(service, act)
                    self._until(service, lambda: not service.hands and self._at_rest(service), "did not come to rest")
                self._stop(service)
            if not (seen.unsettled or self._unacknowledged()):
                return
        raise Stuck(f"after {_ROUNDS} rounds there is still {look(self.place.db)}")

    def _last_acts(self, seen: Standing) -> Iterator[Act]:
        for case, who in seen.taken:
            yield {"do": "release", "case": case, "who": who}
        for gate in seen.gates:
            yield from self._people.answers(gate)

    def _unacknowledged(self) -> list[Act]:
        """What a platform or an Alertmanager sends again: it was never told that it is stored."""
        return [
            {**asked.act, "n": asked.n}
            for asked in self.history.asked.values()
            if asked.kind in ("say", "alert") and not asked.acked
        ]

    @contextmanager
    def _service(self, *, fault: bool = False, later: bool = False) -> Generator[Service]:
        random = self._random
        self._shift_ms += random.choice([0, 0, 1_500, 8_000, 8_000]) + (9_000 if later else 0)
        faults = tuple(random.choices(FAULTS, k=2)) if fault else ()
        boot = Boot(self._shift_ms, self._can_find, later or random.random() < 0.6, faults)
        ours, its = socket.socketpair()

        def work() -> None:
            ours.close()
            serve(self.place, boot, its)

        self.history.note({"did": "start", "faults": boot.faults, "shift": self._shift_ms, "can_find": boot.can_find})
        service = Service(fork(work, self._log), ours)
        its.close()
        ours.setblocking(False)
        try:
            yield service
        finally:
            self._end(service)

    def _end(self, service: Service) -> None:
        """Let what beside it is under way come to its end, read what was still said, and take note of its death."""
        try:
            os.kill(service.pid, signal.SIGKILL)
            os.waitpid(service.pid, 0)
            self._listen(service, 0.0)  # what it had said before it died counts
            give_up = time.monotonic() + _PATIENCE_S
            while service.hands and time.monotonic() < give_up:
                self._listen(service, 0.05)
        finally:
            service.talk.close()
            for pipe, (pid, _) in service.hands.items():
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os.close(pipe)

    def _stop(self, service: Service) -> None:
        self._tell(service, {"do": "stop"})
        give_up = time.monotonic() + _PATIENCE_S
        while _still_there(service.pid):
            if time.monotonic() > give_up:
                raise Stuck("it did not stop when it was told to")
            self._listen(service, 0.02)
        self.history.note({"did": "stop"})

    def _do(self, service: Service, act: Act) -> None:
        known = cast("int | None", act.get("n"))
        act = {name: value for name, value in act.items() if name != "n"}
        if act["do"] != "say":
            while len(service.hands) >= _AT_ONCE:
                self._listen(service, 0.01)
        n = self.history.ask(act, known)
        if act["do"] == "say":
            self._tell(service, {**act, "n": n})
        else:
            self._beside(service, {**act, "port": service.port} if act["do"] == "alert" else act, n)

    def _beside(self, service: Service, act: Act, n: int) -> None:
        mine, its = os.pipe()
        shift = self._shift_ms

        def work() -> None:
            service.talk.close()
            hand(self.place, shift, act, its)

        pid = fork(work, self._log)
        os.close(its)
        os.set_blocking(mine, False)
        service.hands[mine] = (pid, n)

    def _tell(self, service: Service, told: Act) -> None:
        service.talk.setblocking(True)
        try:
            service.talk.sendall(json.dumps(told).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has died of itself; what waits for it says so
        finally:
            service.talk.setblocking(False)

    def _until(self, service: Service, so: Callable[[], bool], otherwise: str) -> None:
        give_up = time.monotonic() + _PATIENCE_S
        while not so():
            if time.monotonic() > give_up or not _still_there(service.pid):
                raise Stuck(f"the service {otherwise}; see {self._log}")
            self._listen(service, 0.02)

    def _at_rest(self, service: Service) -> bool:
        """Asks anew each time it is called: an answer tells of a moment that is over."""
        rested, service.rests = service.rests, None
        if not rested and not service.asked_whether:
            service.asked_whether = True
            self._tell(service, {"do": "rest?"})
        return bool(rested) and not self._unacknowledged()

    def _listen(self, service: Service, seconds: float) -> None:
        """For so long, take in what the service and the hands say."""
        give_up = time.monotonic() + seconds
        while True:
            with selectors.DefaultSelector() as selector:
                if not service.closed:
                    selector.register(service.talk, selectors.EVENT_READ)
                for pipe in service.hands:
                    selector.register(pipe, selectors.EVENT_READ)
                ready = selector.select(max(0.0, give_up - time.monotonic()))
            for key, _ in ready:
                if key.fileobj is service.talk:
                    service.closed = not self._hear(service)
                else:
                    self._take_answer(service, cast("int", key.fileobj))
            if time.monotonic() >= give_up and not ready:
                return

    def _hear(self, service: Service) -> bool:
        """Read what the service has said; False once it has closed its end."""
        try:
            read = service.talk.recv(1 << 16)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False
        service.buffer += read
        *lines, service.buffer = service.buffer.split(b"\n")
        for line in lines:
            said = cast("Act", json.loads(line))
            if "up" in said:
                service.port = cast("int", said["up"])
            elif "rests" in said:
                service.rests, service.asked_whether = bool(said["rests"]), False
            else:
                self.history.answer(cast("int", said.pop("n")), said)
        return bool(read)

    def _take_answer(self, service: Service, pipe: int) -> None:
        pid, n = service.hands.pop(pipe)
        said = os.read(pipe, 1 << 16)
        os.close(pipe)
        os.waitpid(pid, 0)
        if said.endswith(b"\n"):
            self.history.answer(n, cast("Act", json.loads(said)))

    def _prepare(self) -> None:
        mine, its = os.pipe()
        pid = fork(lambda: hand(self.place, self._shift_ms, {"do": "prepare"}, its), self._log)
        os.close(its)
        said = os.read(mine, 1 << 16)
        os.close(mine)
        os.waitpid(pid, 0)
        if not said or not json.loads(said)["ok"]:
            raise Stuck(f"no installation could be made: {said!r}; see {self._log}")


def _still_there(pid: int) -> bool:
    """Whether a child goes on; it is not reaped by asking."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
