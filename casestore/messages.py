"""Messages: stored first, acknowledged second, worked third (R29)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from casestore import trail
from casestore.canonical import encode
from casestore.models import CaseId, Message, MessageId, PrincipalId, Turn, TurnId
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.states import Direction, Provenance
from casestore.tx import Tx

PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Said:
    """One thing said, before it has a place in a case. `body` parts: `{"type": "text", "text": …}` and the like."""

    provenance: Provenance
    body: Sequence[Mapping[str, object]]
    author: PrincipalId | None = None
    author_account: str | None = None
    address: str | None = None
    platform_id: str | None = None


def text_body(text: str, *, program: bool = False) -> list[dict[str, object]]:
    """A body of one text part; one that a program has written says so."""
    return [{"type": "text", "text": text, **({"by": PROGRAM} if program else {})}]


def quoted_body(text: str, by: str, *, program: bool) -> list[dict[str, object]]:
    """The same of what was not said to us: it says who has quoted it."""
    return [{**part, "quoted_by": by} for part in text_body(text, program=program)]


def reworded(message: Message, text: str) -> list[dict[str, object]]:
    """The body of a message with other words in it; whatever else it says stays."""
    (first, *_) = message.body
    return [{**first, "text": text}]


def seen(tx: Tx, address: str, platform_id: str) -> Message | None:
    """The message already stored under the platform's own identity (R29)."""
    return tx.maybe(
        Message,
        "SELECT * FROM messages WHERE address = :address AND platform_id = :platform_id",
        address=address, platform_id=platform_id,
    )  # fmt: skip


def receive(tx: Tx, now: int, case_id: CaseId, said: Said) -> Message:
    """Store an inbound message, unread. A duplicate is the caller's to find first, with `seen`."""
    return _add(tx, now, case_id, said, Direction.IN, None)


def post(tx: Tx, now: int, case_id: CaseId, said: Said, turn_id: TurnId | None = None) -> Message:
    """Store an outbound message; its delivery is the outbox's."""
    return _add(tx, now, case_id, said, Direction.OUT, turn_id)


def unread(tx: Tx, case_id: CaseId) -> list[Message]:
    """What has been said to us and not yet been taken by a turn, in order."""
    return tx.all(
        Message,
        "SELECT * FROM messages WHERE case_id = :case_id AND direction = 'in' AND turn_id IS NULL ORDER BY seq",
        case_id=case_id,
    )


def programs_in_a_row(tx: Tx, case_id: CaseId, most: int) -> int:
    """How many of the newest messages to us were written by programs, without a person's between; counted to `most`."""
    written = tx.column(
        """SELECT coalesce(json_extract(body, '$[0].by'), '') FROM messages WHERE case_id = :id AND direction = 'in'
           ORDER BY seq DESC LIMIT :most""",
        id=case_id, most=most,
    )  # fmt: skip
    return next((count for count, by in enumerate(written) if by != PROGRAM), len(written))


def leave_unanswered(tx: Tx, message: Message, turn_id: TurnId) -> None:
    """It is stored, and no turn is begun for it: it counts as read with this one."""
    tx.run("UPDATE messages SET turn_id = :turn WHERE id = :id AND turn_id IS NULL", id=message.id, turn=turn_id)


def edit(tx: Tx, now: int, message: Message, body: Sequence[Mapping[str, object]]) -> None:
    """Its author says it otherwise. What has been read was read as it was; the transcript keeps that (R17)."""
    tx.run(
        "UPDATE messages SET body = :body, edited_at = :now WHERE id = :id AND deleted_at IS NULL",
        id=message.id, body=encode(list(body)), now=now,
    )  # fmt: skip
    trail.append(tx, message.case_id, now, "message.edited", "channel", {"message": message.seq})


def delete(tx: Tx, now: int, message: Message) -> None:
    """Its author takes it away: its words go, that there was something stays."""
    deleted = tx.run(
        "UPDATE messages SET body = :body, deleted_at = :now WHERE id = :id AND deleted_at IS NULL",
        id=message.id, body=encode(reworded(message, "(deleted by its author)")), now=now,
    )  # fmt: skip
    if deleted:
        trail.append(tx, message.case_id, now, "message.deleted", "channel", {"message": message.seq})


def mark_read(
    tx: Tx, case_id: CaseId, turn_id: TurnId, only: Collection[MessageId] | None = None
) -> list[Message]:  # fmt: skip
    """A turn takes all unread messages, in order (R11); of those in `only`, where its answer has been given already."""
    taken = [message for message in unread(tx, case_id) if only is None or message.id in only]
    for message in taken:
        tx.run("UPDATE messages SET turn_id = :turn_id WHERE id = :id", id=message.id, turn_id=turn_id)
    return [message.model_copy(update={"turn_id": turn_id}) for message in taken]


def give_back(tx: Tx, turn_id: TurnId) -> None:
    """What a turn has taken and the model was not shown is unread again."""
    tx.run(
        "UPDATE messages SET turn_id = NULL WHERE turn_id = :id AND direction = 'in' AND in_view IS NULL", id=turn_id
    )


def newest_seq(tx: Tx, case_id: CaseId) -> int:
    """The number of the last message of a case, whoever said it; 0 where nothing was."""
    return int(str(tx.value("SELECT coalesce(max(seq), 0) FROM messages WHERE case_id = :id", id=case_id)))


