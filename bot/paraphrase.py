"""The paraphrase: prose about a case, made from its trail. Where the two disagree, the trail is the authority."""

from casestore import cases, trail
from casestore.canonical import decode
from casestore.models import CaseId, TrailEntry
from casestore.trail import content_of
from casestore.tx import Tx

_NEWEST = 40
_UNTOLD = frozenset({"run.ended", "tool.started", "tool.finished"})
"""Most of a trail, and nothing to say about one by one."""


def of_case(tx: Tx, case_id: CaseId) -> str:
    """A few sentences; made from a bounded piece of the trail, so its cost does not grow with the case (R19)."""
    case = cases.by_id(tx, case_id)
    entries = trail.newest(tx, case_id, _NEWEST)
    sentences = [f"{case.label} was opened from {case.origin}: {case.title}."]
    if entries and entries[0].seq > 2:
        sentences.append(f"({entries[0].seq - 1} earlier entries are in the trail.)")
    looked = [str(_meta(entry)["tool"]) for entry in entries if entry.kind == "tool.finished"]
    if looked:
        sentences.append(f"Calls that ran: {', '.join(_counted(looked))}.")
    sentences += [sentence for entry in entries if (sentence := _sentence(entry))]
    return " ".join(sentences)


def _sentence(entry: TrailEntry) -> str | None:
    if entry.kind in _UNTOLD:
        return None
    meta, content = _meta(entry), content_of(entry)
    reason = f" ({content['reason']})" if content.get("reason") else ""
    match entry.kind:
        case "gate.asked":
            return f"A person was asked: {content.get('statement', 'erased')}."
        case "gate.approved" | "gate.denied":
            return f"{_who(entry)} {'approved' if entry.kind == 'gate.approved' else 'denied'} it{reason}."
        case "gate.expired":
            return "Nobody decided in time, which counts as a denial."
        case "gate.withdrawn":
            return f"The question was withdrawn{reason}."
        case "gate.void":
            return f"The approval was not used{reason}."
        case "tool.outcome_unknown":
            return f"It is not known whether {meta.get('tool')} was done."
        case "lease.taken_over":
            return f"{_who(entry)} took the case over."
        case "lease.handed_back":
            return "The case was handed back to the assistant."
        case "case.resolved" | "case.closed" | "case.cancelled" | "case.reopened":
            return f"The case was {entry.kind.removeprefix('case.')}{reason}."
        case _:
            return None


def _who(entry: TrailEntry) -> str:
    return entry.actor.removeprefix("principal:").partition("#")[0]


def _meta(entry: TrailEntry) -> dict[str, object]:
    return decode(entry.meta)


def _counted(names: list[str]) -> list[str]:
    counts = {name: names.count(name) for name in names}
    return [name if count == 1 else f"{name} (x{count})" for name, count in counts.items()]
