"""The paraphrase: prose about a case. Where it and the trail disagree, the trail is the authority.

It is what the model wrote last, followed by what has been recorded since; before it has written anything, and where
there is no model that writes, it is made from the trail alone.
"""

from casestore import cases, paraphrases, trail
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
    written = paraphrases.newest(tx, case_id)
    if written is None:
        case = cases.by_id(tx, case_id)
        return " ".join([f"{case.label} was opened from {case.origin}: {case.title}.", *recorded(tx, case_id)])
    since = recorded(tx, case_id, after=written.recorded)
    return " ".join([written.text, *(["Since then:"] if since else []), *since])


def recorded(tx: Tx, case_id: CaseId, *, after: int = 0, upto: int | None = None) -> list[str]:
    """Sentences on what stands in the trail after `after` and up to `upto`; of a long piece on the newest part."""
    entries = trail.newest(tx, case_id, _NEWEST, after=after, upto=upto)
    sentences: list[str] = []
    if entries and entries[0].seq > after + 2:
        sentences.append(f"({entries[0].seq - 1 - after} earlier entries are in the trail.)")
    looked = [_tool(entry) for entry in entries if entry.kind == "tool.finished"]
    if looked:
        sentences.append(f"Calls that ran: {', '.join(_counted(looked))}.")
    return sentences + [sentence for entry in entries if (sentence := _sentence(entry))]


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