def not_in_view(tx: Tx, case_id: CaseId) -> list[Message]:
    """What the model has not been shown: messages a turn has taken, and what a person who had the case said."""
    return tx.all(
        Message,
        """SELECT * FROM messages WHERE case_id = :case_id AND in_view IS NULL
             AND (direction = 'in' OR provenance = 'operator') AND (direction = 'out' OR turn_id IS NOT NULL)
           ORDER BY seq""",
        case_id=case_id,
    )


def bring_into_view(tx: Tx, shown: Sequence[Message], transcript_seq: int) -> None:
    """Note the place in the transcript that carries these messages."""
    for message in shown:
        tx.run("UPDATE messages SET in_view = :seq WHERE id = :id", id=message.id, seq=transcript_seq)


def newest_of_engine(tx: Tx, case_id: CaseId) -> Message | None:
    """The last thing the engine said itself."""
    return tx.maybe(
        Message,
        """SELECT * FROM messages WHERE case_id = :id AND direction = 'out' AND provenance = 'system'
           ORDER BY seq DESC LIMIT 1""",
        id=case_id,
    )


def newest_out(tx: Tx, case_id: CaseId) -> Message | None:
    """The last thing we said."""
    return tx.maybe(
        Message,
        "SELECT * FROM messages WHERE case_id = :id AND direction = 'out' ORDER BY seq DESC LIMIT 1",
        id=case_id,
    )


def newest_of_ours(tx: Tx, most: int) -> list[Message]:
    """The last things we said, in whatever case."""
    return tx.all(Message, "SELECT * FROM messages WHERE direction = 'out' ORDER BY id DESC LIMIT :most", most=most)


def heard_at(tx: Tx, case_id: CaseId, turn_id: TurnId) -> set[str]:
    """Where what a turn answers was said, and where it was shown too."""
    found = tx.column(
        """SELECT address FROM messages WHERE turn_id = :turn_id AND direction = 'in' AND address IS NOT NULL
           UNION
           SELECT o.address FROM outbox o JOIN messages m ON m.id = o.message_id
           WHERE o.case_id = :case_id AND m.turn_id = :turn_id AND m.direction = 'in'""",
        case_id=case_id, turn_id=turn_id,
    )  # fmt: skip
    return {str(address) for address in found}


def of_turn(tx: Tx, turn_id: TurnId) -> list[Message]:
    """The inbound messages a turn answers."""
    return tx.all(
        Message, "SELECT * FROM messages WHERE turn_id = :turn_id AND direction = 'in' ORDER BY seq", turn_id=turn_id
    )


def of_turn_and_beside(tx: Tx, turn_id: TurnId) -> list[Message]:
    """The same, and what was answered beside it while it was parked."""
    return tx.all(
        Message,
        """SELECT * FROM messages WHERE direction = 'in' AND turn_id IN (
               SELECT :id UNION ALL
               SELECT b.id FROM turns t JOIN turns b ON b.case_id = t.case_id AND b.seq > t.seq AND b.beside = t.id
               WHERE t.id = :id) ORDER BY seq""",
        id=turn_id,
    )


def shown_unanswered(tx: Tx, turn: Turn) -> list[Message]:
    """What people said in the midst of a turn and the model was shown in it, while nothing it has said since answers.

    In the midst: after its first response. The turn will answer in the end; that may be days away.
    """
    return [
        message
        for message in of_turn_and_beside(tx, turn.id)
        if message.provenance not in (Provenance.ALERT, Provenance.SYSTEM) and _is_unanswered(tx, turn, message)
    ]


def _is_unanswered(tx: Tx, turn: Turn, message: Message) -> bool:
    return message.in_view is not None and (
        tx.value(
            """SELECT 1 WHERE :in_view > (SELECT min(t.seq) FROM transcript t
                                          WHERE t.turn_id = :turn AND t.kind = 'response')
                 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.case_id = :case_id AND m.seq > :seq
                                   AND m.direction = 'out' AND m.provenance = 'assistant')""",
            in_view=message.in_view, turn=turn.id, case_id=turn.case_id, seq=message.seq,
        )
        is not None
    )  # fmt: skip


def of_case(tx: Tx, scope: Scope, case_id: CaseId, *, after: int = 0, most: int = 500) -> list[Message]:
    """The conversation, oldest first, starting after `after`."""
    return tx.all(
        Message,
        f"""SELECT m.* FROM messages m JOIN cases c ON c.id = m.case_id
            WHERE m.case_id = :case_id AND m.seq > :after AND {IN_SCOPE} ORDER BY m.seq LIMIT :most""",
        case_id=case_id, after=after, most=most, **parameters(scope),
    )  # fmt: skip


def _add(
    tx: Tx, now: int, case_id: CaseId, said: Said, direction: Direction, turn_id: TurnId | None
) -> Message:  # fmt: skip
    message = tx.one(
        Message,
        """INSERT INTO messages (case_id, seq, direction, provenance, author, author_account, body, address,
                                 platform_id, turn_id, at)
           VALUES (:case_id, (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE case_id = :case_id), :direction,
                   :provenance, :author, :author_account, :body, :address, :platform_id, :turn_id, :now)
           RETURNING *""",
        case_id=case_id, direction=direction, provenance=said.provenance, author=said.author,
        author_account=said.author_account, body=encode(list(said.body)), address=said.address,
        platform_id=said.platform_id, turn_id=turn_id, now=now,
    )  # fmt: skip
    tx.run("UPDATE cases SET last_activity_at = :now WHERE id = :id", id=case_id, now=now)
    return message


def by_id(tx: Tx, message_id: MessageId) -> Message:
    """A message whose id came from our own tables."""
    return tx.all(Message, "SELECT * FROM messages WHERE id = :id", id=message_id)[0]
