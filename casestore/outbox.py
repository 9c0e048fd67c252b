"""The outbox: what must be said, put in with the change that caused it, delivered in order per address (R27, R28)."""

from collections.abc import Sequence

from casestore import trail
from casestore.models import CardRow, CaseId, Gate, GateId, Message, MessageId, OutboxId, OutboxRow, Step, TurnId
from casestore.next_due import PENDING, next_due
from casestore.states import OutboxKind
from casestore.tx import Tx

_SET_ASIDE = "state IN ('held', 'dead')"
"""As the index of what is held back or given up has it."""


def put(
    tx: Tx, now: int, case_id: CaseId, address: str, kind: OutboxKind, *, body: str | None = None,
    message_id: MessageId | None = None, gate_id: GateId | None = None, turn_id: TurnId | None = None,
    target: str | None = None,
) -> OutboxId:  # fmt: skip
    """Put one platform message, card, edit or deletion; `target` is the platform's id of what is edited or deleted.

    `turn_id` marks what the assistant says: that is held back while a person has the case (R12).
    """
    return OutboxId(
        tx.insert(
            """INSERT INTO outbox (case_id, message_id, gate_id, turn_id, address, channel, kind, body, target, state,
                                   put_at)
               VALUES (:case_id, :message_id, :gate_id, :turn_id, :address, :channel, :kind, :body, :target, 'due',
                       :now) RETURNING id""",
            case_id=case_id, message_id=message_id, gate_id=gate_id, turn_id=turn_id, address=address,
            channel=address.partition(":")[0], kind=kind, body=body, target=target, now=now,
        )
    )  # fmt: skip


def take_due(
    tx: Tx, now: int, channels: tuple[str, ...], *, boot: str, most: int, at: str | None = None
) -> list[OutboxRow]:  # fmt: skip
    """Mark the next row of each address `sending` and return them: the first that is not done, once it is due.

    `at` names the one address that the caller serves; None stands for all.
    """
    return [
        tx.one(
            OutboxRow,
            """UPDATE outbox SET state = 'sending', attempts = attempts + 1, boot = :boot WHERE id = :id
               RETURNING *""",
            id=row_id, boot=boot,
        )
        for row_id in next_due(tx, now, channels, most, at)
    ]  # fmt: skip


def mark_sent(tx: Tx, now: int, row: OutboxRow, platform_id: str | None, *, shown: str | None = None) -> None:
    """It was said. A card's copy is remembered with what it shows, and edited at once if its gate has moved on.

    A fact, so it is accepted while nothing else is on record. A row that was given up while it was being sent stays so,
    as the trail says; what became of it on the platform is known all the same.
    """
    tx.run(
        """UPDATE outbox SET state = 'sent', sent_at = :now, platform_id = :platform_id, error = NULL
           WHERE id = :id AND state IN ('due', 'sending', 'held')""",
        id=row.id, now=now, platform_id=platform_id,
    )  # fmt: skip
    if row.message_id is not None and platform_id is not None:
        tx.run(
            """UPDATE messages SET address = :address, platform_id = :platform_id
               WHERE id = :id AND platform_id IS NULL
                 AND NOT EXISTS (SELECT 1 FROM messages WHERE address = :address AND platform_id = :platform_id)""",
            id=row.message_id, address=row.address, platform_id=platform_id,
        )  # fmt: skip
    if row.gate_id is None or shown is None:
        return
    target = row.target or platform_id
    if target is not None:
        remember_card(tx, now, row.case_id, row.gate_id, row.address, target, shown)


def move(tx: Tx, address: str, to: str) -> None:
    """What has still to be said at an address is to be said at another."""
    for waiting in (PENDING, f"state = 'held' AND {_SET_ASIDE}"):
        tx.run(f"UPDATE outbox SET address = :to WHERE address = :address AND {waiting}", address=address, to=to)


def sent_already(tx: Tx, now: int, row: OutboxRow, platform_id: str) -> None:
    """It was said before it could be put here (R15)."""
    tx.run("UPDATE outbox SET state = 'sending' WHERE id = :id AND state = 'due'", id=row.id)
    mark_sent(tx, now, row, platform_id)


def doubt(tx: Tx, row: OutboxRow) -> None:
    """It may have been said before it was put here: it says so when it is sent (R27)."""
    tx.run("UPDATE outbox SET possible_duplicate = 1 WHERE id = :id AND state = 'due'", id=row.id)


