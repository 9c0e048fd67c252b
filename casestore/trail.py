"""The trail: append-only, hash-chained per case; the authority on what happened (R18)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from casestore.canonical import decode, digest, encode
from casestore.errors import NotFound
from casestore.models import CaseId, TrailEntry
from casestore.scope import IN_SCOPE, Scope, parameters
from casestore.tx import Tx

GENESIS = "0" * 64
_NO_END = 2**63 - 1
"""Beyond every place there can be."""
ERASED = "trail.erased"
"""The entry that says that the content of those before it, up to `upto`, was erased."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: what is anchored outside the file, so that cutting the end off is found."""

    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"


class Glimpse(NamedTuple):
    """Of a `TrailEntry` what prose is made of. No `Row`, since each end of a run reads some dozen."""

    seq: int
    kind: str
    actor: str
    meta: str
    content: str | None


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found; no problems means the chain holds."""

    entries: int
    erased: int
    head: Head
    problems: tuple[str, ...]


def append(
    tx: Tx,
    case_id: CaseId,
    now: int,
    kind: str,
    actor: str,
    meta: Mapping[str, object] | None = None,
    content: Mapping[str, object] | None = None,
) -> Head:
    """Append what happened. `meta` stays for ever; `content` can be erased. Message text belongs in neither."""
    last = head(tx, case_id)
    seq, prev_hash = last.seq + 1, last.hash
    meta_text, content_text, nonce = encode(dict(meta or {})), encode(dict(content or {})), tx.nonce()
    content_hash = digest("content", nonce, content_text)
    entry_hash = _entry_hash(prev_hash, case_id, seq, now, kind, actor, meta_text, content_hash)
    tx.run(
        """INSERT INTO trail (case_id, seq, at, kind, actor, meta, nonce, content, content_hash, prev_hash, hash)
           VALUES (:case_id, :seq, :at, :kind, :actor, :meta, :nonce, :content, :content_hash, :prev_hash, :hash)""",
        case_id=case_id, seq=seq, at=now, kind=kind, actor=actor, meta=meta_text, nonce=nonce, content=content_text,
        content_hash=content_hash, prev_hash=prev_hash, hash=entry_hash,
    )  # fmt: skip
    return Head(seq, entry_hash)


def erase(tx: Tx, case_id: CaseId, now: int, *, upto: int, actor: str) -> int:
    """Erase the content of every entry up to `upto`, and say so in the trail, or `verify` finds it; how many (R26)."""
    erased = tx.run(
        """UPDATE trail SET content = NULL, nonce = NULL
           WHERE case_id = :case_id AND seq <= :upto AND content IS NOT NULL""",
        case_id=case_id, upto=upto,
    )  # fmt: skip
    if erased:
        append(tx, case_id, now, ERASED, actor, {"upto": upto})
    return erased


def read(tx: Tx, scope: Scope, case_id: CaseId, *, after: int = 0, most: int = 1000) -> list[TrailEntry]:
    """The entries after `after`, oldest first."""
    return tx.all(
        TrailEntry,
        f"""SELECT t.* FROM trail t JOIN cases c ON c.id = t.case_id
            WHERE t.case_id = :case_id AND t.seq > :after AND {IN_SCOPE} ORDER BY t.seq LIMIT :most""",
        case_id=case_id, after=after, most=most, **parameters(scope),
    )  # fmt: skip


def newest(tx: Tx, case_id: CaseId, most: int, *, after: int = 0, upto: int | None = None) -> list[Glimpse]:
    """The last `most` entries, oldest first, of those after `after` and up to `upto`.

    Its cost does not grow with the age of the case.
    """
    rows = tx.tuples(
        """SELECT seq, kind, actor, meta, content FROM trail WHERE case_id = :case_id AND seq > :after AND seq <= :upto
           ORDER BY seq DESC LIMIT :most""",
        case_id=case_id, most=most, after=after, upto=_NO_END if upto is None else upto,
    )  # fmt: skip
    return [Glimpse(*row) for row in cast("list[tuple[int, str, str, str, str | None]]", rows[::-1])]


def head(tx: Tx, case_id: CaseId) -> Head:
    """Where the chain ends now."""
    rows = tx.tuples("SELECT seq, hash FROM trail WHERE case_id = :id ORDER BY seq DESC LIMIT 1", id=case_id)
    return Head(*cast("tuple[int, str]", rows[0])) if rows else Head(0, GENESIS)


def verify(tx: Tx, scope: Scope, case_id: CaseId, anchor: Head | None = None) -> Verification:
    """Recompute the chain: finds an edit, a gap, a reorder; with an `anchor` from outside also a cut or rewrite.

    Content that is gone is a problem unless a later entry says that it was erased.

    Raises `NotFound` for a case outside the scope.
    """
    if tx.value(
        f"SELECT 1 FROM cases c WHERE c.id = :case_id AND {IN_SCOPE}", case_id=case_id, **parameters(scope)
    ) is None:  # fmt: skip
        raise NotFound("No such case.")
    problems: list[str] = []
    expected, prev_hash, gone, told = 1, GENESIS, list[int](), 0
    anchored = anchor is None or anchor.seq == 0
    for entry in tx.all(TrailEntry, "SELECT * FROM trail WHERE case_id = :case_id ORDER BY seq", case_id=case_id):
        if entry.seq != expected:
            problems.append(f"entry {expected} is missing: {entry.seq} follows {expected - 1}")
        if entry.prev_hash != prev_hash:
            problems.append(f"entry {entry.seq} does not follow the entry before it")
        recomputed = _entry_hash(
            entry.prev_hash, case_id, entry.seq, entry.at, entry.kind, entry.actor, entry.meta, entry.content_hash
        )
        if recomputed != entry.hash:
            problems.append(f"entry {entry.seq} was changed")
        if entry.content is None or entry.nonce is None:
            gone.append(entry.seq)
        elif digest("content", entry.nonce, entry.content) != entry.content_hash:
            problems.append(f"the content of entry {entry.seq} was changed")
        if anchor is not None and entry.seq == anchor.seq:
            anchored = entry.hash == anchor.hash
        if entry.kind == ERASED:
            told = max(told, min(_upto(entry), entry.seq - 1))
        expected, prev_hash = entry.seq + 1, entry.hash
    problems += [
        f"the content of entry {seq} is gone, and no entry says that it was erased" for seq in gone if seq > told
    ]
    if expected == 1:
        problems.append("the trail is empty; a case's first entry says that it was opened")
    if not anchored:
        problems.append(f"the anchored entry {anchor} is not in the trail: its end was cut off or it was rewritten")
    return Verification(expected - 1, len(gone), Head(expected - 1, prev_hash), tuple(problems))


def content_of(entry: TrailEntry) -> dict[str, object]:
    """The content of an entry, empty once erased."""
    return decode(entry.content) if entry.content is not None else {}


def _upto(entry: TrailEntry) -> int:
    upto = decode(entry.meta).get("upto")
    return upto if isinstance(upto, int) else 0


def _entry_hash(
    prev_hash: str, case_id: int, seq: int, at: int, kind: str, actor: str, meta: str, content_hash: str
) -> str:
    return digest("entry", prev_hash, str(case_id), str(seq), str(at), kind, actor, meta, content_hash)
