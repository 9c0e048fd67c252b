"""The card of a gate, made from its row at the moment it is shown (R28)."""

from datetime import tzinfo

from bot.gates import gating, gist
from bot.words.when import at_text, span_text
from casestore import bindings, cases, principals, steps
from casestore.canonical import decode, encode
from casestore.models import Case, Gate, Step
from casestore.states import GateKind, GateState, OnExpiry, StepState
from casestore.tx import Tx
from channels.messages import Argument, Card, Verb
from channels.text import beginning, ending

_LONG = 300
VERBS: dict[GateKind, tuple[Verb, ...]] = {
    GateKind.APPROVAL: ("approve", "deny", "revise"),
    GateKind.CONSENT: ("approve", "deny"),
    GateKind.OUTCOME: ("happened", "not_happened", "rerun"),
}
"""What can be answered to a gate of each kind, by those who decide."""

_HEADINGS = {GateKind.APPROVAL: "Approve?", GateKind.CONSENT: "Do you agree?", GateKind.OUTCOME: "Did it happen?"}
_UNDECIDED = {GateState.EXPIRED: "Expired", GateState.WITHDRAWN: "Withdrawn"}


def of_gate(
    tx: Tx, now: int, gate: Gate, zone: tzinfo | None, *, whole: bool = False, at: str | None = None
) -> Card:  # fmt: skip
    """The card as it is now: with verbs while the gate is open, with its outcome afterwards.

    `whole`: with every argument in full, however long. `at`: the address where it stands; in a thread of its case the
    requester sees it, and can take the question back.
    """
    case = cases.by_id(tx, gate.case_id)
    is_open = gate.state is GateState.OPEN
    taken_back = ("withdraw",) if at is not None and _requester_sees(tx, gate, case, at) else ()
    return Card(
        gate_id=gate.id,
        digest8=gate.digest_shown[:8],
        verbs=(*VERBS[gate.kind], *taken_back) if is_open else (),
        heading=_HEADINGS[gate.kind] if is_open else _UNDECIDED.get(gate.state, "Decided"),
        statement=gate.statement,
        case_label=case.label,
        case_title=case.title,
        origin=f"{case.origin} · {case.priority}",
        tool=gate.tool,
        tier_note=f"{gate.tier.replace('_', ' ')}, {'reversible' if gate.reversible else 'not reversible'}",
        arguments=_arguments(gate, None if whole else _LONG),
        asked_by=_asked_by(tx, gate, case),
        because=_because(gate),
        looked_at=tuple(_looked_at(step) for step in _ran(tx, gate)),
        waiting=_waiting(tx, gate),
        earlier=_earlier(tx, now, gate, zone),
        decides=gating.who_decides(tx, gate) if is_open else "",
        if_nobody=_if_nobody(now, gate, case, zone) if is_open else "",
        expires_at=gate.expires_at if is_open else None,
        outcome=() if is_open else _outcome(tx, now, gate, zone),
    )


def _requester_sees(tx: Tx, gate: Gate, case: Case, at: str) -> bool:
    if gate.kind is not GateKind.APPROVAL or case.requester is None:
        return False
    bound = bindings.case_at(tx, at)
    return bound is not None and bound.id == case.id


def _arguments(gate: Gate, most: int | None) -> tuple[Argument, ...]:
    asked = decode(gate.args)
    run = decode(gate.changed_args) if gate.changed_args is not None else asked
    return tuple(_argument(name, value, asked.get(name), most) for name, value in run.items())


def _argument(name: str, value: object, asked: object, most: int | None) -> Argument:
    text = _written(value)
    was = None if value == asked else _first_and_last(_written(asked), most)
    shown = _first_and_last(text, most)
    return Argument(name=name, value=shown, was=was, length=None if shown == text else len(text))


def _written(value: object) -> str:
    return value if isinstance(value, str) else encode(value)


def _first_and_last(text: str, most: int | None) -> str:
    """The text, or its first and its last part, of whole signs, where it is longer than `most`."""
    if most is None or len(text) <= most:
        return text
    return f"{beginning(text, most * 2 // 3)} … {ending(text, most // 3)}"


