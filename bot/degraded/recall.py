"""Recalling: what can still be read of a thread while the store cannot be written, and who may speak in it (R15)."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_ai.messages import ModelRequest, UserPromptPart

from bot.degraded.spool import Answered, Arrived, Exchange
from bot.inbound import intake
from bot.settings import Settings
from bot.turns import window
from casestore import bindings, leases, messages, principals, turns
from casestore.models import Case, CaseId
from casestore.states import CaseState, LeaseKind, Provenance
from casestore.transcript import Line
from casestore.tx import Tx
from channels.messages import Inbound


@dataclass(frozen=True, slots=True)
class Admitted:
    """A message that would be stored if anything could be. `spoken_to`: an answer is expected from the assistant."""

    case_id: CaseId | None
    spoken_to: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """A thread the assistant may answer in: what was sent to the model before, and what it has not been shown."""

    case_id: CaseId | None
    rows: tuple[Line, ...]
    unread: tuple[UserPromptPart, ...]
    seen: int
    """The number of the last message of its case."""


def admitted(tx: Tx, inbound: Inbound, settings: Settings) -> Admitted | None:
    """Whether intake would take a message, by the same rules (R20, R21); None where it would not, or has."""
    address = str(inbound.address)
    if messages.seen(tx, address, inbound.platform_id) is not None:
        return None
    who = principals.by_account(tx, *inbound.account.identity)
    if who is None and not intake.lets_in(tx, inbound.account, settings):
        return None
    case = bindings.case_at(tx, address)
    if case is None and who is not None and (back := intake.coming_back(tx, inbound, who)) is not None:
        return Admitted(back.id, spoken_to=False)  # until it is bound again nothing can be said there
    if case is None and not inbound.addressed:
        return None
    if inbound.account.program:  # nothing counts here how often it was answered: intake does, later
        return Admitted(None if case is None else case.id, spoken_to=False)
    if case is None:
        return Admitted(None, spoken_to=True)
    if who is not None and who.tenant != case.tenant:
        return None
    beside = who is not None and intake.provenance_of(case, who) is Provenance.OPERATOR and not inbound.addressed
    return Admitted(case.id, spoken_to=not (beside and settings.access.operator_writes == "takes_over"))


def recalled(tx: Tx, address: str, case_id: CaseId | None, settings: Settings) -> Recalled | None:
    """What to answer from; None where somebody has the case or a turn of it stands in the middle (R7, R12)."""
    case = bindings.case_at(tx, address)
    if case is None or case.state in (CaseState.CLOSED, CaseState.CANCELLED):
        return Recalled(None, (), (), 0)
    if leases.of_case(tx, case.id).kind is LeaseKind.HUMAN or turns.under_way(tx, case.id):
        return None
    last = turns.newest(tx, case.id)
    most = settings.limits.window_turns
    rows = () if last is None else window.look(tx, case.id, last, turns=most, prompt_version="").lines
    unread = [*messages.not_in_view(tx, case.id), *messages.unread(tx, case.id)]
    spoken = tuple(window.spoken(tx, message) for message in unread)
    return Recalled(case.id, rows, spoken, messages.newest_seq(tx, case.id))


def where_to_answer(tx: Tx, case_id: CaseId) -> str | None:
    """The thread of the last message that no answer was given to; None where nobody waits in one."""
    waiting = [*messages.not_in_view(tx, case_id), *messages.unread(tx, case_id)]
    if not waiting and (turn := turns.unsettled(tx, case_id)) is not None:
        waiting = messages.of_turn(tx, turn.id)
    return waiting[-1].address if waiting else None


def said(tx: Tx, entries: Sequence[Exchange]) -> list[UserPromptPart | str]:
    """The exchanges of a thread that are not stored yet: what people said, as the model sees it, and our answers."""
    found: list[UserPromptPart | str] = []
    for entry in entries:
        match entry:
            case Answered():
                found.append(entry.message)
            case Arrived(inbound=inbound):
                who = principals.by_account(tx, *inbound.account.identity)
                case = bindings.case_at(tx, str(inbound.address))
                found.append(_words(inbound, who.name if who else "somebody", _role(tx, case, inbound)))
    return found


def said_by_somebody(entries: Sequence[Exchange]) -> list[UserPromptPart | str]:
    """The same where nothing can be read: nobody knows who speaks, so nobody is more than a requester (R23)."""
    return [
        entry.message if isinstance(entry, Answered) else _words(entry.inbound, "somebody", Provenance.REQUESTER)
        for entry in entries
    ]


def request(parts: Sequence[UserPromptPart]) -> ModelRequest:
    """What people said, as one request."""
    return ModelRequest(list(parts), metadata={"turn": None})


def _role(tx: Tx, case: Case | None, inbound: Inbound) -> Provenance:
    who = principals.by_account(tx, *inbound.account.identity)
    if case is None:
        return Provenance.REQUESTER
    return Provenance.BYSTANDER if who is None else intake.provenance_of(case, who)


def _words(inbound: Inbound, name: str, role: Provenance) -> UserPromptPart:
    return window.spoken_by(f"{name} ({role})", inbound.text, inbound.at, files=inbound.file_lines)
