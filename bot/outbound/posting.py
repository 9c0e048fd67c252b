"""What a row of the outbox says at this moment, and what it means for the case how its delivery ended."""

from datetime import tzinfo

from bot.gates import card
from bot.outbound import threads
from bot.words.when import at_text
from casestore import cases, gates, outbox
from casestore.models import CaseId, GateId, OutboxRow
from casestore.states import OutboxKind
from casestore.tx import Tx
from channels.messages import Card, Content, Text
from channels.text import pieces, style_for


def undeliverable(tx: Tx, now: int, row: OutboxRow, error: str) -> None:
    """It can never be said; a copy of a card that cannot be edited is not tried again with every change."""
    outbox.give_up(tx, now, row, error)
    if row.kind is OutboxKind.EDIT and row.target is not None:
        outbox.drop_for(tx, now, row.address, error, target=row.target)
        outbox.forget_cards(tx, row.address, row.target)


def pass_over(tx: Tx, now: int, row: OutboxRow, cutoff: int, zone: tzinfo | None) -> None:
    """What could not be said for too long is not poured into the room any more: one line says where to read it."""
    old: dict[CaseId, list[OutboxRow]] = {}
    for one in outbox.messages_due_since(tx, row.address, cutoff):
        outbox.give_up(tx, now, one, "not said: it had waited too long")
        old.setdefault(one.case_id, []).append(one)
    for case_id, rows in old.items():
        label = cases.by_id(tx, case_id).label
        many = "One message" if len(rows) == 1 else f"{len(rows)} messages"
        text = (
            f"{many} about {label} could not be posted here since {at_text(rows[0].put_at, zone, now)}, and would come "
            f"too late now. Read them on the case: casebound case show {label}"
        )
        for piece in pieces(style_for(row.channel), text):
            outbox.put(tx, now, case_id, row.address, OutboxKind.MESSAGE, body=piece)


def content(tx: Tx, now: int, row: OutboxRow, zone: tzinfo | None) -> tuple[Content | None, str | None]:
    """What a row says now: a card is made from its gate at this moment (R28)."""
    if row.gate_id is not None and row.kind in (OutboxKind.CARD, OutboxKind.EDIT):
        return _card(tx, now, row, row.gate_id, zone), outbox.look_of(tx, row.gate_id)
    return (None if row.body is None else Text(text=row.body)), None


def _card(tx: Tx, now: int, row: OutboxRow, gate_id: GateId, zone: tzinfo | None) -> Card:
    return card.of_gate(tx, now, gates.by_id(tx, gate_id), zone, at=row.address)


def found(tx: Tx, now: int, row: OutboxRow, platform_id: str) -> None:
    """It had been sent; what a card shows is not known, so it is edited."""
    threads.posted(tx, now, row, platform_id, shown="unknown" if row.gate_id is not None else None)
