"""What was said to the service: nothing acknowledged is lost, nothing is stored twice, all is answered (R11, R29)."""

from collections import Counter as Tally
from collections.abc import Mapping
from typing import cast

from casestore.states import Direction, Outcome
from tests.faults.kills.evidence import Evidence, Report
from tests.faults.kills.history import Asked


def check(found: Evidence, report: Report) -> None:
    """Every message and every notification against what is stored."""
    texts = Tally(message.text for message in found.messages if message.direction is Direction.IN)
    own = Tally(message.text for message in found.messages if message.direction is Direction.OUT)
    for asked in found.of_kind("say", "speak", "open"):
        # what the person who has a case says goes out to its threads, and is stored as such
        stored = texts[str(asked.act["text"])] + own[str(asked.act["text"])]
        _one(report, asked, stored, f"the message of act {asked.n} ({asked.act.get('id', asked.kind)})")
        report.counts["duplicates sent"] += asked.times - 1
    _alerts(found, report)
    _answered(found, report)


def _one(report: Report, asked: Asked, stored: int, what: str) -> None:
    report.counts["acknowledged"] += bool(asked.acked)
    report.counts["asked and never acknowledged"] += not asked.acked
    report.expect(stored <= 1, f"{what} is stored {stored} times")
    report.expect(stored >= 1 or not asked.acked, f"{what} was acknowledged and is lost")


def _alerts(found: Evidence, report: Report) -> None:
    """Each member of a group is named by its instance, which no other has: it is told of once, and its end is known."""
    told = Tally(
        str(cast("Mapping[str, object]", part["labels"])["instance"])
        for message in found.messages
        for part in message.body
        if part.get("type") == "alert"
    )
    rows = found.tx.tuples("SELECT fingerprint, min(state) FROM episodes GROUP BY fingerprint")
    states = {str(name): str(state) for name, state in rows}
    for asked in found.of_kind("alert"):
        report.counts["notifications acknowledged"] += bool(asked.acked)
        report.counts["notifications sent again"] += asked.times - 1
        for name in cast("list[str]", asked.act["names"]):
            report.expect(told[name] <= 1, f"alert {name} is told of {told[name]} times")
            lost = f"alert {name} of act {asked.n} was acknowledged and is lost"
            report.expect(not asked.acked or (told[name] == 1 and name in states), lost)
        for name in cast("list[str]", asked.act["resolved"]):
            still = f"the end of alert {name} was acknowledged in act {asked.n} and is lost"
            report.expect(not asked.acked or states.get(name) == "resolved", still)


def _answered(found: Evidence, report: Report) -> None:
    """Every message was taken by a turn, every turn is settled, a run that answered has said one thing."""
    for message in found.messages:
        if message.direction is Direction.IN and message.turn_id is None:
            state = found.tx.value("SELECT state FROM cases WHERE id = :id", id=message.case_id)
            report.expect(state in ("closed", "cancelled"), f"message {message.id} was never read; its case is {state}")
    for turn, state in found.tx.tuples("SELECT id, state FROM turns WHERE state NOT IN ('settled', 'failed')"):
        report.wrong.append(f"turn {turn} is {state} after everything has come to rest")
    for run, ended in found.tx.tuples("SELECT id, outcome FROM runs WHERE outcome IS NULL"):
        report.wrong.append(f"run {run} has no outcome ({ended})")
    failed = found.tx.column("SELECT id FROM turns WHERE state = 'failed'")
    report.expect(not failed, f"turns {failed} could not be begun")
    answers = Tally(message.turn_id for message in found.messages if message.provenance == "assistant")
    answered = found.tx.column("SELECT turn_id FROM runs WHERE outcome = :answered", answered=Outcome.ANSWERED)
    for turn, times in Tally(answered).items():
        report.expect(times == 1, f"turn {turn} was answered {times} times")
        report.expect(answers[turn] == 1, f"turn {turn} was answered and has {answers[turn]} replies")  # pyright: ignore[reportArgumentType]
    report.counts["replies"] += sum(answers.values())
    report.counts["turns"] += found.tx.integer("SELECT count(*) FROM turns")
    report.counts["runs"] += found.tx.integer("SELECT count(*) FROM runs")
    report.counts["runs that crashed"] += found.tx.integer("SELECT count(*) FROM runs WHERE outcome = 'crashed'")
