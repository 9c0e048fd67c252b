"""Saying something in a case: a message, and one outbox row per platform message (R27)."""

from casestore import bindings, messages, outbox
from casestore.messages import Said, text_body
from casestore.models import CaseId, Message, MessageId, PrincipalId, TurnId
from casestore.states import OutboxKind, Provenance
from casestore.tx import Tx
from channels.text import STYLES, pieces, storable, style_for


def say(
    tx: Tx,
    now: int,
    case_id: CaseId,
    text: str,
    *,
    provenance: Provenance = Provenance.SYSTEM,
    turn_id: TurnId | None = None,
    author: PrincipalId | None = None,
) -> Message:
    """Post `text` in the case and put it into the outbox of its bindings, split as each channel needs it.

    `turn_id` marks the assistant's own words, which are held back while a person has the case (R12); they are said
    where the turn was asked. Everything else is said everywhere.
    """
    said = Said(provenance, text_body(storable(text)), author=author)
    message = messages.post(tx, now, case_id, said, turn_id)
    for address in _where(tx, case_id, turn_id):
        put(tx, now, case_id, address, text, message_id=message.id, turn_id=turn_id)
    return message


def mirror(tx: Tx, now: int, message: Message, name: str) -> None:
    """Show what somebody has said in one thread of a case in all its others, with their name.

    Never back: only what a person says comes here, and what is shown so is ours.
    """
    channel = (message.address or "").partition(":")[0]
    for binding in bindings.of_case(tx, message.case_id):
        if binding.address != message.address:
            text = f"{name} ({channel}): {message.text}"
            put(tx, now, message.case_id, binding.address, text, message_id=message.id)


def _where(tx: Tx, case_id: CaseId, turn_id: TurnId | None) -> list[str]:
    live = [binding.address for binding in bindings.of_case(tx, case_id)]
    if turn_id is None or len(live) < 2:
        return live
    heard = messages.heard_at(tx, case_id, turn_id)
    return [address for address in live if address in heard] or live


def put(
    tx: Tx, now: int, case_id: CaseId, address: str, text: str, *, message_id: MessageId | None = None,
    turn_id: TurnId | None = None,
) -> None:  # fmt: skip
    """Put `text` into the outbox of one address, split as its channel needs it."""
    channel = address.partition(":")[0]
    if channel not in STYLES:  # a channel of another version of ours: nobody knows what is safe to say there
        return
    for piece in pieces(style_for(channel), text):
        outbox.put(
            tx, now, case_id, address, OutboxKind.MESSAGE, body=piece, message_id=message_id, turn_id=turn_id
        )  # fmt: skip


def note_for_model(tx: Tx, now: int, case_id: CaseId, text: str) -> None:
    """A note of the engine that the assistant sees with its next turn, and that starts none by itself."""
    said = Said(Provenance.SYSTEM, text_body(text))
    message = messages.receive(tx, now, case_id, said)
    last_turn = tx.value("SELECT max(id) FROM turns WHERE case_id = :id", id=case_id)
    if last_turn is not None:
        tx.run("UPDATE messages SET turn_id = :turn WHERE id = :id", turn=last_turn, id=message.id)
