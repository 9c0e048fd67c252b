"""Bindings: which thread a case is in, and what happens when the thread is gone (R3)."""

from casestore import gates, outbox, trail
from casestore.errors import BadRequest, NotFound
from casestore.models import Binding, Case, CaseId, Principal
from casestore.states import OutboxKind
from casestore.tx import Tx


def bind(tx: Tx, now: int, case: Case, address: str, *, actor: str, private: bool = False) -> Binding:
    """Bind a thread to a case. Raises `BadRequest` where the address has another live case."""
    if (taken := case_at(tx, address)) is not None and taken.id != case.id:
        raise BadRequest(f"{address} is bound to another case. Unbind it there first.")
    if taken is None:
        tx.run(
            """INSERT INTO bindings (case_id, address, state, private, bound_at)
               VALUES (:case_id, :address, 'live', :private, :now)""",
            case_id=case.id, address=address, private=int(private), now=now,
        )  # fmt: skip
        trail.append(tx, case.id, now, "binding.bound", actor, {"address": address})
        if (gate := gates.open_gate(tx, case.id)) is not None:  # who reads there sees what is waited for
            outbox.put(tx, now, case.id, address, OutboxKind.CARD, gate_id=gate.id)
    return _live(tx, address)


def case_at(tx: Tx, address: str) -> Case | None:
    """The case whose live binding this address is."""
    return tx.maybe(
        Case,
        "SELECT c.* FROM bindings b JOIN cases c ON c.id = b.case_id WHERE b.address = :address AND b.state = 'live'",
        address=address,
    )


def of_case(tx: Tx, case_id: CaseId) -> list[Binding]:
    """The live bindings of a case."""
    return tx.all(
        Binding, "SELECT * FROM bindings WHERE case_id = :case_id AND state = 'live' ORDER BY id", case_id=case_id
    )


def live_on(tx: Tx, channel: str, *, ended_after: int) -> list[str]:
    """The addresses of a channel at which a case is bound that has not ended, or only after then (ms UTC).

    Those of the cases with the newest activity come first.
    """
    found = tx.column(
        """SELECT b.address FROM bindings b JOIN cases c ON c.id = b.case_id
           WHERE b.state = 'live' AND substr(b.address, 1, :n) = :start
             AND (c.state NOT IN ('closed', 'cancelled') OR c.closed_at > :ended_after)
           ORDER BY c.last_activity_at DESC, b.id""",
        start=f"{channel}:", n=len(channel) + 1, ended_after=ended_after,
    )  # fmt: skip
    return [str(address) for address in found]


def live_in(tx: Tx, room: str) -> list[str]:
    """The addresses in a room at which a case is bound: its threads, and the room itself."""
    found = tx.column(
        """SELECT address FROM bindings
           WHERE state = 'live' AND (address = :room OR substr(address, 1, :n) = :room || '/') ORDER BY id""",
        room=room, n=len(room) + 1,
    )  # fmt: skip
    return [str(address) for address in found]


def lose(tx: Tx, now: int, address: str, *, reason: str) -> Case | None:
    """The platform took the thread away: the binding ends, the case lives on (R3). None where nothing was bound."""
    return _end(tx, now, address, "lost", "channel", reason)


def lost_at(tx: Tx, address: str) -> Case | None:
    """The case that the platform took this thread away from, where nothing has been bound there since (R3)."""
    return tx.maybe(
        Case,
        """SELECT c.* FROM bindings b JOIN cases c ON c.id = b.case_id
           WHERE b.state = 'lost' AND b.id = (SELECT max(id) FROM bindings WHERE address = :address)""",
        address=address,
    )


def astray(tx: Tx, requester: Principal, channel: str, room: str | None = None) -> list[Case]:
    """The living cases of a requester that the platform has taken away from their last thread; of one room, or of all.

    What somebody let go of is not among them, nor what is bound anywhere.
    """
    place = f"{channel}:" if room is None else f"{room}/"
    return tx.all(
        Case,
        """SELECT c.* FROM cases c JOIN bindings b
               ON b.id = (SELECT max(id) FROM bindings WHERE case_id = c.id) AND b.state = 'lost'
           WHERE c.tenant = :tenant AND c.requester = :requester AND c.state IN ('new', 'in_progress')
             AND NOT EXISTS (SELECT 1 FROM bindings live WHERE live.case_id = c.id AND live.state = 'live')
             AND substr(b.address, 1, :n) = :place ORDER BY c.id""",
        tenant=requester.tenant, requester=requester.id, place=place, n=len(place),
    )  # fmt: skip


def unbind(tx: Tx, now: int, address: str, *, actor: str) -> Case:
    """Let go of a thread. Raises `NotFound` where nothing is bound."""
    case = _end(tx, now, address, "ended", actor, "unbound")
    if case is None:
        raise NotFound(f"No case is bound to {address}.")
    return case


def take_over(tx: Tx, now: int, address: str, case: Case, *, actor: str) -> Binding:
    """A new case that follows a closed one takes over its binding (R2)."""
    _end(tx, now, address, "ended", actor, "taken over by the case that follows")
    return bind(tx, now, case, address, actor=actor)


def move(tx: Tx, now: int, address: str, to: str) -> None:
    """What stood for a thread to come is that thread now. Nothing happens where nothing is bound any more."""
    case = case_at(tx, address)
    if case is None:
        return
    tx.run("UPDATE bindings SET address = :to WHERE address = :address AND state = 'live'", address=address, to=to)
    trail.append(tx, case.id, now, "binding.moved", "channel", {"address": address, "to": to})


def _end(tx: Tx, now: int, address: str, state: str, actor: str, reason: str) -> Case | None:
    case = case_at(tx, address)
    if case is None:
        return None
    tx.run(
        """UPDATE bindings SET state = :state, ended_at = :now, reason = :reason
           WHERE address = :address AND state = 'live'""",
        state=state, now=now, reason=reason, address=address,
    )  # fmt: skip
    trail.append(tx, case.id, now, f"binding.{state}", actor, {"address": address, "reason": reason})
    return case


def _live(tx: Tx, address: str) -> Binding:
    return tx.all(Binding, "SELECT * FROM bindings WHERE address = :address AND state = 'live'", address=address)[0]
