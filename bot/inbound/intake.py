"""Intake: a message becomes a case, a binding and an unread message in one transaction, then is acknowledged (R29)."""

import re
from dataclasses import dataclass
from datetime import tzinfo
from hashlib import sha256

from bot.errors import Refused
from bot.gates import gating
from bot.inbound import attached, loops
from bot.outbound import speech, threads
from bot.people import binding, takeover
from bot.settings import Settings
from casestore import attachments, bindings, cases, gates, leases, messages, positions, principals
from casestore.cases import Opening
from casestore.messages import Said, text_body
from casestore.models import Case, CaseId, Message, Principal
from casestore.states import Direction, GateState, LeaseKind, Origin, Provenance, Role
from casestore.tx import Tx
from channels.messages import Account, Address, Changed, Inbound
from channels.text import storable

_TITLE = 80
_NO_TITLE = "(what it was about was deleted)"
_NAME = 30
TAKE_BACK = "withdraw"
"""The one word by which whoever asked takes back the call that waits: a message of nothing else (design, section 6)."""
_ODD = re.compile(r"[^\w.+-]+")
"""What stands in no name: blanks, marks that cannot be seen, and `@`, which parts it from where they are."""


@dataclass(frozen=True, slots=True)
class Received:
    """Stored. `duplicate`: it had been before, and nothing else happened."""

    case_id: CaseId
    message: Message
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing at all was stored, by the rules of `[access]` (R20)."""

    why: str


def receive(tx: Tx, now: int, inbound: Inbound, settings: Settings, zone: tzinfo | None) -> Received | Ignored:
    """Store one inbound message. Twenty simultaneous first messages of a thread make one case."""
    address = str(inbound.address)
    if (seen := messages.seen(tx, address, inbound.platform_id)) is not None:
        return Received(seen.case_id, seen, duplicate=True)
    case = bindings.case_at(tx, address)
    # nobody becomes known here by what they say to others
    in_passing = case is None and not inbound.addressed
    if in_passing:
        who = principals.by_account(tx, *inbound.account.identity)
    else:
        who = principal_of(tx, now, inbound.account, settings)
    if who is None:
        return Ignored("an account nobody is bound to")
    case = case or _come_back(tx, now, inbound, who)
    if case is None and not inbound.addressed:
        return Ignored("not addressed to the bot, in a thread without a case")
    if case is not None and case.tenant != who.tenant:
        return Ignored("of another tenant")
    opens = case is None or case.state in cases.ENDED
    if opens and inbound.account.program and (why := loops.may_not_open(tx, now, inbound, who, settings, zone)):
        return Ignored(why)
    case = _case_for(tx, now, inbound, case, who)
    message = store(tx, now, case, who, inbound.text, inbound=inbound)
    attachments.add(tx, message, attached.wanted(inbound, settings.files.limit))
    if settings.cases.mirror:
        speech.mirror(tx, now, message, who.name)
    if inbound.begins_direct:  # what is said there while nobody listens begins a case too, and is looked for (R29)
        positions.begin(tx, str(inbound.address.begun("")), inbound.platform_id)
    if inbound.account.program and loops.runs_round(tx, now, case, message, settings):
        return Received(case.id, message, duplicate=False)
    _after(
        tx, now, case, who, inbound.text, settings, zone, addressed=inbound.addressed or inbound.account.program,
        via=inbound.address.channel,
    )  # fmt: skip
    return Received(case.id, message, duplicate=False)


def change(tx: Tx, now: int, changed: Changed) -> None:
    """Somebody has edited or deleted a message; of one we do not hold there is nothing to change."""
    message = messages.seen(tx, str(changed.address), changed.platform_id)
    if message is None or message.direction is not Direction.IN:
        return
    titled = _gave_the_title(tx, message)
    if changed.text is None:
        messages.delete(tx, now, message)
        attachments.erase(tx, now, message, attached.DELETED)
        if titled:
            cases.retitle(tx, now, message.case_id, _NO_TITLE, actor="channel")
        return
    if changed.text != message.text:
        messages.edit(tx, now, message, messages.reworded(message, changed.text))
    if changed.files_left is not None:
        attachments.erase(tx, now, message, attached.DELETED, but=changed.files_left)
    if titled and (changed.text != message.text or changed.files_left is not None):
        title = title_of(changed.text) if changed.text.strip() else _NO_TITLE
        cases.retitle(tx, now, message.case_id, title, actor="channel")


def _gave_the_title(tx: Tx, message: Message) -> bool:
    """Whether the title of the case is the first line of this message, or the name of its file: it goes with them."""
    title = cases.by_id(tx, message.case_id).title
    if message.text.strip():
        return title == title_of(message.text)
    return message.seq == 1 and title.startswith("(file: ")


def open_by(tx: Tx, now: int, who: Principal, origin: Origin, text: str, *, title: str | None = None) -> Case:
    """Open a case without any thread, on somebody's behalf: from the CLI or the API (R1)."""
    text = storable(text)
    title = None if title is None else storable(title)
    opening = Opening(who.tenant, title or title_of(text), origin, requester=who.id)
    case = cases.open_case(tx, now, opening, actor=principals.actor(who))
    store(tx, now, case, who, text)
    return case


