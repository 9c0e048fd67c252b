"""`/case …`: opening, finding and moving cases."""

from bot.commands.answer import Answer, Asked, Verb, Verbs, usage
from bot.errors import Refused
from bot.gates import gating
from bot.inbound import intake, loops
from bot.people import binding, closing, linking, takeover
from bot.words.standing import stands
from casestore import bindings, cases, gates, principals
from casestore.models import Case
from casestore.states import CaseState, Origin
from casestore.tx import Tx
from channels.text import one_line

_MOST = 20
_LIVE = (CaseState.NEW, CaseState.IN_PROGRESS, CaseState.RESOLVED)


def answer(tx: Tx, now: int, asked: Asked) -> Answer:
    """Do what is asked. Raises what the stores' moves raise, each with a sentence for the person."""
    verb = VERBS.get(asked.line.verb)
    return Answer(usage("case", VERBS)) if verb is None else verb.does(tx, now, asked)


def _open(tx: Tx, now: int, asked: Asked) -> Answer:
    """In the thread where it is typed, if that is a thread without a case; in a room, in a thread that begins there."""
    if not asked.line.rest:
        raise Refused("What is it about? Write: /case open TEXT")
    at = asked.line.at
    taken = bindings.case_at(tx, str(at)) if at.thread else None
    if taken is not None:
        where = "another case" if taken.tenant != asked.who.tenant else taken.label
        raise Refused(f"This thread is {where}'s. Write into it, or open a case in the room.")
    case = intake.open_at(tx, now, asked.who, Origin(at.channel), asked.line.rest, at, platform_id=asked.platform_id)
    begins = "" if at.thread else "\nIts thread begins in this room in a moment."
    return Answer(f"{case.label} is open: {one_line(case.title)}{begins}", case.id)


def _list(tx: Tx, now: int, asked: Asked) -> Answer:
    return Answer(_listed(cases.listing(tx, gating.scope_of(asked.who), states=_LIVE, most=_MOST + 1)))


def _mine(tx: Tx, now: int, asked: Asked) -> Answer:
    """Those that somebody asked for, and those that they are responsible for."""
    found = cases.listing(tx, gating.scope_of(asked.who), states=_LIVE, most=1_000)
    return Answer(_listed([case for case in found if asked.who.id in (case.requester, case.assignee)]))


def _show(tx: Tx, now: int, asked: Asked) -> Answer:
    case = _case(tx, asked)
    names = {
        name: principals.get(tx, who).name
        for name, who in (("asked by", case.requester), ("assigned to", case.assignee)) if who is not None
    }  # fmt: skip
    lines = [f"{case.label}  {stands(case)}  {one_line(case.title)}"]
    lines.append(
        "  ".join([f"{case.origin} · {case.priority}", *(f"{what} {one_line(name)}" for what, name in names.items())])
    )
    if case.paraphrase:
        lines.append(case.paraphrase)
    if (gate := gates.open_gate(tx, case.id)) is not None:
        lines.append(f"Gate {gate.id}. {gating.waiting_text(tx, now, gate, asked.zone)}")
    return Answer("\n".join(lines))


def _take(tx: Tx, now: int, asked: Asked) -> Answer:
    case = takeover.take(tx, now, _case(tx, asked), asked.who)
    return Answer(f"{case.label} is yours. Hand it back: /case release {case.label}", case.id)


def _release(tx: Tx, now: int, asked: Asked) -> Answer:
    case = takeover.release(tx, now, _case(tx, asked), asked.who)
    return Answer(f"{case.label} is the assistant's again.", case.id)


def _resolve(tx: Tx, now: int, asked: Asked) -> Answer:
    why = asked.line.numbered()[1]
    case = closing.resolve(tx, now, _case(tx, asked), by=principals.actor(asked.who), why=why)
    return Answer(f"{case.label} is resolved: {one_line(why or case.title)}", case.id)


def _withdraw(tx: Tx, now: int, asked: Asked) -> Answer:
    case, why = _case(tx, asked), asked.line.numbered()[1]
    gate = gates.open_gate(tx, case.id)
    if gate is None:
        raise Refused(f"Nothing waits for a decision in {case.label}, so there is nothing to withdraw.")
    reply = gating.withdraw(tx, now, asked.who, gate.id, why, via=asked.line.at.channel, zone=asked.zone)
    return Answer(reply.text, case.id)


def _bind(tx: Tx, now: int, asked: Asked) -> Answer:
    at = asked.line.at
    if not at.thread:
        how = "in Slack as a message that mentions me, elsewhere as it is"
        raise Refused(f"A case is bound to a thread, and this is none: write this in the thread ({how}).")
    if asked.line.numbered()[0] is None:
        raise Refused("Which case? Write: /case bind C-1042")
    case = binding.bind(tx, now, _case(tx, asked), str(at), asked.who, platform_id=asked.platform_id)
    return Answer(f"{case.label} is bound to this thread too.", case.id)


def _unbind(tx: Tx, now: int, asked: Asked) -> Answer:
    case = binding.unbind(tx, now, _case(tx, asked), str(asked.line.at), asked.who)
    return Answer(f"{case.label} is not bound to this thread any more.", case.id)


def _hear(tx: Tx, now: int, asked: Asked) -> Answer:
    return Answer(f"I open cases for {loops.hear_again(tx, now, _case(tx, asked), asked.who)} again.")


def _link(tx: Tx, now: int, asked: Asked) -> Answer:
    raise Refused(linking.taken(asked.who))


def _case(tx: Tx, asked: Asked) -> Case:
    """The case that is named, or else the one of the thread where it is typed; out of scope is not there (R21)."""
    number, _ = asked.line.numbered()
    if number is None:
        bound = bindings.case_at(tx, str(asked.line.at))
        if bound is None:
            raise Refused(f"Which case? Write: /case {asked.line.verb} C-1042")
        number = bound.number
    return cases.get(tx, gating.scope_of(asked.who), number)


def _listed(found: list[Case]) -> str:
    lines = [f"{case.label}  {stands(case)}  {one_line(case.title)}" for case in found[:_MOST]]
    if len(found) > _MOST:
        lines.append(f"… and more. All of them: casebound case list --most {_MOST * 10}")
    return "\n".join(lines) or "There are no cases."


VERBS: Verbs = {
    "open": Verb(_open, "open TEXT", writes=True),
    "list": Verb(_list, "list"),
    "mine": Verb(_mine, "mine"),
    "show": Verb(_show, "show C-1042"),
    "take": Verb(_take, "take C-1042", writes=True),
    "release": Verb(_release, "release C-1042", writes=True),
    "resolve": Verb(_resolve, "resolve C-1042 [WHY]", writes=True),
    "withdraw": Verb(_withdraw, "withdraw C-1042 [WHY]", writes=True),
    "bind": Verb(_bind, "bind C-1042", writes=True),
    "unbind": Verb(_unbind, "unbind", writes=True),
    "hear": Verb(_hear, "hear C-1042", writes=True),
    "link": Verb(_link, "link CODE", writes=True),
}
