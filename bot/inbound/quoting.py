"""A case on somebody's message, for whoever asks for one by a shortcut or a menu on it: quoted, not spoken to us."""

from dataclasses import dataclass

from bot.commands.obey import STRANGER
from bot.errors import Refused
from bot.inbound import attached, intake
from bot.settings import Settings
from casestore import attachments, bindings, cases, messages, positions, principals, trail
from casestore.cases import Opening
from casestore.messages import Said, quoted_body
from casestore.models import Case, CaseId, Principal
from casestore.states import Origin, Provenance
from casestore.tx import Tx
from channels.messages import Inbound, Quoting


@dataclass(frozen=True, slots=True)
class Quoted:
    """What is said to whoever asked, for them alone; `opened` is the case that was opened, if one was."""

    text: str
    opened: CaseId | None = None


def quote(tx: Tx, now: int, quoting: Quoting, settings: Settings) -> Quoted:
    """Open a case in the thread of the message, with the message in it as what its author said (R20, R23).

    Whoever asks is its requester; or the author, where the settings say so and let them in. Words that were not said
    to us give nobody's permission to anything. Where there is a case already, it is named, and nothing is opened.
    Raises `Refused` where it cannot be found out who asks.
    """
    by, said = intake.principal_of(tx, now, quoting.by, settings), quoting.said
    if by is None:
        return Quoted(STRANGER)
    held, bound = messages.seen(tx, str(said.address), said.platform_id), bindings.case_at(tx, str(said.address))
    if held is not None:
        return Quoted(f"That message is in {_named(cases.by_id(tx, held.case_id), by)} already.")
    if bound is not None and (bound.state not in cases.ENDED or bound.tenant != by.tenant):
        return Quoted(f"That thread is {_named(bound, by)}'s already. Write into it.")
    author = _author(tx, now, quoting, by, settings)
    requester = author if author is not None and settings.access.quoted == "requester" else by
    case = _opened(tx, now, said, bound, by, requester)
    theirs = Said(
        provenance=Provenance.REQUESTER if author is not None and author.id == requester.id else Provenance.BYSTANDER,
        body=quoted_body(said.text, by.name, program=said.account.program),
        author=None if author is None else author.id, author_account="/".join(said.account.identity),
        address=str(said.address), platform_id=said.platform_id,
    )  # fmt: skip
    message = messages.receive(tx, now, case.id, theirs)
    attachments.add(tx, message, attached.wanted(said, settings.files.limit))
    meta = {"message": message.seq, "account": theirs.author_account, "author": theirs.author}
    trail.append(tx, case.id, now, "message.quoted", principals.actor(by), meta)
    begins = " Its thread begins there in a moment." if said.address.begins else ""
    return Quoted(f"{case.label} is open on that message.{begins}", case.id)


def _opened(tx: Tx, now: int, said: Inbound, ended: Case | None, by: Principal, requester: Principal) -> Case:
    """The case; one that has ended in this thread is followed by it (R2)."""
    actor, address = principals.actor(by), str(said.address)
    opening = Opening(
        by.tenant, intake.title_of(said.said), Origin(said.address.channel), requester=requester.id,
        follows=None if ended is None else ended.id,
    )  # fmt: skip
    case = cases.open_case(tx, now, opening, actor=actor)
    if ended is None:
        bindings.bind(tx, now, case, address, actor=actor)
        positions.begin(tx, address, said.platform_id)
    else:
        bindings.take_over(tx, now, address, case, actor=actor)
    return case


def _author(tx: Tx, now: int, quoting: Quoting, by: Principal, settings: Settings) -> Principal | None:
    """Who wrote it, if they are anybody to us; nobody is let in by it who may not be a requester."""
    account = quoting.said.account
    if not quoting.listened_to:
        return None
    if settings.access.quoted == "requester":
        try:
            author = intake.principal_of(tx, now, account, settings)
        except Refused:  # whether it is a guest could not be found out: then nobody is let in
            author = None
    else:
        author = principals.by_account(tx, *account.identity)
    return author if author is not None and author.tenant == by.tenant else None


def _named(case: Case, by: Principal) -> str:
    return case.label if case.tenant == by.tenant else "another case"