def was_sent(tx: Tx, case_id: CaseId, address: str, platform_ids: Sequence[str]) -> bool:
    """Whether any of these platform messages is one of this case's already."""
    sent = tx.column(
        "SELECT platform_id FROM outbox WHERE case_id = :case_id AND address = :address AND platform_id IS NOT NULL",
        case_id=case_id, address=address,
    )  # fmt: skip
    return not {str(one) for one in sent}.isdisjoint(platform_ids)


def of_message(tx: Tx, message: Message) -> list[OutboxRow]:
    """The pieces of a message, in order, for every thread it goes to."""
    return tx.all(
        OutboxRow, "SELECT * FROM outbox WHERE case_id = :case_id AND message_id = :id ORDER BY id",
        case_id=message.case_id, id=message.id,
    )  # fmt: skip


def remember_card(
    tx: Tx, now: int, case_id: CaseId, gate_id: GateId, address: str, platform_id: str, shown: str
) -> None:  # fmt: skip
    """Note a copy of a card and what it shows; a press on a copy we did not know ends here too (R28)."""
    tx.run(
        """INSERT INTO cards (gate_id, address, platform_id, shown) VALUES (:gate_id, :address, :platform_id, :shown)
           ON CONFLICT (gate_id, address, platform_id) DO UPDATE SET shown = excluded.shown""",
        gate_id=gate_id, address=address, platform_id=platform_id, shown=shown,
    )  # fmt: skip
    if look_of(tx, gate_id) != shown:
        _edit(tx, now, case_id, gate_id, address, platform_id)


def cards_beside(tx: Tx, gate: Gate) -> list[str]:
    """Where the gate's card stands besides the threads of its case."""
    found = tx.column(
        """SELECT DISTINCT address FROM cards WHERE gate_id = :gate AND address NOT IN (
               SELECT address FROM bindings WHERE case_id = :case AND state = 'live') ORDER BY address""",
        gate=gate.id, case=gate.case_id,
    )  # fmt: skip
    return [str(address) for address in found]


def refresh_cards(tx: Tx, now: int, gate: Gate) -> None:
    """Every known copy of the gate's card is to be edited; copies still on their way are rendered when sent (R28)."""
    _refresh(tx, now, gate.case_id, gate.id)


def refresh_card_of(tx: Tx, now: int, step: Step) -> None:
    """The card of the gate that let this call run shows what came of it, on every known copy (R28)."""
    if step.gate_id is not None:
        _refresh(tx, now, step.case_id, step.gate_id)


def look_of(tx: Tx, gate_id: GateId) -> str:
    """What decides how a card looks: the gate's state and that of the step that spent it; a change is an edit."""
    return str(
        tx.value(
            """SELECT g.state || '/' || g.expires_at || '/' || coalesce((
                 SELECT max(s.state || coalesce(s.finished_at, 0)) FROM steps s WHERE s.gate_id = g.id), '')
               FROM gates g WHERE g.id = :id""",
            id=gate_id,
        )
    )


def retry(
    tx: Tx, row: OutboxRow, *, not_before: int, error: str, possible_duplicate: bool = False, told_when: bool = False
) -> None:  # fmt: skip
    """It was not said (or nobody can tell): it is due again, at the platform's own time.

    `told_when`: the platform has named that time, and nothing has failed: it counts as no attempt. What the assistant
    says is held instead while a person has the case (R12).
    """
    tx.run(
        """UPDATE outbox SET not_before = :not_before, error = :error, attempts = attempts - :told_when,
               state = CASE WHEN turn_id IS NOT NULL AND EXISTS (SELECT 1 FROM leases l
                   WHERE l.case_id = outbox.case_id AND l.kind = 'human') THEN 'held' ELSE 'due' END,
               possible_duplicate = CASE WHEN :dup = 1 THEN 1 ELSE possible_duplicate END
           WHERE id = :id AND state = 'sending'""",
        id=row.id, not_before=not_before, error=error, dup=int(possible_duplicate), told_when=int(told_when),
    )  # fmt: skip


def give_up(tx: Tx, now: int, row: OutboxRow, error: str) -> None:
    """It can never be said: dead, noted on the case, and not in the way of what is behind it (R27)."""
    moved = tx.run(
        "UPDATE outbox SET state = 'dead', error = :error WHERE id = :id AND state IN ('due', 'sending', 'held')",
        id=row.id, error=error,
    )  # fmt: skip
    if moved:
        meta = {"outbox": row.id, "address": row.address, "kind": row.kind, "error": error}
        trail.append(tx, row.case_id, now, "outbox.dead", "delivery", meta)