def open_at(
    tx: Tx, now: int, who: Principal, origin: Origin, text: str, at: Address, *, platform_id: str | None
) -> Case:  # fmt: skip
    """Open a case on somebody's behalf where they asked for it: in that thread, or in one that begins in that room.

    `platform_id` names what they asked by, where that was a message.
    """
    case = open_by(tx, now, who, origin, text)
    if at.thread:
        binding.join(tx, now, case, str(at), actor=principals.actor(who), platform_id=platform_id)
    else:
        threads.begin(tx, now, case, at, who, f"{case.label}: {case.title} (opened by {who.name})")
    return case


def say_in(
    tx: Tx, now: int, case: Case, who: Principal, text: str, settings: Settings, zone: tzinfo | None, *, via: str
) -> Message:  # fmt: skip
    """Somebody says something in a case from the CLI or the API, which `via` names.

    From the person who has the case it goes out to its threads; from anybody else it comes in, addressed to the bot.
    """
    lease = leases.of_case(tx, case.id)
    if lease.kind is LeaseKind.HUMAN and lease.principal == who.id:
        return speech.say(tx, now, case.id, text, provenance=Provenance.OPERATOR, author=who.id)
    message = store(tx, now, case, who, storable(text))
    _after(tx, now, case, who, text, settings, zone, addressed=True, via=via)
    return message


def store(tx: Tx, now: int, case: Case, who: Principal, text: str, *, inbound: Inbound | None = None) -> Message:
    """The message itself, with who the speaker is to the case (R23)."""
    said = Said(
        provenance=provenance_of(case, who),
        body=text_body(text, program=inbound is not None and inbound.account.program),
        author=who.id,
        author_account=None if inbound is None else "/".join(inbound.account.identity),
        address=None if inbound is None else str(inbound.address),
        platform_id=None if inbound is None else inbound.platform_id,
    )
    return messages.receive(tx, now, case.id, said)


def provenance_of(case: Case, who: Principal) -> Provenance:
    """Who somebody is to a case: its requester, an operator, or somebody standing by."""
    if who.id == case.requester:
        return Provenance.REQUESTER
    return Provenance.OPERATOR if who.is_operator else Provenance.BYSTANDER


