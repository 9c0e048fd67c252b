"""The history checker finds what it is there for: each fault is planted in what a real soak left, and is named."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from tests.faults.kills.boot import Place
from tests.faults.kills.checker import check
from tests.faults.kills.conftest import Soaked
from tests.faults.kills.history import Asked, read

pytestmark = [pytest.mark.kill, pytest.mark.timeout(180)]


class Planted:
    """A copy of what a soak left, to be falsified."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def sql(self, *statements: str, **parameters: object) -> None:
        """Change the database behind everybody's back, its triggers and references aside."""
        with closing(sqlite3.connect(self.place.db, isolation_level=None)) as conn:
            conn.execute("PRAGMA foreign_keys = OFF")
            for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                conn.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                changed = conn.execute(statement, parameters if ":" in statement else {})
                assert changed.rowcount != 0, f"nothing was falsified by: {statement}"

    def one(self, statement: str) -> int:
        """The first value of the first row."""
        with closing(sqlite3.connect(self.place.db)) as conn:
            return conn.execute(statement).fetchone()[0]

    def acked(self, kind: str) -> Asked:
        """An act that was acknowledged."""
        return next(asked for asked in read(self.place.history).values() if asked.kind == kind and asked.acked)

    def found(self) -> str:
        """What the checker says is wrong."""
        return "\n".join(check(self.place).wrong)


@pytest.fixture
def planted(soaked: Soaked, tmp_path: Path) -> Planted:
    """Begins with nothing wrong."""
    shutil.copytree(soaked.place.folder, tmp_path / "copy")
    copy = Planted(Place(tmp_path / "copy"))
    assert copy.found() == ""
    return copy


def test_a_lost_message(planted: Planted) -> None:
    said = planted.acked("say")
    planted.sql("DELETE FROM messages WHERE platform_id = :id", id=said.act["id"])
    assert f"act {said.n} ({said.act['id']}) was acknowledged and is lost" in planted.found()


def test_a_message_stored_twice(planted: Planted) -> None:
    said = planted.acked("say")
    planted.sql(
        """INSERT INTO messages (case_id, seq, direction, provenance, body, platform_id, address, turn_id, at)
           SELECT case_id, 9999, direction, provenance, body, 'other', address, turn_id, at
           FROM messages WHERE platform_id = :id""",
        id=said.act["id"],
    )
    assert f"act {said.n} ({said.act['id']}) is stored 2 times" in planted.found()


def test_a_lost_notification(planted: Planted) -> None:
    sent = planted.acked("alert")
    name = cast("list[str]", sent.act["names"] or sent.act["resolved"])[0]
    planted.sql("DELETE FROM episodes WHERE fingerprint = :name", name=name)
    assert f"alert {name}" in planted.found()


def test_an_answer_given_twice(planted: Planted) -> None:
    turn = planted.one("SELECT turn_id FROM messages WHERE provenance = 'assistant'")
    planted.sql(
        """INSERT INTO messages (case_id, seq, direction, provenance, body, turn_id, at)
           SELECT case_id, 9999, direction, provenance, body, turn_id, at
           FROM messages WHERE provenance = 'assistant' AND turn_id = :turn LIMIT 1""",
        turn=turn,
    )
    assert f"turn {turn} was answered and has 2 replies" in planted.found()


@pytest.mark.parametrize("tool", ["note", "wipe"])
def test_a_repeated_effect(planted: Planted, tool: str) -> None:
    reruns = {asked.act["key"] for asked in read(planted.place.history).values() if asked.act.get("verb") == "rerun"}
    key = next(key for by, key in planted.place.counter.lines() if by == tool and key not in reruns)
    planted.place.counter.add(tool, key)
    assert f"{tool} {key} happened 2 times; people allowed 1" in planted.found()


def test_an_effect_of_a_call_that_was_denied(planted: Planted) -> None:
    key = _argument(planted, "tier = 'consequential' AND state = 'refused'")
    planted.place.counter.add("wipe", key)
    assert "happened 1 times; people allowed 0" in planted.found()


def test_an_effect_that_nobody_journalled(planted: Planted) -> None:
    planted.place.counter.add("wipe", "unheard-of")
    assert "wipe unheard-of happened and no call of it is journalled" in planted.found()


def test_a_call_recorded_as_done_that_never_happened(planted: Planted) -> None:
    lines = planted.place.effects.read_text().splitlines(keepends=True)
    tool, key = next(line for line in planted.place.counter.lines() if line[0] == "note")
    planted.place.effects.write_text("".join(line for line in lines if line != f"{tool} {key}\n"))
    assert f"note {key} is recorded as done and never happened" in planted.found()


