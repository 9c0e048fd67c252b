"""A thread that begins with our own first message: until that is posted, nobody knows what the thread is called.

The case is bound to a place that stands for the thread to come. What is to be said there waits behind the first
message, as in any thread; once that is posted, binding and waiting rows move to the real one. A kill in between changes
nothing: the row is found again, like every other.
"""

from dataclasses import dataclass

from casestore import bindings, cases, outbox, principals
from casestore.models import Case, OutboxRow, Principal
from casestore.principals import actor
from casestore.states import OutboxKind
from casestore.tx import Tx
from channels.address import Address
from channels.text import pieces, style_for


def begin(tx: Tx, now: int, case: Case, room: Address, by: Principal, text: str) -> None:
    """Bind the case to a thread that `text`, posted to the room, will begin."""
    place = str(room.to_begin(case.label))
    bindings.bind(tx, now, case, place, actor=actor(by))
    for piece in pieces(style_for(room.channel), text)[:1]:
        outbox.put(tx, now, case.id, place, OutboxKind.MESSAGE, body=piece)


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a thread that is made apart is called, and who is to be in it: accounts by the platform's ids.

    `since`: when its case was opened, in ms UTC; an older thread is another case's.
    """

    label: str
    title: str
    people: tuple[str, ...]
    since: int


def beginning(tx: Tx, row: OutboxRow) -> Beginning:
    """Of the thread in which this row is to be said."""
    case = cases.by_id(tx, row.case_id)
    accounts = [] if case.requester is None else principals.accounts_of(tx, case.requester)
    people = tuple(one.account_id for one in accounts if one.channel == row.channel and one.revoked_at is None)
    return Beginning(case.label, case.title, people, case.opened_at)


def begun(tx: Tx, now: int, row: OutboxRow, thread: Address) -> OutboxRow:
    """The thread is there: the case, and all that is to be said there, are in it from now on."""
    _move(tx, now, row.address, str(thread))
    return outbox.by_id(tx, row.id)


def posted(tx: Tx, now: int, row: OutboxRow, platform_id: str | None, *, shown: str | None = None) -> None:
    """A row was said; where it began a thread, the case and what waits behind it are in that thread from now on."""
    place = Address.parse(row.address)
    if place.begins and platform_id is not None:
        row = begun(tx, now, row, place.begun(platform_id))
    outbox.mark_sent(tx, now, row, platform_id, shown=shown)


def _move(tx: Tx, now: int, place: str, thread: str) -> None:
    if bindings.case_at(tx, thread) is None:
        bindings.move(tx, now, place, thread)
    outbox.move(tx, place, thread)
