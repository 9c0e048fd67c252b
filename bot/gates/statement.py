"""The engine's words about a gate: what exactly would happen, and what became of the question. Never the model's."""

from bot.tools.declare import BadArguments, Tool
from bot.tools.results import CallResult, ResultKind
from casestore import principals
from casestore.canonical import decode
from casestore.models import Gate, Step
from casestore.states import GateState, Verb
from casestore.tx import Tx
from channels.text import one_line, visible


def of_call(tool: Tool, args: dict[str, object], *, consent: bool = False) -> str:
    """One call in plain words, from the tool's own template; invisible characters are shown."""
    words = shown(tool.restate(args))
    return f"Let the assistant look: {words}" if consent else words


def of_unknown(step: Step, tool: Tool | None) -> str:
    """The question of an outcome gate; a tool whose words do not fit the old arguments any more is named with them."""
    args = decode(step.args or "{}")
    try:
        what = f"{step.tool} {step.args}" if tool is None else tool.restate(args)
    except BadArguments:
        what = f"{step.tool} {step.args}"
    return f"Did this happen? {shown(what)}"


def shown(text: str) -> str:
    """Text on one line, with everything invisible made visible."""
    return one_line(visible(text))


def decider(tx: Tx, gate: Gate) -> str:
    """Who ended a gate, for the trail."""
    return "engine" if gate.decided_by is None else principals.actor(principals.get(tx, gate.decided_by))


def name_of_decider(tx: Tx, gate: Gate) -> str:
    """Who ended a gate, for people."""
    return "nobody" if gate.decided_by is None else principals.get(tx, gate.decided_by).name


def denial(tx: Tx, gate: Gate) -> CallResult:
    """The result of a call whose gate was not approved (R6, R7)."""
    reason = f": {gate.reason}" if gate.reason else ""
    match gate.state:
        case GateState.EXPIRED:
            return CallResult(ResultKind.EXPIRED, "expired, not run: nobody decided in time, which counts as a denial")
        case GateState.WITHDRAWN:
            by = "" if gate.decided_by is None else f" by {name_of_decider(tx, gate)}"
            return CallResult(ResultKind.WITHDRAWN, f"withdrawn{by}, not run{reason}")
        case _ if gate.verb is Verb.REVISE:
            who = name_of_decider(tx, gate)
            return CallResult(ResultKind.DENIED, f"denied by {who}, who asks for something else{reason}")
        case _:
            return CallResult(ResultKind.DENIED, f"denied by {name_of_decider(tx, gate)}{reason}")


def outcome_told(tx: Tx, gate: Gate) -> CallResult:
    """The result of a call of which a person said what became of it (R14)."""
    who = name_of_decider(tx, gate)
    reason = f" ({gate.reason})" if gate.reason else ""
    if gate.verb is Verb.HAPPENED:
        return CallResult(ResultKind.OK, f"{who} says that it happened{reason}", told=True)
    return CallResult(ResultKind.FAILED, f"{who} says that it did not happen{reason}", told=True)
