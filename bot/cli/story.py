"""`casebound case show`: one case as it is read at night. Head, story in order, and what it waits for now."""

from collections.abc import Callable, Iterator
from datetime import timedelta, tzinfo

from bot.cli import events, who
from bot.cli.out import block, short, width
from bot.gates import gating
from bot.inbound import attached
from bot.words.standing import stands
from bot.words.when import DAYS, EPOCH, MONTHS, at_text, span_text
from casestore import attachments, bindings, cases, episodes, gates, leases, messages, trail, turns
from casestore.models import Case, CaseId, Gate, Message, TrailEntry
from casestore.scope import Scope
from casestore.states import EpisodeState, GateKind, LeaseKind, Provenance, WaitingOn
from casestore.tx import Tx
from channels.text import one_line

Typed = Callable[[str], str]

_PAGE = 500
_NEWEST = 60
_INDENT = " " * 10
_LABEL = 11


def of_case(
    tx: Tx, now: int, as_: str, number: int, zone: tzinfo | None, typed: Typed, *, every: bool = False
) -> list[str]:  # fmt: skip
    """All of it, in lines; of a long story the newest part unless `every`."""
    scope = gating.scope_of(who.acting(tx, as_))
    case = cases.get(tx, scope, number)
    return [
        *_head(tx, now, case, zone),
        *_alerts(tx, now, case, zone),
        "",
        *_story(tx, scope, case, zone, typed, every=every),
        *_waiting(tx, now, case, zone, typed),
    ]


def messages_of(tx: Tx, scope: Scope, case_id: CaseId) -> list[Message]:
    """The whole conversation, oldest first."""
    found: list[Message] = []
    while page := messages.of_case(tx, scope, case_id, after=found[-1].seq if found else 0, most=_PAGE):
        found += page
    return found


def trail_of(tx: Tx, scope: Scope, case_id: CaseId) -> list[TrailEntry]:
    """The whole trail, oldest first."""
    found: list[TrailEntry] = []
    while page := trail.read(tx, scope, case_id, after=found[-1].seq if found else 0, most=_PAGE):
        found += page
    return found


def _head(tx: Tx, now: int, case: Case, zone: tzinfo | None) -> Iterator[str]:
    yield from block(one_line(case.title), first=f"{case.label}  ", indent=" " * (len(case.label) + 2))
    follows = "" if case.follows is None else f", follows {cases.by_id(tx, case.follows).label}"
    works = leases.has_work(tx, case.id) or turns.unsettled_beside(tx, case.id) is not None
    at_work = ", the assistant is at work" if works else ""
    yield _row("Stands", f"{stands(case)}{at_work}; priority {case.priority}")
    opened = f"{at_text(case.opened_at, zone, now)} ({span_text(now - case.opened_at)} ago) from {case.origin}{follows}"
    yield _row("Opened", opened)
    verified = f", verified as {case.verified_as} by {case.verified_how}" if case.verified_as else ""
    yield _row("For", f"{'no person' if case.requester is None else who.name_of(tx, case.requester)}{verified}")
    if case.assignee is not None:
        yield _row("Assigned", who.name_of(tx, case.assignee))
    threads = [binding.address for binding in bindings.of_case(tx, case.id)]
    if threads:
        yield _row("Threads", ", ".join(threads))
    if case.paraphrase:
        yield from block(case.paraphrase, first="In short".ljust(_LABEL), indent=" " * _LABEL)


def _alerts(tx: Tx, now: int, case: Case, zone: tzinfo | None) -> Iterator[str]:
    for number, episode in enumerate(episodes.of_case(tx, case.id)):
        labels = dict(episode.labels)
        name = labels.pop("alertname", "alert")
        about = ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
        if episode.state is EpisodeState.FIRING:
            state = f"fires since {at_text(episode.starts_at, zone, now)}"
        else:
            state = f"resolved {at_text(episode.ends_at or episode.last_seen_at, zone, now)}"
        yield from block(
            one_line(f"{name}, {state} ({about})"), first=("Alerts" if number == 0 else "").ljust(_LABEL),
            indent=" " * _LABEL,
        )  # fmt: skip