def _because(gate: Gate) -> str | None:
    """The assistant's words, at most three lines of them; that there were more is seen."""
    lines = [line for line in gate.because.splitlines() if line.strip()]
    return "\n".join([*lines[:3], *(["…"] if len(lines) > 3 else [])]) or None


def _asked_by(tx: Tx, gate: Gate, case: Case) -> str:
    if gate.asked_for is None:
        return f"the assistant, for: {case.title} (no person)"
    name = principals.get(tx, gate.asked_for).name
    verified = "not verified"
    if case.verified_at is not None:
        verified = f"verified as {case.verified_as} by {case.verified_how}"
    return f"the assistant, for {name} ({verified})"


def _ran(tx: Tx, gate: Gate) -> list[Step]:
    before = (
        s for s in steps.of_turn(tx, gate.turn_id) if s.finished_at is not None and s.finished_at <= gate.asked_at
    )
    done = [s for s in before if s.tool is not None]
    return [s for s in done if s.state in (StepState.FINISHED, StepState.FAILED) and s.gate_id != gate.id][-8:]


def _looked_at(step: Step) -> str:
    args = ", ".join(str(value) for value in decode(step.args or "{}").values())
    return f"{(step.tool or '').rpartition('.')[2]}({_short(args, 60)}) → {_short(_gist(step), 80)}"


def _gist(step: Step) -> str:
    words = gist.of_step(step)
    return words if step.state is StepState.FINISHED or step.result is None else f"failed: {words}"


def _waiting(tx: Tx, gate: Gate) -> str | None:
    step = steps.by_id(tx, gate.step_id)
    behind = [
        other
        for other in (steps.of_response(tx, step.model_step) if step.model_step is not None else [])
        if other.state is StepState.WAITING and other.id != gate.step_id
    ]
    if not behind:
        return None
    return f"{len(behind)} more call{'s wait' if len(behind) > 1 else ' waits'} behind this one"


def _earlier(tx: Tx, now: int, gate: Gate, zone: tzinfo | None) -> str | None:
    if gate.earlier_step is None:
        return None
    step = steps.by_id(tx, gate.earlier_step)
    case = cases.by_id(tx, step.case_id)
    where = case.label if case.tenant == gate.tenant else "another case"
    started = f"the same effect was started {at_text(step.started_at or 0, zone, now)} in {where}"
    # what came of it is for those who may see that case (R21)
    return f"{started}: {_short(_gist(step), 80)}" if step.case_id == gate.case_id else started


def _if_nobody(now: int, gate: Gate, case: Case, zone: tzinfo | None) -> str:
    left = f" (in {span_text(gate.expires_at - now)})" if gate.expires_at > now else ""
    if gate.kind is GateKind.OUTCOME:
        then = "it stays unknown; an operator gets the case"
    elif gate.on_expiry is OnExpiry.HANDOFF:
        then = "denied; an operator gets the case"
    else:
        then = "denied; the requester is told" if case.requester is not None else "denied; the assistant goes on"
    return f"{at_text(gate.expires_at, zone, now)}{left}: {then}"


def _outcome(tx: Tx, now: int, gate: Gate, zone: tzinfo | None) -> tuple[str, ...]:
    lines = [gating.ended_text(tx, now, gate, zone)]
    spent = [step for step in steps.of_turn(tx, gate.turn_id) if step.gate_id == gate.id]
    for step in spent:
        lines.append(_ran_line(step, now, zone))
    return tuple(lines)


def _ran_line(step: Step, now: int, zone: tzinfo | None) -> str:
    started = at_text(step.started_at or 0, zone, now, seconds=True)
    match step.state:
        case StepState.STARTED:
            return f"Running since {started}"
        case StepState.UNKNOWN:
            return "Outcome unknown; asked in the next card"
        case _:
            took = span_text((step.finished_at or 0) - (step.started_at or 0))
            return f"Ran {started}, {took}: {_short(_gist(step), 200)}"


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