def test_a_doubt_that_nobody_was_asked_about(planted: Planted) -> None:
    step = planted.one("SELECT step_id FROM gates WHERE kind = 'outcome'")
    planted.sql("UPDATE gates SET kind = 'approval' WHERE kind = 'outcome' AND step_id = :step", step=step)
    assert f"step {step} (" in planted.found()
    assert "was in doubt, and nobody was asked" in planted.found()


def test_two_gates_open_at_once(planted: Planted) -> None:
    planted.sql(
        """DELETE FROM trail WHERE rowid = (
               SELECT t.rowid FROM trail t WHERE t.kind IN ('gate.approved', 'gate.denied') AND EXISTS (
                   SELECT 1 FROM trail n WHERE n.case_id = t.case_id AND n.kind = 'gate.asked' AND n.seq > t.seq))"""
    )
    assert "had 2 gates open at once" in planted.found()


def test_a_gate_left_open(planted: Planted) -> None:
    planted.sql("UPDATE gates SET state = 'open', decided_at = NULL WHERE id = (SELECT max(id) FROM gates)")
    assert "still has 1 gate open" in planted.found()


def test_a_decision_that_nobody_made(planted: Planted) -> None:
    gate = planted.one("SELECT id FROM gates WHERE verb = 'approve'")
    lines = planted.place.history.read_text().splitlines()
    theirs = {n for n, asked in read(planted.place.history).items() if asked.act.get("gate") == gate}
    planted.place.history.write_text("".join(f"{line}\n" for line in lines if json.loads(line)["n"] not in theirs))
    assert f"gate {gate} is decided 'approve', which nobody said" in planted.found()


def test_a_decision_that_was_acknowledged_and_is_not_stored(planted: Planted) -> None:
    gate = next(
        asked.act["gate"]
        for asked in read(planted.place.history).values()
        if asked.acked and asked.act.get("verb") == "deny"
    )
    planted.sql("UPDATE gates SET verb = 'rerun' WHERE id = :gate", gate=gate)
    assert f"gate {gate} was acknowledged and is not stored" in planted.found()


@pytest.mark.parametrize(
    "falsify",
    [
        "UPDATE trail SET actor = 'nobody' WHERE rowid = (SELECT max(rowid) FROM trail)",
        "DELETE FROM trail WHERE case_id = 1 AND seq = 3",
        "DELETE FROM trail WHERE case_id = 1 AND seq >= 3",
    ],
    ids=["edited", "with a gap", "cut off"],
)
def test_a_broken_trail(planted: Planted, falsify: str) -> None:
    planted.sql(falsify)
    assert "was changed" in planted.found() or "is missing" in planted.found() or "was cut off" in planted.found()


def test_a_call_without_a_result(planted: Planted) -> None:
    planted.sql(
        "UPDATE steps SET result = NULL, state = 'waiting' WHERE id = (SELECT max(id) FROM steps WHERE tool = 'note')"
    )
    assert "has no result" in planted.found()
    assert "is still waiting" in planted.found()


def test_a_turn_that_is_never_settled(planted: Planted) -> None:
    planted.sql("UPDATE turns SET state = 'queued' WHERE id = 1")
    assert "turn 1 is queued after everything has come to rest" in planted.found()


def _platform(planted: Planted, change: Callable[[list[str]], list[str]]) -> None:
    lines = planted.place.platform.read_text().splitlines()
    planted.place.platform.write_text("".join(f"{line}\n" for line in change(lines)))


def test_a_message_sent_twice(planted: Planted) -> None:
    _platform(planted, lambda lines: [*lines, next(line for line in lines if '"text"' in line)])
    assert "was sent 2 times, unmarked or without need" in planted.found()


def test_a_message_marked_sent_that_never_was(planted: Planted) -> None:
    _platform(planted, lambda lines: lines[1:])
    assert "is marked sent and never reached the platform" in planted.found()


def test_a_card_that_does_not_converge(planted: Planted) -> None:
    _platform(planted, lambda lines: [line for line in lines if '"did": "edit"' not in line])
    assert "shows ('approve'" in planted.found()


def test_an_error_in_the_log(planted: Planted) -> None:
    with (planted.place.folder / "service.log").open("a") as log:
        log.write("2026-11-30T00:00:00.000Z ERROR engine run.failed case=1\n")
    assert "the service logged: 2026-11-30T00:00:00.000Z ERROR engine run.failed case=1" in planted.found()


def _argument(planted: Planted, where: str) -> str:
    with closing(sqlite3.connect(planted.place.db)) as conn:
        sql = f"SELECT json_extract(args, '$.key') FROM steps WHERE kind = 'tool' AND {where} AND tool = 'wipe'"
        return conn.execute(sql).fetchone()[0]
