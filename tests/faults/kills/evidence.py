"""All that is left of an installation once it rests: what was asked, what happened outside, what is stored."""

import re
import sqlite3
from collections import Counter as Tally
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from casestore.models import Gate, Message, Step
from casestore.trail import Head
from casestore.tx import Tx
from tests.faults.kills.boot import Place
from tests.faults.kills.history import Act, Asked, read, services
from tests.faults.kills.platform import Line
from tests.faults.kills.platform import read as read_platform

_ANCHOR = re.compile(r" run\.ended case=(\d+) .*trail_head=(\d+):([0-9a-f]+)")
_ERROR = re.compile(r"^\S+ (ERROR|CRITICAL) .*|^Traceback.*", re.MULTILINE)


@dataclass(slots=True)
class Report:
    """What was found wrong, in words, and how much was looked at: no zero without its N."""

    wrong: list[str] = field(default_factory=lambda: [])
    counts: Tally[str] = field(default_factory=lambda: Tally[str]())

    def expect(self, so: bool, otherwise: str) -> None:
        """Note what is wrong unless it is so."""
        if not so:
            self.wrong.append(otherwise)


@dataclass(frozen=True)
class Evidence:
    """The files of one installation, read as one snapshot."""

    tx: Tx
    history: dict[int, Asked]
    services: list[Act]
    effects: list[tuple[str, str]]
    platform: list[Line]
    anchors: dict[int, Head]
    errors: list[str]
    messages: list[Message]
    steps: list[Step]
    gates: list[Gate]

    def of_kind(self, *kinds: str) -> list[Asked]:
        """The acts of these kinds."""
        return [asked for asked in self.history.values() if asked.kind in kinds]


@contextmanager
def gathered(place: Place) -> Generator[Evidence]:
    """Read everything; the database for as long as the block lasts."""
    log = place.folder / "service.log"
    said = log.read_text(errors="replace") if log.exists() else ""
    with closing(sqlite3.connect(f"{place.db.as_uri()}?mode=ro", uri=True, isolation_level=None)) as raw:
        raw.execute("BEGIN")
        tx = Tx(raw, lambda: "")
        yield Evidence(
            tx=tx,
            history=read(place.history),
            services=services(place.history),
            effects=place.counter.lines(),
            platform=read_platform(place.platform),
            anchors={int(case): Head(int(seq), digest) for case, seq, digest in _ANCHOR.findall(said)},
            errors=[found.group(0) for found in _ERROR.finditer(said)],
            messages=tx.all(Message, "SELECT * FROM messages ORDER BY id"),
            steps=tx.all(Step, "SELECT * FROM steps ORDER BY id"),
            gates=tx.all(Gate, "SELECT * FROM gates ORDER BY id"),
        )
