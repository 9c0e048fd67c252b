"""What is on record and what people see: trails hold, one gate at a time, cards converge (R4, R18, R27)."""

from collections import Counter as Tally
from collections.abc import Mapping
from typing import cast

from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse

from bot.gates import card
from bot.turns.arrange import arrange
from casestore import check as store_check
from casestore import gates, outbox, trail, transcript
from casestore.models import CaseId, GateId, OutboxRow
from casestore.scope import System
from casestore.states import OutboxKind, OutboxState
from channels.messages import Card
from tests.faults.kills.evidence import Evidence, Report
from tests.loop.scripted import unpaired


def check(found: Evidence, report: Report) -> None:
    """Trails with their anchors, the order of the gates, the outbox against the platform, every card."""
    _trails(found, report)
    _gates(found, report)
    _outbox(found, report)
    _cards(found, report)
    _transcripts(found, report)
    report.wrong += [f"the service logged: {line}" for line in found.errors]


def _trails(found: Evidence, report: Report) -> None:
    checked = store_check.check(found.tx)
    report.wrong += checked.problems
    report.counts["trails"] += len(checked.trails)
    for case, anchor in found.anchors.items():
        report.counts["trails with an anchor"] += 1
        report.wrong += trail.verify(found.tx, System(), CaseId(case), anchor).problems


def _gates(found: Evidence, report: Report) -> None:
    """The trail's own order: a gate is asked when no other of its case is open (R4)."""
    open_now: dict[object, int] = {}
    report.counts["gates"] += len(found.gates)
    kinds = "('gate.asked', 'gate.approved', 'gate.denied', 'gate.expired', 'gate.withdrawn')"
    for case, kind in found.tx.tuples(f"SELECT case_id, kind FROM trail WHERE kind IN {kinds} ORDER BY case_id, seq"):
        open_now[case] = open_now.get(case, 0) + (1 if kind == "gate.asked" else -1)
        report.expect(open_now[case] <= 1, f"case {case} had {open_now[case]} gates open at once")
    for case, number in found.tx.tuples("SELECT case_id, count(*) FROM gates WHERE state = 'open' GROUP BY case_id"):
        report.wrong.append(f"case {case} still has {number} gate open after everything was answered")


def _outbox(found: Evidence, report: Report) -> None:
    """What was to be said stands on the platform once, in order; what stands there twice says so."""
    rows = found.tx.all(OutboxRow, "SELECT * FROM outbox ORDER BY id")
    sent = Tally[str]()
    newest: dict[str, int] = {}
    for line in found.platform:
        if line["did"] != "send":
            continue
        outbound = cast("Mapping[str, object]", line["outbound"])
        nonce, address = str(outbound["nonce"]), str(outbound["address"])
        sent[nonce] += 1
        report.counts["sent to the platform"] += 1
        if sent[nonce] > 1:
            report.counts["sent twice, marked as a possible duplicate"] += bool(outbound["possible_duplicate"])
            marked = not _can_find(found) and outbound["possible_duplicate"] and sent[nonce] == 2
            report.expect(bool(marked), f"row {nonce} was sent {sent[nonce]} times, unmarked or without need")
        elif int(nonce) < newest.get(address, 0):
            report.wrong.append(f"row {nonce} was sent at {address} after row {newest[address]}")
        newest[address] = max(newest.get(address, 0), int(nonce))
    known = {str(row.id) for row in rows}
    report.expect(set(sent) <= known, f"rows {sorted(set(sent) - known)} were sent and are not in the outbox")
    for row in rows:
        report.counts["outbox rows"] += 1
        if row.state is OutboxState.SENT and row.kind in (OutboxKind.MESSAGE, OutboxKind.CARD):
            report.expect(sent[str(row.id)] >= 1, f"outbox row {row.id} is marked sent and never reached the platform")
        if row.state is OutboxState.DEAD:
            report.expect(_stale(row), f"outbox row {row.id} is dead: {row.error}")
        elif row.state is not OutboxState.SENT:
            report.wrong.append(f"outbox row {row.id} is still {row.state}")


def _can_find(found: Evidence) -> bool:
    """Whether the platform can say what became of a call."""
    return all(said.get("can_find", True) for said in found.services)


def _stale(row: OutboxRow) -> bool:
    """Held back while a person had the case, and not said any more."""
    return (row.error or "").startswith("not sent: ") or (row.error or "").startswith("perhaps sent twice already")


def _cards(found: Evidence, report: Report) -> None:
    """Every copy shows the end of its gate, as it would be rendered now (R28)."""
    shown: dict[str, Card] = {}
    known = set(found.tx.column("SELECT platform_id FROM outbox WHERE kind = 'card'"))
    for line in found.platform:
        content = cast("Mapping[str, object]", line if "content" in line else line["outbound"])["content"]
        if cast("Mapping[str, object]", content)["kind"] == "card":
            shown[str(line["id"])] = Card.model_validate(content)
    for platform_id, seen in shown.items():
        if platform_id not in known and not _can_find(found):
            # killed while it was sent, on a platform that cannot say: its copy is known once somebody presses it
            report.counts["cards nobody can know of"] += 1
            continue
        report.counts["cards"] += 1
        gate = gates.by_id(found.tx, GateId(seen.gate_id))
        now = card.of_gate(found.tx, gate.decided_at or 0, gate, None)
        kept = found.tx.column("SELECT shown FROM cards WHERE platform_id = :id", id=platform_id)
        wrong = f"card {platform_id} of gate {gate.id} shows {seen.verbs or seen.outcome}, not {now.outcome}"
        report.expect((seen.verbs, _begun(seen)) == (now.verbs, _begun(now)), wrong)
        report.expect(kept == [outbox.look_of(found.tx, gate.id)], f"card {platform_id} is remembered as {kept}")


def _begun(shown: Card) -> list[str]:
    """How each line of an outcome begins; the times in it are told differently at another hour."""
    return [line.split(" ")[0] for line in shown.outcome]


def _transcripts(found: Evidence, report: Report) -> None:
    """Each call the model made has one result in what it is sent (R7); those of a last response come with the next."""
    for case in cast("list[CaseId]", found.tx.column("SELECT DISTINCT case_id FROM transcript ORDER BY case_id")):
        sent = arrange(transcript.lines(found.tx, case, 1))
        spoken = ModelMessagesTypeAdapter.validate_json(f"[{','.join(line.message for line in sent)}]")
        report.counts["model messages"] += len(spoken)
        complete = spoken[:-1] if isinstance(spoken[-1], ModelResponse) else spoken
        report.wrong += [f"case {case}: {problem}" for problem in unpaired(complete)]
