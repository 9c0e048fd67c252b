"""A turn beside a parked one: what people say at an open gate is answered by a run that can only look.

The parked turn is not touched. Its calls that wait get a result of the engine's in each request of the turn beside,
and nowhere else; in the transcript they stay without one until they are decided (R7).
"""

from pydantic_ai.messages import ModelRequest, ToolReturnPart
from pydantic_ai.models import Model

from bot.gates import gating
from bot.inbound import intake
from bot.tools.declare import wire
from bot.turns import window
from bot.turns.desk import Desk
from bot.words.when import at_text
from casestore import gates, steps, transcript
from casestore.models import Gate, Step, StepId
from casestore.states import GateKind
from casestore.turns import Begun
from casestore.tx import Tx

_BEHIND = "not run yet: it waits behind another call, which waits for a decision"
_DECIDED = "not run yet: the decision has come, and is carried out after this answer"
_NOT_YOURS = "You can talk about it and look at things; you can neither run it nor decide it."
_TAKEN_BACK = f"Whoever asked takes it back by a message of one word: {intake.TAKE_BACK}."


def can_talk(model: Model) -> bool:
    """Whether a model answers what people say while a call waits; one says `talks = False` where it does not."""
    return bool(getattr(model, "talks", True))


def waiting(tx: Tx, now: int, desk: Desk, begun: Begun) -> str | None:
    """The request that stands for the results which the parked turn does not have yet, as JSON; None for other turns.

    Who decides and until when are the engine's words. It goes into this one request, so no call is unpaired in it.
    """
    if begun.turn.beside is None:
        return None
    parked = transcript.newest_of(tx, begun.case.id, None)
    if parked is None or parked.step_id is None:
        return None
    gate = gates.open_gate(tx, begun.case.id)
    most = desk.settings.limits.result_characters
    told = [
        window.result_of(step, most) if step.result is not None else _waits(tx, now, desk, step, gate)
        for step in steps.of_response(tx, StepId(parked.step_id))
    ]
    return window.dump(ModelRequest(told, metadata=window.whose(begun.turn.id, begun.turn.beside)))


def _waits(tx: Tx, now: int, desk: Desk, step: Step, gate: Gate | None) -> ToolReturnPart:
    if gate is None:
        text = _DECIDED
    elif gate.step_id != step.id:
        text = _BEHIND
    else:
        until = at_text(gate.expires_at, desk.settings.service.zone, now)
        who = gating.who_decides(tx, gate)
        text = f"waiting for a decision by {who}, until {until}; it has not been run. {_NOT_YOURS}"
        if gate.kind is not GateKind.OUTCOME:  # what became of a call is for operators alone to leave open
            text = f"{text} {_TAKEN_BACK}"
    return ToolReturnPart(wire(step.tool or ""), text, step.call_id or "")