def messages_due_since(tx: Tx, address: str, cutoff: int) -> list[OutboxRow]:
    """Messages for an address that were put in at or before `cutoff` and not said yet, in order."""
    return tx.all(
        OutboxRow,
        f"""SELECT * FROM outbox WHERE address = :address AND {PENDING} AND kind = 'message' AND put_at <= :cutoff
            ORDER BY id""",
        address=address, cutoff=cutoff,
    )  # fmt: skip


def hold_back(tx: Tx, case_id: CaseId) -> int:
    """A person has the case: what the assistant was about to say is held (R12); how many."""
    return tx.run(
        "UPDATE outbox SET state = 'held' WHERE case_id = :id AND state = 'due' AND turn_id IS NOT NULL", id=case_id
    )


def drop_held(tx: Tx, now: int, case_id: CaseId, error: str) -> int:
    """The case is handed back: what was held is stale by now and is not said; how many."""
    held = tx.all(OutboxRow, "SELECT * FROM outbox WHERE case_id = :id AND state = 'held'", id=case_id)
    for row in held:
        give_up(tx, now, row, error)
    return len(held)


def drop_for(tx: Tx, now: int, address: str, error: str, *, target: str | None = None) -> int:
    """The thread is gone, or the message `target` in it: nothing more can be said, or changed, there; how many rows."""
    rows = tx.all(
        OutboxRow, f"SELECT * FROM outbox WHERE address = :a AND {PENDING} AND (:target IS NULL OR target = :target)",
        a=address, target=target,
    )  # fmt: skip
    for row in rows:
        give_up(tx, now, row, error)
    return len(rows)


def forget_cards(tx: Tx, address: str, platform_id: str | None = None) -> int:
    """Copies of cards, one or all at an address, that cannot be edited any more: no edit is tried again; how many."""
    return tx.run(
        "DELETE FROM cards WHERE address = :address AND (:platform_id IS NULL OR platform_id = :platform_id)",
        address=address, platform_id=platform_id,
    )  # fmt: skip


def left_sending(tx: Tx, boot: str, channels: tuple[str, ...], at: str | None = None) -> list[OutboxRow]:
    """Rows an earlier process was sending when it ended: sent or not, nobody here knows (design, "Crash points")."""
    rows = tx.all(
        OutboxRow,
        f"SELECT * FROM outbox WHERE state = 'sending' AND {PENDING} AND boot <> :boot ORDER BY +id",
        boot=boot,
    )
    return [row for row in rows if row.channel in channels and at in (None, row.address)]


def by_id(tx: Tx, outbox_id: OutboxId) -> OutboxRow:
    """A row whose id came from our own tables."""
    return tx.all(OutboxRow, "SELECT * FROM outbox WHERE id = :id", id=outbox_id)[0]


def of_case(tx: Tx, case_id: CaseId) -> list[OutboxRow]:
    """All that was or is to be said for a case."""
    return tx.all(OutboxRow, "SELECT * FROM outbox WHERE case_id = :id ORDER BY id", id=case_id)


def counts(tx: Tx) -> dict[str, int]:
    """Rows by state, those done left out."""
    return {
        state: tx.integer(f"SELECT count(*) FROM outbox WHERE state = :state AND {where}", state=state)
        for where, states in ((PENDING, ("due", "sending")), (_SET_ASIDE, ("held", "dead")))
        for state in states
    }


def _refresh(tx: Tx, now: int, case_id: CaseId, gate_id: GateId) -> None:
    for card in tx.all(CardRow, "SELECT * FROM cards WHERE gate_id = :id", id=gate_id):
        _edit(tx, now, case_id, gate_id, card.address, card.platform_id)


def _edit(tx: Tx, now: int, case_id: CaseId, gate_id: GateId, address: str, platform_id: str) -> None:
    waiting = tx.value(
        f"""SELECT 1 FROM outbox WHERE gate_id = :gate_id AND address = :address AND target = :target
             AND kind = 'edit' AND state = 'due' AND {PENDING}""",
        gate_id=gate_id, address=address, target=platform_id,
    )  # fmt: skip
    if waiting is None:
        put(tx, now, case_id, address, OutboxKind.EDIT, gate_id=gate_id, target=platform_id)
