"""What a crash test says and sees: boots of one installation, each killed where the test says, and what they leave."""

import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from typing import TypeVar

from bot.tools.results import CallResult
from casestore.check import check
from casestore.models import Gate, OutboxRow, Step
from casestore.tx import Tx
from channels.address import Address
from tests.faults.kills.boot import Place
from tests.faults.kills.platform import JournalledChannel
from tests.faults.kills.zygote import THREAD, Boot, Deed, order

R = TypeVar("R", Step, Gate, OutboxRow)

LATER_MS = 10_000
"""Past the deadline of any call of `planned`, and within the lease."""


class Installation:
    """One folder; every boot is a real process."""

    def __init__(self, place: Place, zygote: "subprocess.Popen[str]", *, can_find: bool = True) -> None:
        self.place, self._zygote, self._can_find = place, zygote, can_find
        self._later_ms = 0

    def killed(self, dies: str, *deeds: Deed) -> None:
        """A boot that does this and is killed there."""
        assert self._ended(dies, deeds) == signal.SIGKILL, f"it never came to: {dies}\n{self._log()}"

    def runs(self, *deeds: Deed) -> None:
        """A boot that does this and ends by itself."""
        assert self._ended("", deeds) == 0, self._log()

    def later(self) -> None:
        """The next boot comes after the deadline of whatever was under way."""
        self._later_ms += LATER_MS

    def _ended(self, dies: str, deeds: Sequence[Deed]) -> int:
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        boot = Boot(str(self.place.folder), tuple(deeds), dies, self._later_ms, self._can_find)
        self._zygote.stdin.write(order(boot))
        self._zygote.stdin.flush()
        return int(self._zygote.stdout.readline())

    def _log(self) -> str:
        return (self.place.folder / "service.log").read_text()[-4_000:]

    # What is on disk, and outside

    @property
    def calls(self) -> list[str]:
        """How each tool call stands, by every attempt: its state, and what its result is."""
        return [
            step.state if step.result is None else f"{step.state} {CallResult.load(step.result).kind}"
            for step in self._all(Step, "SELECT * FROM steps WHERE kind = 'tool' ORDER BY id")
        ]

    @property
    def model_calls(self) -> list[str]:
        """How each model call of the conversation stands."""
        made = self._all(Step, "SELECT * FROM steps WHERE kind = 'model' ORDER BY id")
        return [str(step.state) for step in made if "paraphrases" not in (step.request or {})]

    @property
    def gates(self) -> list[str]:
        """Every gate, as its kind and state."""
        return [f"{gate.kind} {gate.state}" for gate in self._all(Gate, "SELECT * FROM gates ORDER BY id")]

    @property
    def outbox(self) -> list[str]:
        """Every row, as its kind and state."""
        return [f"{row.kind} {row.state}" for row in self._all(OutboxRow, "SELECT * FROM outbox ORDER BY id")]

    @property
    def received(self) -> int:
        """How many messages of people are stored."""
        with closing(sqlite3.connect(self.place.db)) as conn:
            return conn.execute("SELECT count(*) FROM messages WHERE direction = 'in'").fetchone()[0]

    @property
    def posted(self) -> list[str]:
        """What stands in the thread."""
        return JournalledChannel(self.place.platform).texts(Address.parse(THREAD))

    def happened(self, key: str = "k") -> int:
        """How often the effect was made."""
        return self.place.counter.count(key)

    def holds(self) -> bool:
        """Whether every trail and every reference holds."""
        with closing(sqlite3.connect(self.place.db, isolation_level=None)) as conn:
            conn.execute("BEGIN")
            return check(Tx(conn, lambda: "")).problems == ()

    def _all(self, model: type[R], sql: str) -> list[R]:
        with closing(sqlite3.connect(self.place.db, isolation_level=None)) as conn:
            conn.execute("BEGIN")
            return Tx(conn, lambda: "").all(model, sql)