def _story(
    tx: Tx, scope: Scope, case: Case, zone: tzinfo | None, typed: Typed, *, every: bool
) -> Iterator[str]:  # fmt: skip
    told = [(message.at, 1, message.seq, message) for message in messages_of(tx, scope, case.id)]
    told += [(entry.at, 0, entry.seq, entry) for entry in trail_of(tx, scope, case.id)]
    items = [(at, what) for at, _, _, what in sorted(told, key=lambda item: item[:3])]
    lines = [(at, lines) for at, what in items if (lines := _told(tx, what))]
    left_out = 0 if every else max(len(lines) - _NEWEST, 0)
    if left_out:
        yield f"({left_out} earlier entries: {typed(f'case show {case.label} --all')})"
    day = ""
    for at, (first, *rest) in lines[left_out:]:
        moment = (EPOCH + timedelta(milliseconds=at)).astimezone(zone)
        today = f"{DAYS[moment.weekday()]} {moment.day} {MONTHS[moment.month - 1]} {moment.year} {moment.tzname()}"
        if today != day:
            yield today
            day = today
        yield f"{moment:%H:%M:%S}  {first}"
        yield from rest


def _told(tx: Tx, what: Message | TrailEntry) -> list[str]:
    if isinstance(what, TrailEntry):
        words = events.words(tx, what)
        return [] if words is None else _hanging(words)
    files = map(attached.line, attachments.of_message(tx, what.id))
    said = "\n".join(filter(None, (what.text if what.deleted_at is None else "(deleted)", *files)))
    return [_speaker(tx, what), *block(said, first=_INDENT, indent=_INDENT)]


def _hanging(words: str) -> list[str]:
    """An event: its first line stands behind the time, which is not part of it."""
    first, *rest = block(words, indent=_INDENT + "  ", first="- ", wide=width() - len(_INDENT))
    return [first, *rest]


def _speaker(tx: Tx, message: Message) -> str:
    match message.provenance:
        case Provenance.ASSISTANT:
            return "assistant"
        case Provenance.SYSTEM:
            return "casebound"
        case Provenance.ALERT:
            return "alert"
        case provenance:
            return f"{who.name_of(tx, message.author)} ({provenance})"


def _waiting(tx: Tx, now: int, case: Case, zone: tzinfo | None, typed: Typed) -> Iterator[str]:
    gate = gates.open_gate(tx, case.id)
    lease = leases.of_case(tx, case.id)
    if gate is not None:
        yield ""
        yield from open_gate(tx, now, gate, zone, typed)
    elif lease.kind is LeaseKind.HUMAN:
        yield ""
        yield f"{lease.holder} has the case. To hand it back: {typed(f'case release {case.label}')}"
    elif case.waiting_on is WaitingOn.OPERATOR:
        yield ""
        yield f"It waits for an operator. To take it over: {typed(f'case take {case.label}')}"
    elif case.waiting_on is WaitingOn.REQUESTER:
        name = who.name_of(tx, case.requester)
        yield ""
        yield f"It waits for {name}. To answer: {typed(f'case say {case.label} TEXT --as {name}')}"


def open_gate(tx: Tx, now: int, gate: Gate, zone: tzinfo | None, typed: Typed) -> Iterator[str]:
    """What is asked, until when, and what may be typed to answer."""
    left = f"in {span_text(gate.expires_at - now)}" if gate.expires_at > now else "that has passed"
    yield from block(f"Gate {gate.id} waits for a decision: {gate.statement}", indent=" " * 4)
    yield f"    until {at_text(gate.expires_at, zone, now)} ({left}), by {gating.who_decides(tx, gate)}"
    for what, verb in answers(gate):
        yield f"    {what:<14}{typed(f'gate {verb}')}"


def answers(gate: Gate) -> list[tuple[str, str]]:
    """Each thing an open gate may be answered, and what to type for it."""
    number = gate.id
    look = ("read the card", f"show {number}")
    match gate.kind:
        case GateKind.APPROVAL:
            return [look, ("approve", f"approve {number}"), ("deny", f'deny {number} --reason "…"')]
        case GateKind.CONSENT:
            return [look, ("agree", f"approve {number} --as NAME"), ("deny", f"deny {number} --as NAME")]
        case GateKind.OUTCOME:
            return [
                look, ("it happened", f"happened {number}"), ("it did not", f"not-happened {number}"),
                ("run it again", f"rerun {number}"),
            ]  # fmt: skip


def _row(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{short(text, 1000)}"