def title_of(text: str) -> str:
    """The first line of a message, shortened."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "(no text)")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"


def principal_of(tx: Tx, now: int, account: Account, settings: Settings) -> Principal | None:
    """Who writes from an account; somebody unknown is let in where the settings say so, else None (R20)."""
    found = principals.by_account(tx, *account.identity)
    if found is not None or not lets_in(tx, account, settings):
        return found
    channel, space, account_id = account.identity
    added = principals.add(tx, now, tenant=settings.service.tenant, name=name_of(account), role=Role.REQUESTER)
    principals.bind(tx, now, added.id, channel=channel, space=space, account_id=account_id, bound_by=None)
    return added


def lets_in(tx: Tx, account: Account, settings: Settings) -> bool:
    """Whether somebody unknown becomes a requester by writing; a program never does, whoever was revoked stays out.

    Raises `Refused` where that hangs on what could not be found out: what they wrote is to come again.
    """
    access = settings.access
    if account.program or access.unknown == "ignore" or (account.guest and access.guests == "ignore"):
        return False
    if account.guest is None and access.guests == "ignore":
        raise Refused("It cannot be found out just now who you are here. Please try again in a minute.")
    return not principals.ever_bound(tx, *account.identity)


def name_of(account: Account) -> str:
    """What somebody is called of whom only an account is known: one word, and no other account's (R20).

    It begins with what they call themselves, for people to read, and ends with what nobody else's ends with.
    """
    shown = _ODD.sub("_", account.display_name).strip("_")
    named = f"{shown[:_NAME]}@{account.channel}" if shown else _ODD.sub("_", "-".join(filter(None, account.identity)))
    return f"{named[: 2 * _NAME]}-{sha256(repr(account.identity).encode()).hexdigest()[:8]}"


def coming_back(tx: Tx, inbound: Inbound, who: Principal) -> Case | None:
    """The case whose thread was lost, and is back with this message: somebody can write there (R3).

    Whoever only stands by brings it back by speaking to the bot, not in passing. Its requester takes it along to where
    they speak to the bot next: alone with it, or in the room in which the thread was, so that nobody reads of it who
    could not before. With several such cases nobody can tell which one is meant.
    """
    case = bindings.lost_at(tx, str(inbound.address))
    if case is None and inbound.addressed:
        room = None if inbound.alone else str(inbound.address.begun(""))
        astray = bindings.astray(tx, who, inbound.address.channel, room)
        case = astray[0] if len(astray) == 1 else None
    if case is None or case.tenant != who.tenant or case.state in cases.ENDED:
        return None
    in_passing = provenance_of(case, who) is Provenance.BYSTANDER and not inbound.addressed
    return None if in_passing else case


def _come_back(tx: Tx, now: int, inbound: Inbound, who: Principal) -> Case | None:
    case = coming_back(tx, inbound, who)
    if case is not None:
        bindings.bind(tx, now, case, str(inbound.address), actor=principals.actor(who))
        positions.begin(tx, str(inbound.address), inbound.platform_id)
    return case


def _case_for(tx: Tx, now: int, inbound: Inbound, bound: Case | None, who: Principal) -> Case:
    if bound is not None and bound.state not in cases.ENDED:
        return bound
    actor = principals.actor(who)
    opening = Opening(
        who.tenant, title_of(inbound.said), Origin(inbound.address.channel), requester=who.id,
        follows=None if bound is None else bound.id,
    )  # fmt: skip
    case = cases.open_case(tx, now, opening, actor=actor)
    if bound is None:
        bindings.bind(tx, now, case, str(inbound.address), actor=actor)
        # what people had said to each other there before is none of ours, and is not read later either (R29)
        positions.begin(tx, str(inbound.address), inbound.platform_id)
    else:
        bindings.take_over(tx, now, str(inbound.address), case, actor=actor)
    return case


def _after(
    tx: Tx, now: int, case: Case, who: Principal, text: str, settings: Settings, zone: tzinfo | None, *,
    addressed: bool, via: str,
) -> None:  # fmt: skip
    speaks_as = provenance_of(case, who)
    if speaks_as is Provenance.OPERATOR and not addressed and settings.access.operator_writes == "takes_over":
        if leases.of_case(tx, case.id).kind is not LeaseKind.HUMAN:
            takeover.take(tx, now, case, who)
        return
    gate = gates.open_gate(tx, case.id)
    if gate is None:
        return
    if speaks_as is not Provenance.BYSTANDER and text.strip().rstrip(".!").lower() == TAKE_BACK:
        reply = gating.withdraw(tx, now, who, gate.id, "", via=via, zone=zone)
        if reply.gate.state is not GateState.OPEN:
            speech.say(tx, now, case.id, reply.text)
            return
    if settings.model.talks:  # then the person hears its answer, or from the engine why there is none
        return
    told = f"Your message is stored in {case.label}. {gating.waiting_text(tx, now, gate, zone)}"
    newest = messages.newest_of_engine(tx, case.id)
    if newest is None or newest.text != told:  # said once, not after every message
        speech.say(tx, now, case.id, told)
