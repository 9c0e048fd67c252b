"""Whoever can write the file can drop a trigger; `verify` finds what they did all the same (R18)."""

from collections.abc import Callable

import pytest

from casestore import trail
from casestore.canonical import digest
from casestore.db import Store
from casestore.models import CaseId
from casestore.scope import System
from casestore.trail import GENESIS, Head
from casestore.tx import Tx
from tests.conftest import World

COLUMNS = "case_id, seq, at, kind, actor, meta, nonce, content, content_hash, prev_hash, hash"


@pytest.fixture
async def case_id(world: World, store: Store) -> CaseId:
    """A case whose trail has five entries and no protection any more."""
    case = await world.case()
    for n in range(2, 6):
        await store.write(trail.append, case.id, world.now + n, "note.made", "kim", {"n": n}, {"text": f"t{n}"})
    for trigger in ("trail_is_append_only", "trail_is_not_deleted"):
        await store.write(Tx.run, f"DROP TRIGGER {trigger}")
    return case.id


async def problems(store: Store, case_id: CaseId, anchor: Head | None = None) -> tuple[str, ...]:
    return (await store.read(trail.verify, System(), case_id, anchor)).problems


def rehash(tx: Tx, first: int) -> None:
    """What a careful forger does: compute every hash anew from entry `first` on."""
    previous = str(tx.value("SELECT hash FROM trail WHERE seq = :seq", seq=first - 1) or GENESIS)
    for seq in tx.column("SELECT seq FROM trail WHERE seq >= :first ORDER BY seq", first=first):
        at, kind, actor, meta, nonce, content = (
            str(tx.value(f"SELECT {name} FROM trail WHERE seq = :seq", seq=seq))
            for name in ("at", "kind", "actor", "meta", "nonce", "content")
        )
        content_hash = digest("content", nonce, content)
        entry_hash = digest("entry", previous, "1", str(seq), at, kind, actor, meta, content_hash)
        tx.run(
            "UPDATE trail SET content_hash = :content_hash, prev_hash = :previous, hash = :hash WHERE seq = :seq",
            content_hash=content_hash, previous=previous, hash=entry_hash, seq=seq,
        )  # fmt: skip
        previous = entry_hash


def edit(sql: str) -> Callable[[Tx], list[int]]:
    return lambda tx: [tx.run(statement) for statement in sql.split(";")]


EDITS = {
    "kind": "UPDATE trail SET kind = 'other' WHERE seq = 3",
    "actor": "UPDATE trail SET actor = 'lee' WHERE seq = 3",
    "time": "UPDATE trail SET at = at + 1 WHERE seq = 3",
    "meta": "UPDATE trail SET meta = '{\"n\":9}' WHERE seq = 3",
    "content": "UPDATE trail SET content = '{\"text\":\"t9\"}' WHERE seq = 3",
    "nonce": "UPDATE trail SET nonce = 'n0' WHERE seq = 3",
    "hash": "UPDATE trail SET hash = content_hash WHERE seq = 3",
    "the last entry": "UPDATE trail SET actor = 'lee' WHERE seq = 5",
    "deleted from the middle": "DELETE FROM trail WHERE seq = 3",
    "deleted from the start": "DELETE FROM trail WHERE seq = 1",
    "all deleted": "DELETE FROM trail",
    "deleted and closed up": "DELETE FROM trail WHERE seq = 3; UPDATE trail SET seq = 3 WHERE seq = 4;"
    " UPDATE trail SET seq = 4 WHERE seq = 5",
    "swapped": "UPDATE trail SET seq = 99 WHERE seq = 3; UPDATE trail SET seq = 3 WHERE seq = 4;"
    " UPDATE trail SET seq = 4 WHERE seq = 99",
    "inserted at the end": f"INSERT INTO trail SELECT {COLUMNS.replace('seq', '6')} FROM trail WHERE seq = 5",
    "inserted in the middle": "UPDATE trail SET seq = 6 WHERE seq = 5; UPDATE trail SET seq = 5 WHERE seq = 4;"
    f" INSERT INTO trail SELECT {COLUMNS.replace('seq', '4')} FROM trail WHERE seq = 3",
    "content erased and put back": "UPDATE trail SET content = NULL, nonce = NULL WHERE seq = 3;"
    " UPDATE trail SET content = '{}', nonce = 'n' WHERE seq = 3",
}  # fmt: skip


async def test_the_chain_holds_before_anything_is_done_to_it(store: Store, case_id: CaseId) -> None:
    assert await problems(store, case_id) == ()


@pytest.mark.parametrize("what", EDITS)
async def test_what_was_done_to_the_file_is_found(store: Store, case_id: CaseId, what: str) -> None:
    await store.write(edit(EDITS[what]))
    assert await problems(store, case_id) != ()


async def test_a_problem_names_the_entry(store: Store, case_id: CaseId) -> None:
    await store.write(edit(EDITS["actor"]))
    assert await problems(store, case_id) == ("entry 3 was changed",)
    await store.write(edit(EDITS["deleted from the middle"]))
    assert await problems(store, case_id) == (
        "entry 3 is missing: 4 follows 2",
        "entry 4 does not follow the entry before it",
    )


async def test_an_end_that_was_cut_off_is_found_with_an_anchor_from_outside(store: Store, case_id: CaseId) -> None:
    anchor = await store.read(trail.head, case_id)
    await store.write(edit("DELETE FROM trail WHERE seq >= 4"))
    assert await problems(store, case_id) == (), "by itself a shorter chain is a chain"
    (problem,) = await problems(store, case_id, anchor)
    assert "cut off" in problem


async def test_a_rewrite_from_the_middle_is_found_with_an_anchor_from_outside(store: Store, case_id: CaseId) -> None:
    anchor = await store.read(trail.head, case_id)
    await store.write(edit("UPDATE trail SET actor = 'lee' WHERE seq = 3"))
    await store.write(rehash, 3)
    assert await problems(store, case_id) == (), "by itself it is as good as any"
    (problem,) = await problems(store, case_id, anchor)
    assert "rewritten" in problem


async def test_a_chain_that_grew_past_its_anchor_holds(world: World, store: Store, case_id: CaseId) -> None:
    anchor = await store.read(trail.head, case_id)
    await store.write(trail.append, case_id, world.now, "note.made", "kim")
    assert await problems(store, case_id, anchor) == ()


async def test_a_rewrite_behind_the_anchor_is_what_the_next_anchor_is_for(store: Store, case_id: CaseId) -> None:
    entries = await store.read(trail.read, System(), case_id)
    old, new = Head(3, entries[2].hash), Head(5, entries[4].hash)
    await store.write(edit("UPDATE trail SET actor = 'lee' WHERE seq = 4"))
    await store.write(rehash, 4)
    assert await problems(store, case_id, old) == ()
    assert await problems(store, case_id, new) != ()


async def test_an_entry_moved_to_another_case_is_found_there(world: World, store: Store, case_id: CaseId) -> None:
    other = await world.case()
    moved = COLUMNS.replace("case_id", ":other")
    insert = f"INSERT INTO trail SELECT {moved} FROM trail WHERE case_id = :id AND seq = 2"
    await store.write(Tx.run, insert, other=other.id, id=case_id)
    assert await problems(store, other.id) != ()
