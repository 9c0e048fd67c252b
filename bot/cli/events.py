"""One entry of the trail in words, for the story of a case; None for what a reader can do without."""

from bot.cli.out import short
from bot.gates import gist
from bot.words.standing import via
from bot.words.when import SECOND, span_text
from casestore import steps
from casestore.canonical import decode, encode
from casestore.models import Step, StepId, TrailEntry
from casestore.states import Outcome, StepState
from casestore.trail import content_of
from casestore.tx import Tx
from channels.text import one_line

_LONG = 200
_QUIET_ENDS = (Outcome.ANSWERED, Outcome.PARKED, Outcome.HANDED_OFF)
_ARGUMENT = 60
_OF_THE_CASE = "case."


def words(tx: Tx, entry: TrailEntry) -> str | None:
    """What happened, in one line."""
    meta, content = decode(entry.meta), content_of(entry)
    by = name_of_actor(entry.actor)
    reason = f": {short(str(content['reason']), _LONG)}" if content.get("reason") else ""
    match entry.kind:
        case "case.opened":
            return f"{by} opened the case"
        case "case.in_progress" | "case.task_state" | "alert.fired":  # the message beside it says more
            return None
        case "file.kept" | "file.refused" | "file.gone":  # so does the file's line below its message
            return None
        case "tool.started":
            return _started(tx, meta)
        case "alert.member_resolved":
            return f"{meta.get('resolved')} resolved, {meta.get('firing')} still firing"
        case "alert.group_resolved":
            return "none of the alerts fires any more"
        case "case.retitled":
            return f"{by} changed the title to: {content.get('title', '(erased)')}"
        case "case.assigned":
            return f"{by} {'assigned the case' if meta.get('assignee') else 'assigned the case to nobody'}"
        case "case.verified":
            return f"{by} recorded who the requester was verified to be: {content.get('verified_as', '(erased)')}"
        case "case.resolved" | "case.closed" | "case.cancelled" | "case.reopened":
            return f"{by} {entry.kind.removeprefix('case.')} the case{reason}"
        case "gate.asked":
            return f"asked at gate {meta.get('gate')}: {content.get('statement', '(erased)')}"
        case "gate.approved" | "gate.denied":
            did = _VERBS.get(str(meta.get("verb")), "decided")
            return f"{by} {did} gate {meta.get('gate')} via {via(str(meta.get('via')))}{reason}"
        case "gate.expired":
            return f"nobody decided gate {meta.get('gate')} in time, which counts as a denial"
        case "gate.withdrawn":
            if "via" in meta:
                return f"{by} withdrew gate {meta.get('gate')} via {via(str(meta.get('via')))}{reason}"
            return f"gate {meta.get('gate')} was withdrawn{reason}"
        case "gate.void":
            return f"the approval of gate {meta.get('gate')} was not used{reason}"
        case "gate.extended":
            return f"{by} gave gate {meta.get('gate')} more time"
        case "trail.erased":
            return f"{by} erased the content of what is recorded before this"
        case "tool.finished" | "tool.failed" | "tool.late_result":
            return _ended(tx, meta, entry.kind)
        case "tool.refused":
            return f"{meta.get('tool')} was not run ({str(meta.get('why')).replace('_', ' ')})"
        case "tool.outcome_unknown":
            return f"it is not known whether {meta.get('tool')} was done"
        case "tool.outcome_told":
            return f"{by} said that it {'happened' if meta.get('happened') else 'did not happen'}"
        case "lease.taken_over":
            return f"{by} took the case over"
        case "lease.handed_back":
            return f"{by} handed the case back to the assistant"
        case "window.compacted":
            return f"{by} made older turns shorter: from here on that text stands for them in what the model is shown"
        case "run.ended":
            return _run(meta)
        case "binding.bound":
            return f"bound to {meta.get('address')}"
        case "binding.lost" | "binding.ended":
            return f"no longer bound to {meta.get('address')}: {meta.get('reason')}"
        case "message.quoted":
            return f"{by} opened it on a message of {meta.get('account')}"
        case "program.stopped":
            return f"the bot {meta.get('account')} opens no more cases: it had opened {meta.get('opened')}"
        case "program.heard_again":
            return f"{by} let the bot {meta.get('account')} open cases again"
        case "outbox.dead":
            return f"could not be said at {meta.get('address')}: {meta.get('error')}"
        case kind:
            return f"{kind.replace('.', ' ').replace('_', ' ')} ({by}){reason}"


_VERBS = {
    "approve": "approved", "deny": "denied", "revise": "sent back", "happened": "answered 'it happened' at",
    "not_happened": "answered 'it did not happen' at", "rerun": "answered 'run it again' at",
}  # fmt: skip


def name_of_actor(actor: str) -> str:
    """`principal:kim#2` is kim, `alert:grafana` is grafana; the engine and the assistant are themselves."""
    return one_line(actor.removeprefix("principal:").removeprefix("alert:").partition("#")[0])


def call(step: Step) -> str:
    """A call as it was written: `host.disk_usage(path="/")`."""
    given = decode(step.args or "{}")
    return f"{step.tool}({', '.join(f'{name}={short(encode(value), _ARGUMENT)}' for name, value in given.items())})"


def _step(tx: Tx, meta: dict[str, object]) -> Step:
    return steps.by_id(tx, StepId(int(str(meta["step"]))))


def _started(tx: Tx, meta: dict[str, object]) -> str | None:
    step = _step(tx, meta)
    return f"{call(step)} has started" if step.state is StepState.STARTED else None


def _ended(tx: Tx, meta: dict[str, object], kind: str) -> str | None:
    step = _step(tx, meta)
    if kind == "tool.finished" and (step.tool or "").startswith(_OF_THE_CASE):
        return None  # what it did to the case is an entry of its own
    ms = (step.finished_at or 0) - (step.started_at or 0)
    took = f" ({span_text(ms)})" if ms >= SECOND else ""
    late = "came late and was not used: " if kind == "tool.late_result" else ""
    failed = "failed: " if kind == "tool.failed" else ""
    return f"{call(step)} → {late}{failed}{short(gist.of_step(step), _LONG)}{took}"


def _run(meta: dict[str, object]) -> str | None:
    outcome = Outcome(str(meta.get("outcome")))
    if outcome in _QUIET_ENDS:
        return None
    return f"run {meta.get('run')} ended: {outcome.replace('_', ' ')}, {meta.get('stop_reason')}"
