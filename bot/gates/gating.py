"""Deciding gates, for every surface: who may, what was answered, and the one sentence a person hears (R5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo

from bot.gates import statement
from bot.settings import Settings
from bot.tools.declare import BadArguments, Tool
from bot.words.standing import via
from bot.words.when import at_text, span_text
from casestore import deciding, gates
from casestore.canonical import decode, encode
from casestore.deciding import Because, Decided, Decision, NotDecided
from casestore.errors import BadRequest, MoveRefused
from casestore.models import CaseId, Gate, Principal
from casestore.principals import actor
from casestore.scope import Own, Scope, Tenant
from casestore.states import GateKind, GateState, Verb
from casestore.tx import Tx
from channels.text import storable


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person who answered a gate hears; `taken` says whether theirs was the answer that counts."""

    taken: bool
    text: str
    gate: Gate


def scope_of(who: Principal) -> Scope:
    """What a principal may see: an operator their tenant, a requester their own cases (R21)."""
    return Tenant(who.tenant) if who.is_operator and who.revoked_at is None else Own(who.tenant, who.id)


def decide(tx: Tx, now: int, who: Principal, gate_id: int, decision: Decision, zone: tzinfo | None) -> Reply:
    """Answer a gate for `who`, judged by `now`. Never raises for a refusal: that has to be written too (R6)."""
    gate = gates.get(tx, scope_of(who), gate_id)
    if decision.reason is not None:
        decision = replace(decision, reason=storable(decision.reason))
    match deciding.decide(tx, now, scope_of(who), gate.id, who, decision):
        case Decided(gate):
            return Reply(True, f"{_done(gate.verb)}: {gate.statement}", gate)
        case NotDecided(because, gate):
            return Reply(False, _refusal(tx, now, because, gate, zone), gate)


def refusal(
    tx: Tx, now: int, who: Principal, gate_id: int, decision: Decision, zone: tzinfo | None
) -> Reply | None:  # fmt: skip
    """What `decide` would say if it refused this answer now; None where it would take it."""
    gate = gates.get(tx, scope_of(who), gate_id)
    refused = deciding.refusal(tx, now, scope_of(who), gate.id, who, decision)
    if refused is None:
        return None
    return Reply(False, _refusal(tx, now, refused.because, refused.gate, zone), refused.gate)


def changed(tool: Tool | None, gate: Gate, changes: Mapping[str, object]) -> str:
    """The gate's arguments with an approver's changes, canonical. Raises `BadRequest` for what may not be changed."""
    if tool is None:
        raise BadRequest(f"{gate.tool} is not among the tools here, so its arguments cannot be changed.")
    if forbidden := sorted(set(changes) - tool.may_change):
        allowed = ", ".join(sorted(tool.may_change)) or "none"
        raise BadRequest(f"{gate.tool} does not let an approver change {forbidden[0]}; it lets change: {allowed}.")
    try:
        args = tool.validate({**decode(gate.args), **changes})
    except BadArguments as error:
        raise BadRequest(str(error)) from None
    if gate.effect_key is not None and tool.effect(args) != gate.effect_key:
        raise BadRequest(f"Changed like that, {gate.tool} would be about something else. Send it back for revision.")
    return encode(args)


def withdraw(
    tx: Tx, now: int, who: Principal, gate_id: int, reason: str, *, via: str, zone: tzinfo | None
) -> Reply:  # fmt: skip
    """Take the question back: an operator any, a requester that of their own case. Like a decision, it can be late."""
    gate = gates.get(tx, scope_of(who), gate_id)
    gate = gates.expire(tx, now, gate) or gate
    if gate.state is not GateState.OPEN:
        late = Because.EXPIRED if gate.state is GateState.EXPIRED else Because.ALREADY_DECIDED
        return Reply(False, _refusal(tx, now, late, gate, zone), gate)
    try:
        gate = gates.withdraw(tx, now, gate, by=actor(who), reason=storable(reason), who=who, via=via)
    except MoveRefused as error:
        return Reply(False, str(error), gate)
    return Reply(True, f"Withdrawn, and not run: {gate.statement}", gate)


