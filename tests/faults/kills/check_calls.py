"""What was done: no effect twice or unasked, no doubt unasked, one result for each call (R7, R9, R14)."""

import json
from collections import Counter as Tally
from collections import defaultdict

from bot.tools.results import CallResult, ResultKind
from casestore.canonical import decode
from casestore.models import Gate, GateId, Step
from casestore.states import GateKind, StepState, Tier, Verb
from tests.faults.kills.evidence import Evidence, Report
from tests.faults.kills.history import Asked

_NOT_MADE = (
    ResultKind.DENIED, ResultKind.EXPIRED, ResultKind.WITHDRAWN, ResultKind.NOT_ASKED, ResultKind.REFUSED,
    ResultKind.INVALID,
)  # fmt: skip


def check(found: Evidence, report: Report) -> None:
    """Every effect against the journal, and every call against its effects and its gates."""
    calls = _by_key(found.steps)
    made = Tally(key for _, key in found.effects)
    decided = _decisions(found)
    gates = defaultdict[int, list[Gate]](list)
    for gate in found.gates:
        gates[gate.step_id].append(gate)
    for tool, key in found.effects:
        report.expect(key in calls, f"{tool} {key} happened and no call of it is journalled")
    for key, attempts in calls.items():
        report.counts["calls"] += 1
        report.counts["effects"] += made[key]
        asked = [gate for step in attempts for gate in gates[step.id]]
        _effects(report, key, attempts, asked, made[key], decided)
        _results(report, key, attempts, made[key])
        _doubts(found, report, attempts, gates)
    for step in found.steps:
        report.expect(step.state not in ("waiting", "started"), f"step {step.id} is still {step.state}")


def _by_key(steps: list[Step]) -> dict[str, list[Step]]:
    """Every call by its key, with all of its attempts, the newest last."""
    found = defaultdict[str, list[Step]](list)
    for step in steps:
        if step.tool is not None:
            args = decode(step.args or "{}")
            found[str(args.get("key", args.get("title", "")))].append(step)
    return found


def _decisions(found: Evidence) -> set[tuple[int, str]]:
    """What people were heard to answer: to which gate, with which verb. One that nobody asked for is an invention."""
    return {(int(str(asked.act["gate"])), str(asked.act["verb"])) for asked in found.of_kind("decide")}


def _effects(
    report: Report, key: str, attempts: list[Step], asked: list[Gate], made: int, decided: set[tuple[int, str]]
) -> None:
    tier = attempts[0].tier
    if tier is Tier.READ_ONLY or attempts[0].tool == "case.set_title":
        return
    for gate in asked:
        if gate.verb is not None:
            said = (gate.id, str(gate.verb)) in decided
            report.expect(said, f"gate {gate.id} is decided '{gate.verb}', which nobody said")
    reruns = [gate for gate in asked if gate.verb is Verb.RERUN]
    report.counts["said: run it again"] += len(reruns)
    at_most = 1 + len(reruns)
    if tier is Tier.CONSEQUENTIAL and not any(gate.verb is Verb.APPROVE for gate in asked):
        at_most = 0
    report.expect(made <= at_most, f"{attempts[0].tool} {key} happened {made} times; people allowed {at_most}")
    report.counts["calls that could not happen twice"] += 1


def _results(report: Report, key: str, attempts: list[Step], made: int) -> None:
    """One result, which is true: done means that it happened, not made means that it did not."""
    places = Tally((step.model_step, step.position) for step in attempts)
    report.expect(len(places) == 1, f"{key} was asked for by {len(places)} calls")
    last = attempts[-1]
    if last.result is None:
        report.wrong.append(f"the call {last.tool} {key} has no result")
        return
    kind = CallResult.load(last.result).kind
    report.counts["results"] += 1
    if last.tool == "case.set_title":
        return
    if kind is ResultKind.OK:
        report.expect(made >= 1, f"{last.tool} {key} is recorded as done and never happened")
    if last.tier is Tier.READ_ONLY:
        return  # looked at and killed, it is to be looked at again; that it was not any more is true enough
    if kind in _NOT_MADE and len(attempts) == 1:
        report.expect(made == 0, f"{last.tool} {key} is recorded as {kind} and happened {made} times")
    if kind is ResultKind.FAILED and len(attempts) == 1:
        report.expect(made == 0, f"{last.tool} {key} is recorded as failed and happened {made} times")


def _doubts(found: Evidence, report: Report, attempts: list[Step], gates: dict[int, list[Gate]]) -> None:
    """Every call that was in doubt was asked about; unless the case was an operator's by then, who was told."""
    for step in attempts:
        doubted = found.tx.integer(
            """SELECT count(*) FROM trail WHERE case_id = :case_id AND kind = 'tool.outcome_unknown'
                 AND json_extract(meta, '$.step') = :step""",
            case_id=step.case_id, step=step.id,
        )  # fmt: skip
        if not doubted:
            report.expect(step.state is not StepState.UNKNOWN, f"step {step.id} is unknown, and the trail is silent")
            continue
        report.counts["calls in doubt"] += 1
        if any(gate.kind is GateKind.OUTCOME for gate in gates[step.id]):
            report.counts["outcome gates"] += 1
            continue
        handed_over = found.tx.integer(
            """SELECT count(*) FROM runs WHERE turn_id = :turn AND outcome IN ('handed_off', 'limit', 'error')""",
            turn=step.turn_id,
        )
        report.counts["in doubt when the case was handed to an operator"] += 1
        report.expect(bool(handed_over), f"step {step.id} ({step.tool}) was in doubt, and nobody was asked")


def decisions(found: Evidence, report: Report) -> None:
    """First answer wins: one of those to a gate was taken, and it is the one that is stored (R5)."""
    stored = {gate.id: gate for gate in found.gates}
    taken = defaultdict[GateId, list[Asked]](list)
    for asked in found.of_kind("decide"):
        report.counts["decisions"] += 1
        report.counts["decisions that came second"] += bool(asked.refused)
        if asked.acked:
            taken[GateId(int(str(asked.act["gate"])))].append(asked)
    for gate_id, asked in taken.items():
        verbs = json.dumps([one.act["verb"] for one in asked])
        report.expect(len(asked) == 1, f"gate {gate_id} took {len(asked)} answers: {verbs}")
        gate = stored.get(gate_id)
        if gate is None or gate.verb is None or str(gate.verb) != asked[0].act["verb"]:
            report.wrong.append(f"the answer {verbs} to gate {gate_id} was acknowledged and is not stored")
