"""Alert intake: a notification becomes a case, more members of one, or their end, in one transaction (R1, R29).

What a notification says is data (R23): it names no principal, no tenant and no tool, and answers no gate. Whom it
concerns is found by the key of its group alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum

from bot.alerts.group import MOST_WRITTEN, Group, body
from bot.outbound import speech
from bot.people import closing
from bot.settings import Settings
from bot.words.when import at_text
from casestore import cases, episodes, gates, leases, messages, runs, trail, turns
from casestore.cases import Opening
from casestore.episodes import Firing
from casestore.messages import Said
from casestore.models import Case
from casestore.states import Cause, EpisodeState, LeaseKind, Origin, Provenance
from casestore.tx import Tx

RESOLVED = "the alert resolved"


class What(StrEnum):
    """What a notification came to."""

    OPENED = "opened"
    JOINED = "joined"
    MEMBERS_RESOLVED = "members_resolved"
    GROUP_RESOLVED = "group_resolved"
    KNOWN = "known"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Taken:
    """Stored. `case` is the one it concerns; None where there was none and nothing to open."""

    case: Case | None
    what: What


def receive(tx: Tx, now: int, group: Group, settings: Settings, zone: tzinfo | None) -> Taken:
    """Store one notification. The same one again changes nothing but when its members were last seen."""
    tenant = settings.service.tenant
    case = cases.of_group(tx, tenant, group.key)
    known = {} if case is None else episodes.known(tx, case.id)
    fresh = [member for member in group.firing if member.identity not in known]
    if fresh and (case is None or not case.is_live):
        if case is not None:  # what has become of its own members is still its own record
            _follow(tx, now, case, group, known)
            _end_earlier(tx, now, case, fresh)
        return _open(tx, now, group, tenant, follows=case)
    if case is None:
        return Taken(None, What.IGNORED)
    resolved = _follow(tx, now, case, group, known)
    if fresh:
        _join(tx, now, case, group, fresh)
        return Taken(case, What.JOINED)
    if resolved and not group.truncated and not episodes.still_firing(tx, case.id):
        return Taken(_end(tx, now, case, group, zone), What.GROUP_RESOLVED)
    return Taken(case, What.MEMBERS_RESOLVED if resolved else What.KNOWN)


def _open(tx: Tx, now: int, group: Group, tenant: str, *, follows: Case | None) -> Taken:
    opening = Opening(
        tenant, group.title, Origin.ALERT, subject=group.subject or None, dedup_key=group.key,
        follows=None if follows is None else follows.id, priority=group.priority,
    )  # fmt: skip
    case = cases.open_case(tx, now, opening, actor=group.actor)
    earlier = {} if follows is None else episodes.known(tx, follows.id)
    for member in group.members:
        if member.state is EpisodeState.FIRING or member.identity not in earlier:
            episodes.record(tx, now, case.id, member)
    _say(tx, now, case, group, group.firing, begins="firing")
    return Taken(case, What.OPENED)


def _join(tx: Tx, now: int, case: Case, group: Group, fresh: Sequence[Firing]) -> None:
    for member in fresh:
        episodes.record(tx, now, case.id, member)
    _end_earlier(tx, now, case, fresh)
    _say(tx, now, case, group, fresh, begins="also firing")


def _end_earlier(tx: Tx, now: int, case: Case, fresh: Sequence[Firing]) -> None:
    for member in fresh:
        episodes.end_earlier(tx, now, case.id, member)


def _say(tx: Tx, now: int, case: Case, group: Group, members: Sequence[Firing], *, begins: str) -> None:
    """The message, which the assistant answers, and the trail's entry, which holds labels and no text."""
    said = Said(Provenance.ALERT, body(members, begins=begins, truncated=group.truncated))
    messages.receive(tx, now, case.id, said)
    meta = {"new": len(members), "firing": len(group.firing), "truncated": group.truncated}
    content = {"labels": dict(group.common_labels), "fingerprints": _named(members)}
    trail.append(tx, case.id, now, "alert.fired", group.actor, meta, content)


def _follow(
    tx: Tx, now: int, case: Case, group: Group, known: dict[tuple[str, int], EpisodeState]
) -> list[Firing]:  # fmt: skip
    """Record what has become of the case's own members; those that have resolved since.

    An ended case takes no members that it did not have.
    """
    theirs = [
        member for member in group.members
        if member.identity in known or (case.is_live and member.state is EpisodeState.RESOLVED)
    ]  # fmt: skip
    resolved = [
        member for member in theirs
        if member.state is EpisodeState.RESOLVED and known.get(member.identity) is not EpisodeState.RESOLVED
    ]  # fmt: skip
    for member in theirs:
        episodes.record(tx, now, case.id, member)
    if resolved:
        meta = {"resolved": len(resolved), "firing": episodes.still_firing(tx, case.id), "truncated": group.truncated}
        trail.append(
            tx, case.id, now, "alert.member_resolved", group.actor, meta, {"fingerprints": _named(resolved)}
        )  # fmt: skip
    return resolved


def _end(tx: Tx, now: int, case: Case, group: Group, zone: tzinfo | None) -> Case:
    """No member fires any more: what was asked because of it is asked no more, and the case is dealt with.

    Not by itself where a person has the case, where the assistant is at work in it, or where somebody still waits
    for an answer: they are told.
    """
    trail.append(tx, case.id, now, "alert.group_resolved", group.actor, {"members": len(group.members)})
    if not case.is_live:
        return case
    if (gate := gates.open_gate(tx, case.id)) is not None:
        gates.withdraw(tx, now, gate, by=group.actor, reason=RESOLVED)
    if _somebody_is_at_it(tx, case):
        ended = max((member.ends_at or now for member in group.resolved), default=now)
        note = f"The alert resolved ({at_text(ended, zone, now)}): none of its members fires any more."
        speech.say(tx, now, case.id, note)
        speech.note_for_model(tx, now, case.id, note)
        return cases.by_id(tx, case.id)
    if messages.unread(tx, case.id):  # only the alert's own: unread, they would open the case again (R2)
        turn = turns.unsettled(tx, case.id) or turns.queue(tx, now, case.id, Cause.ALERT)
        messages.mark_read(tx, case.id, turn.id)
    closing.resolve(tx, now, case, by=group.actor, why=RESOLVED)
    return cases.by_id(tx, case.id)


def _somebody_is_at_it(tx: Tx, case: Case) -> bool:
    if leases.of_case(tx, case.id).kind is LeaseKind.HUMAN or runs.open_run(tx, case.id) is not None:
        return True
    turn = turns.unsettled(tx, case.id)
    owed = [*messages.unread(tx, case.id), *([] if turn is None else messages.of_turn_and_beside(tx, turn.id))]
    return any(message.provenance not in (Provenance.ALERT, Provenance.SYSTEM) for message in owed)


def _named(members: Sequence[Firing]) -> list[str]:
    """The fingerprints of the first few: an entry of the trail is bounded, the members are all in `episodes`."""
    return [member.fingerprint for member in members[:MOST_WRITTEN]]