def extend(tx: Tx, now: int, who: Principal, gate_id: int, by_ms: int, settings: Settings) -> Gate:
    """Give people `by_ms` more; reminders are laid anew over the time that is left."""
    gate = gates.get(tx, scope_of(who), gate_id)
    expires_at = gate.expires_at + by_ms
    reminders = [now + int((expires_at - now) * part) for part in settings.gates.reminders]
    return gates.extend(tx, now, gate, who, expires_at=expires_at, reminders=reminders)


def waiting_text(tx: Tx, now: int, gate: Gate, zone: tzinfo | None) -> str:
    """What is waited for and until when: always the engine's words (design, section 6)."""
    until = at_text(gate.expires_at, zone, now)
    return f"It waits for {who_decides(tx, gate)} to decide, until {until}: {gate.statement}"


def with_what_waits(tx: Tx, now: int, case_id: CaseId, zone: tzinfo | None, told: str) -> str:
    """Why somebody has no answer yet; at a gate with what their case waits for, as the model does not tell them."""
    gate = gates.open_gate(tx, case_id)
    return told if gate is None else f"{told} {waiting_text(tx, now, gate, zone)}"


def who_decides(tx: Tx, gate: Gate) -> str:
    """Who may decide a gate, in words."""
    if gate.kind is GateKind.CONSENT:
        return "the requester, nobody else"
    roles = sorted({str(role) for role in gates.roles_of(tx, gate.id)} - {"admin"}) or ["admin"]
    names = " or ".join(f"an {role}" if role[0] in "aeiou" else f"a {role}" for role in roles)
    return f"{names}, not the requester" if gate.four_eyes and gate.kind is GateKind.APPROVAL else names


def ended_text(tx: Tx, now: int, gate: Gate, zone: tzinfo | None) -> str:
    """How a gate ended, by whom, via what and when; empty while it is open."""
    waited = span_text((gate.decided_at or 0) - gate.asked_at)
    when = f"{at_text(gate.decided_at or 0, zone, now)} (after {waited})"
    who = statement.name_of_decider(tx, gate)
    reason = f' "{statement.shown(gate.reason)}"' if gate.reason else ""
    match gate.state:
        case GateState.OPEN:
            return ""
        case GateState.EXPIRED:
            return f"Expired: nobody decided by {at_text(gate.expires_at, zone, now)}; counts as a denial"
        case GateState.WITHDRAWN:
            by = "" if gate.decided_by is None else f"by {who} via {via(gate.decided_via)}, "
            return f"Withdrawn {by}{when}{f': {statement.shown(gate.reason)}' if gate.reason else ''}"
        case GateState.VOID:
            return f"Approved by {who} via {via(gate.decided_via)}, {when}; not run: {gate.void_reason}"
        case _:
            return f"{_done(gate.verb)} by {who} via {via(gate.decided_via)}, {when}{reason}"


def _done(verb: Verb | None) -> str:
    match verb:
        case Verb.APPROVE:
            return "Approved"
        case Verb.REVISE:
            return "Sent back for revision"
        case Verb.HAPPENED:
            return "Recorded as happened"
        case Verb.NOT_HAPPENED:
            return "Recorded as not happened"
        case Verb.RERUN:
            return "To be run again"
        case Verb.DENY | None:
            return "Denied"


def _refusal(tx: Tx, now: int, because: Because, gate: Gate, zone: tzinfo | None) -> str:
    match because:
        case Because.ALREADY_DECIDED:
            return f"Gate {gate.id} is already decided: {ended_text(tx, now, gate, zone)}."
        case Because.EXPIRED:
            return f"Too late for gate {gate.id}. {ended_text(tx, now, gate, zone)}."
        case Because.NOT_ALLOWED:
            return f"You may not decide gate {gate.id}; {who_decides(tx, gate)} may."
        case Because.OWN_REQUEST:
            return f"Gate {gate.id} was asked for you, so somebody else has to decide it (four eyes)."
        case Because.ONLY_REQUESTER:
            return f"Gate {gate.id} asks the requester for consent; nobody may give it for them."
        case Because.STALE:
            return f"What you saw of gate {gate.id} is out of date. Look at it again before you decide."
        case Because.WRONG_VERB:
            verbs = "happened, not-happened or rerun" if gate.kind is GateKind.OUTCOME else "approve, deny or revise"
            return f"Gate {gate.id} cannot be answered like that; answer {verbs}."
