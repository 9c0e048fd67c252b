"""The paraphrase: prose about a case, made from its trail. Where the two disagree, the trail is the authority."""

from casestore import cases, trail
from casestore.canonical import decode
from casestore.models import CaseId
from casestore.states import Verb
from casestore.trail import Glimpse
from casestore.tx import Tx

_NEWEST = 40
_SAID = {
    Verb.APPROVE: "approved it",
    Verb.DENY: "denied it",
    Verb.REVISE: "sent it back for revision",
    Verb.HAPPENED: "said that it happened",
    Verb.NOT_HAPPENED: "said that it did not happen",
    Verb.RERUN: "let it be run again",
}


def of_case(tx: Tx, case_id: CaseId) -> str:
    """A few sentences; made from a bounded piece of the trail, so its cost does not grow with the case (R19)."""
    case = cases.by_id(tx, case_id)
    entries = trail.newest(tx, case_id, _NEWEST)
    sentences = [f"{case.label} was opened from {case.origin}: {case.title}."]
    if entries and entries[0].seq > 2:
        sentences.append(f"({entries[0].seq - 1} earlier entries are in the trail.)")
    looked = [_tool(entry) for entry in entries if entry.kind == "tool.finished"]
    if looked:
        sentences.append(f"Calls that ran: {', '.join(_counted(looked))}.")
    sentences += [sentence for entry in entries if (sentence := _sentence(entry))]
    return " ".join(sentences)


def _sentence(entry: Glimpse) -> str | None:
    match entry.kind:
        case "gate.asked":
            return f"A person was asked: {_content(entry).get('statement', 'erased')}."
        case "gate.approved" | "gate.denied":
            return f"{_who(entry)} {_SAID[Verb(str(decode(entry.meta)['verb']))]}{_reason(entry)}."
        case "gate.expired":
            return "Nobody decided in time, which counts as a denial."
        case "gate.withdrawn":
            by = f" by {_who(entry)}" if "principal" in decode(entry.meta) else ""
            return f"The question was withdrawn{by}{_reason(entry)}."
        case "gate.void":
            return f"The approval was not used{_reason(entry)}."
        case "tool.outcome_unknown":
            return f"It is not known whether {_tool(entry)} was done."
        case "lease.taken_over":
            return f"{_who(entry)} took the case over."
        case "lease.handed_back":
            return "The case was handed back to the assistant."
        case "case.resolved" | "case.closed" | "case.cancelled" | "case.reopened":
            return f"The case was {entry.kind.removeprefix('case.')}{_reason(entry)}."
        case _:
            return None


def _who(entry: Glimpse) -> str:
    return entry.actor.removeprefix("principal:").partition("#")[0]


def _tool(entry: Glimpse) -> str:
    return str(decode(entry.meta)["tool"])


def _reason(entry: Glimpse) -> str:
    reason = _content(entry).get("reason")
    return f" ({reason})" if reason else ""


def _content(entry: Glimpse) -> dict[str, object]:
    """Empty once erased."""
    return {} if entry.content is None else decode(entry.content)


def _counted(names: list[str]) -> list[str]:
    counts = {name: names.count(name) for name in names}
    return [name if count == 1 else f"{name} (x{count})" for name, count in counts.items()]
