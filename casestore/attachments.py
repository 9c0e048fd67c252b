"""Files that people attach to messages, and our own copies of them.

A row is written with its message. The copy is fetched later, outside of any transaction, so that every move here is
guarded by the state it starts from: what was erased meanwhile stays erased.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256

from casestore import trail
from casestore.errors import MoveRefused, NotFound
from casestore.models import CaseId, File, FileId, Message, MessageId
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.states import FileState
from casestore.tx import Tx

_BY = "copying"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file before it has a row. `refused`: why no copy is wanted; None where one is."""

    channel: str
    reference: str
    name: str
    media_type: str
    size: int | None
    refused: str | None = None


def add(tx: Tx, message: Message, found: Sequence[Attachment]) -> None:
    """Note what is attached to a message that has just been stored."""
    for one in found:
        tx.run(
            """INSERT INTO files (case_id, message_id, channel, reference, name, media_type, size, state, reason)
               VALUES (:case_id, :message_id, :channel, :reference, :name, :media_type, :size, :state, :reason)""",
            case_id=message.case_id, message_id=message.id, channel=one.channel, reference=one.reference,
            name=one.name, media_type=one.media_type, size=one.size, reason=one.refused,
            state=FileState.WANTED if one.refused is None else FileState.REFUSED,
        )  # fmt: skip


def due(tx: Tx, now: int, channels: Sequence[str], *, most: int, but: Collection[FileId]) -> list[File]:
    """Files whose copies are to be fetched now on these channels, oldest first; `but`: those that are under way."""
    places = ", ".join(f":c{n}" for n in range(len(channels))) or "NULL"
    names = {f"c{n}": channel for n, channel in enumerate(channels)}
    rows = tx.all(
        File,
        f"""SELECT * FROM files WHERE state = 'wanted' AND not_before <= :now AND channel IN ({places})
            ORDER BY not_before, id LIMIT :most""",
        now=now, most=most + len(but), **names,
    )  # fmt: skip
    return [row for row in rows if row.id not in but][:most]


def take(tx: Tx, found: Sequence[File]) -> list[File]:
    """Begin to fetch these; each is one attempt more, and those that are not wanted any more are left out.

    Whoever takes them may be killed: they stay wanted until it is on record what became of them.
    """
    return [
        taken
        for file in found
        for taken in tx.all(
            File,
            "UPDATE files SET attempts = attempts + 1 WHERE id = :id AND state = 'wanted' RETURNING *",
            id=file.id,
        )
    ]


def keep(tx: Tx, now: int, file: File, content: bytes, *, name: str, media_type: str) -> bool:
    """The copy is here; False where it is not wanted any more, and is not kept. What is said of it by now counts."""
    kept = tx.run(
        """UPDATE files SET state = 'kept', reason = NULL, digest = :digest, size = :size, kept_at = :now,
               name = CASE WHEN :name = '' THEN name ELSE :name END,
               media_type = CASE WHEN :media_type = '' THEN media_type ELSE :media_type END
           WHERE id = :id AND state = 'wanted'""",
        id=file.id, digest=sha256(content).hexdigest(), size=len(content), now=now, name=name, media_type=media_type,
    )  # fmt: skip
    if not kept:
        return False
    tx.run("INSERT INTO copies (file_id, content) VALUES (:id, :content)", id=file.id, content=content)
    trail.append(tx, file.case_id, now, "file.kept", _BY, {"file": file.id, "bytes": len(content)})
    return True


def give_up(tx: Tx, now: int, file: File, why: str, *, gone: bool = False) -> None:
    """No copy will be had, and why; `gone` where there is nothing left to be had."""
    state = FileState.GONE if gone else FileState.REFUSED
    if tx.run(
        "UPDATE files SET state = :state, reason = :why WHERE id = :id AND state = 'wanted'",
        id=file.id, state=state, why=why,
    ):  # fmt: skip
        trail.append(tx, file.case_id, now, f"file.{state}", _BY, {"file": file.id, "why": why})


def retry(tx: Tx, file: File, *, not_before: int, why: str) -> None:
    """It could not be had this time."""
    tx.run(
        "UPDATE files SET not_before = :not_before, reason = :why WHERE id = :id AND state = 'wanted'",
        id=file.id, not_before=not_before, why=why,
    )  # fmt: skip


def erase(tx: Tx, now: int, message: Message, why: str, *, but: Collection[str] = ()) -> None:
    """What was attached to a message is taken away there: the copies go and the names with them, but for `but`."""
    for file in of_message(tx, message.id):
        if file.reference in but or (file.state is FileState.GONE and not file.name):
            continue
        tx.run("DELETE FROM copies WHERE file_id = :id", id=file.id)
        tx.run(
            """UPDATE files SET state = 'gone', reason = :why, name = '', digest = NULL, kept_at = NULL
               WHERE id = :id""",
            id=file.id, why=why,
        )  # fmt: skip
        trail.append(tx, file.case_id, now, "file.gone", "channel", {"file": file.id, "why": why})


def of_message(tx: Tx, message_id: MessageId) -> list[File]:
    """What is attached to a message, in its order."""
    return tx.all(File, "SELECT * FROM files WHERE message_id = :id ORDER BY id", id=message_id)


def of_case(tx: Tx, case_id: CaseId) -> dict[MessageId, list[File]]:
    """What is attached to the messages of a case, by message; the case is in the caller's scope."""
    found: dict[MessageId, list[File]] = {}
    for file in tx.all(File, "SELECT * FROM files WHERE case_id = :id ORDER BY id", id=case_id):
        found.setdefault(file.message_id, []).append(file)
    return found


def content(tx: Tx, scope: Scope, case_id: CaseId, file_id: int) -> tuple[File, bytes]:
    """The copy of a file of a case. Raises `NotFound`, and `MoveRefused` where there is none, saying why."""
    file = tx.maybe(
        File,
        f"""SELECT f.* FROM files f JOIN cases c ON c.id = f.case_id
            WHERE f.id = :id AND f.case_id = :case_id AND {IN_SCOPE}""",
        id=file_id, case_id=case_id, **parameters(scope),
    )  # fmt: skip
    if file is None:
        raise NotFound(f"No file {file_id} in this case.", listed_by="case show")
    copy = tx.value("SELECT content FROM copies WHERE file_id = :id", id=file.id)
    if not isinstance(copy, bytes):
        raise MoveRefused(f"There is no copy of file {file.id}: {file.reason or 'it is being fetched'}.")
    return file, copy
