"""A place that is lost: what is bound there ends, the cases live on, and one notice elsewhere says so (R3)."""

from collections.abc import Sequence

from bot.outbound import speech
from casestore import bindings, outbox, principals
from casestore.models import Case
from casestore.states import CaseState
from casestore.tx import Tx
from channels.address import Address
from channels.text import style_for

_OVER = (CaseState.RESOLVED, CaseState.CLOSED, CaseState.CANCELLED)


def lose(tx: Tx, now: int, gone: Sequence[Address], reason: str, rooms: Sequence[str]) -> None:
    """Threads are gone, or whole rooms with all that are in them; said in one of `rooms`, or to the requesters."""
    bound = [place for address in gone if not address.thread for place in bindings.live_in(tx, str(address))]
    lost = [_end(tx, now, place, reason) for place in dict.fromkeys([*bound, *map(str, gone)])]
    _tell(tx, now, [case for case in lost if case is not None], [*map(str, gone)], reason, rooms)


def lose_thread(tx: Tx, now: int, address: str, reason: str, rooms: Sequence[str]) -> None:
    """One place alone, whatever else is bound in its room."""
    case = _end(tx, now, address, reason)
    _tell(tx, now, [] if case is None else [case], [address], reason, rooms)


def _end(tx: Tx, now: int, place: str, reason: str) -> Case | None:
    """What was to be said there is dead, and no card there is changed any more."""
    outbox.drop_for(tx, now, place, reason)
    outbox.forget_cards(tx, place)
    return bindings.lose(tx, now, place, reason=reason)


def _tell(tx: Tx, now: int, lost: Sequence[Case], gone: Sequence[str], reason: str, rooms: Sequence[str]) -> None:
    """One notice in each place, however many cases it is about: those that nobody reads anywhere any more."""
    told: dict[str, list[Case]] = {}
    standing = [room for room in rooms if not any(room == place or place.startswith(f"{room}/") for place in gone)]
    for case in lost:
        if case.state in _OVER or bindings.of_case(tx, case.id):
            continue
        for where in standing or _direct(tx, case, gone[0]):
            told.setdefault(where, []).append(case)
    for where, cases in told.items():
        labels = ", ".join(case.label for case in cases)
        first = cases[0].label
        begins = f"The thread of {labels} is lost" if len(cases) == 1 else f"The threads of {labels} are lost"
        speech.put(
            tx, now, cases[0].id, where,
            f"{begins}: {reason}. No case ends with its thread. Read it: /case show {first}. What its requester writes "
            f"in the old thread, once that is back, belongs to it again, and so does what they next write to me alone, "
            f"or ask me in that room; an operator binds it to another thread by writing there: /case bind {first}",
        )  # fmt: skip


def _direct(tx: Tx, case: Case, place: str) -> list[str]:
    """Where the requester alone is spoken to, on the platform and in the space where the thread was."""
    at = Address.parse(place)
    alone = style_for(at.channel).alone
    if case.requester is None or alone is None:
        return []
    return [
        f"{at.channel}:{alone(at.space, account.account_id)}"
        for account in principals.accounts_of(tx, case.requester)
        if account.channel == at.channel and account.space in ("", at.space) and account.revoked_at is None
    ][:1]
