"""What a transaction tells the run to do next, outside of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.tools.declare import Tool
from casestore.models import RunId, StepId
from casestore.states import Outcome
from casestore.turns import Begun

if TYPE_CHECKING:
    from bot.retelling.compaction import Piece
    from bot.turns.desk import Offer
    from bot.turns.window import Window  # which needs the model layer; a command that only ends a case does not


@dataclass(frozen=True, slots=True)
class CallModel:
    """The model call is journalled; make it."""

    begun: Begun
    step_id: StepId
    window: "Window"
    offer: "Offer"


@dataclass(frozen=True, slots=True)
class Compact:
    """The model call that makes older turns shorter is journalled; make it. `asked` is what is sent (R19)."""

    begun: Begun
    step_id: StepId
    asked: str
    piece: "Piece"


@dataclass(frozen=True, slots=True)
class ToRun:
    """One journalled tool call."""

    step_id: StepId
    tool: Tool
    args: dict[str, object]


@dataclass(frozen=True, slots=True)
class RunCalls:
    """The tool calls are journalled; make them, all at once."""

    begun: Begun
    calls: tuple[ToRun, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over, its record written, the lease dropped.

    `more`: the case has work again (R11). `head`: where its trail ends, to be anchored outside the file (R18).
    `handed_over`: why an operator has to see to it; None where none has.
    """

    run_id: RunId
    outcome: Outcome
    more: bool
    head: str
    handed_over: str | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """The lease is gone; what happened is recorded, nothing more is done."""

    run_id: RunId


Instruction = CallModel | Compact | RunCalls | Ended | Lost
