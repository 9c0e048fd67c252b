"""Somebody changes the file behind our back: what the chain finds, and what only an anchor finds (R18).

Edits of every column, gaps, swaps, inserts, cuts and rewrites of a chain of notes are in
tests/store/test_trail_tampering.py; here it is the trail of a case that was really worked, and what stands beside it.
"""

import logging
import sqlite3
from pathlib import Path

import pytest

from casestore import gates, trail
from casestore.canonical import digest
from casestore.check import check
from casestore.db import Store
from casestore.models import CaseId
from casestore.scope import System
from casestore.trail import GENESIS, Head
from tests.conftest import DAY, HOUR, World
from tests.loop.conftest import make_rig, rig
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says

__all__ = ["make_rig", "rig"]

Row = tuple[object, ...]
CASE, SEQ, AT, KIND, ACTOR, META, NONCE, CONTENT, CONTENT_HASH, PREV, HASH = range(11)


def meddle(db: Path, *statements: str) -> None:
    """A program that is not ours, which has dropped every trigger first."""
    conn = sqlite3.connect(db, isolation_level=None)
    for name in ("trail_is_append_only", "trail_is_not_deleted", "trail_is_not_replaced"):
        conn.execute(f"DROP TRIGGER IF EXISTS {name}")
    for statement in statements:
        conn.execute(statement)
    conn.close()


def entries(db: Path) -> list[Row]:
    conn = sqlite3.connect(db, isolation_level=None)
    rows = conn.execute("SELECT * FROM trail ORDER BY case_id, seq").fetchall()
    conn.close()
    return rows


def put_back(db: Path, rows: list[Row]) -> None:
    """Write a whole trail in the place of the one that was there."""
    meddle(db, "DELETE FROM trail")
    conn = sqlite3.connect(db, isolation_level=None)
    conn.executemany("INSERT INTO trail VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    conn.close()


def forged(rows: list[Row]) -> list[Row]:
    """The same with every hash computed anew, as a careful forger would."""
    previous, made = GENESIS, list[Row]()
    for seq, row in enumerate(rows, 1):
        body = [str(row[n]) for n in (AT, KIND, ACTOR, META)]
        content = row[CONTENT_HASH] if row[CONTENT] is None else digest("content", str(row[NONCE]), str(row[CONTENT]))
        its_hash = digest("entry", previous, str(row[CASE]), str(seq), *body, str(content))
        made.append((row[CASE], seq, *row[AT:CONTENT_HASH], content, previous, its_hash))
        previous = its_hash
    return made


async def worked(world: World) -> tuple[CaseId, Head]:
    """A case whose call was asked for, approved and begun; and where its trail ends."""
    asked = await world.approved()
    return asked.case.id, await world.store.read(trail.head, asked.case.id)


async def found(store: Store, case_id: CaseId, anchor: Head | None = None) -> tuple[str, ...]:
    return (await store.read(trail.verify, System(), case_id, anchor)).problems


async def test_forging_without_a_change_gives_the_same_chain(world: World, store: Store, db: Path) -> None:
    """Or what follows would prove nothing: the forger of these tests computes as the store does."""
    case_id, head = await worked(world)
    before = entries(db)
    assert forged(before) == before
    put_back(db, forged(before))
    assert await found(store, case_id, head) == ()


def changed_by(deed: str, rows: list[Row], at: int) -> list[Row]:
    """What somebody makes of a trail at one place."""
    changed = list(rows)
    match deed:
        case "edit":
            changed[at] = (*rows[at][:ACTOR], "principal:mallory#9", *rows[at][ACTOR + 1 :])
        case "delete":
            del changed[at]
        case "insert":
            changed.insert(at, rows[at])
        case "swap":
            changed[at], changed[at - 1] = changed[at - 1], changed[at]
        case _:
            changed = changed[:at]
    return changed


@pytest.mark.parametrize("deed", ["edit", "delete", "insert", "swap", "cut"])
async def test_what_a_careful_forger_does_only_the_anchor_finds_and_it_finds_all_of_it(
    world: World, store: Store, db: Path, deed: str
) -> None:
    case_id, head = await worked(world)
    whole = entries(db)
    for at in range(1, len(whole) - (deed == "insert")):  # behind the last it would be one that came after the anchor
        changed = changed_by(deed, whole, at)
        put_back(db, forged(changed))
        assert await found(store, case_id) == (), "by itself a chain that was forged with care is a chain"
        assert await found(store, case_id, head) != ()
        put_back(db, [(row[CASE], seq, *row[AT:]) for seq, row in enumerate(changed, 1)])
        cut = changed == whole[: len(changed)]
        assert (await found(store, case_id) == ()) == cut, "without new hashes it is found by itself"


async def test_a_rewrite_from_the_middle_keeps_the_head_of_before_and_loses_that_of_after(
    world: World, store: Store, db: Path
) -> None:
    case_id, head = await worked(world)
    whole = entries(db)
    middle = len(whole) // 2
    before = Head(middle, str(whole[middle - 1][HASH]))
    changed = [row if n < middle else (*row[:KIND], "note.made", *row[KIND + 1 :]) for n, row in enumerate(whole)]
    put_back(db, forged(changed))
    assert await found(store, case_id) == ()
    assert await found(store, case_id, before) == ()
    assert "rewritten" in (await found(store, case_id, head))[0]


async def test_the_anchor_is_in_the_log_at_the_end_of_each_run(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.model.then(calls(("look", {"at": "/"})), says("It is fine."))
    case = await rig.say("Is it?")
    with caplog.at_level(logging.INFO, logger="casebound"):
        rig.engine.wake(case.id)
        await rig.engine.idle()
    (ended,) = [record for record in caplog.records if record.message == "run.ended"]
    seq, _, its_hash = str(getattr(ended, "fields")["trail_head"]).partition(":")  # noqa: B009 - a field of ours
    head = Head(int(seq), its_hash)
    assert head == await rig.store.read(trail.head, case.id)
    meddle(rig.db, f"DELETE FROM trail WHERE seq = {head.seq}")
    assert await found(rig.store, case.id) == ()
    assert "cut off" in (await found(rig.store, case.id, head))[0]


@pytest.mark.parametrize("which", ["1 = 1", "seq = 3", "kind = 'gate.asked'"])
@pytest.mark.parametrize("columns", ["content = NULL, nonce = NULL", "content = NULL", "nonce = NULL"])
async def test_content_that_is_gone_though_nobody_erased_it_is_found(
    world: World, store: Store, db: Path, which: str, columns: str
) -> None:
    case_id, head = await worked(world)
    meddle(db, f"UPDATE trail SET {columns} WHERE {which}")
    problems = await found(store, case_id, head)
    assert problems
    assert all("no entry says that it was erased" in problem for problem in problems)


async def test_an_erasure_is_in_the_trail_and_does_not_cover_what_came_after_it(
    world: World, store: Store, db: Path
) -> None:
    """R26"""
    case_id, head = await worked(world)
    await store.write(trail.erase, case_id, world.now, upto=head.seq, actor="kim")
    assert await found(store, case_id, head) == ()
    await store.write(trail.append, case_id, world.now, "note.made", "kim", None, {"text": "later"})
    meddle(db, f"UPDATE trail SET content = NULL, nonce = NULL WHERE seq = {head.seq + 2}")
    assert await found(store, case_id) == (
        f"the content of entry {head.seq + 2} is gone, and no entry says that it was erased",
    )


async def test_an_entry_cannot_say_that_its_own_content_or_that_of_a_later_one_was_erased(
    world: World, store: Store, db: Path
) -> None:
    case_id, head = await worked(world)
    await store.write(trail.append, case_id, world.now, trail.ERASED, "kim", {"upto": 10**9})
    await store.write(trail.append, case_id, world.now, "note.made", "kim", None, {"text": "later"})
    meddle(db, f"UPDATE trail SET content = NULL, nonce = NULL WHERE seq > {head.seq}")
    assert len(await found(store, case_id)) == 2


DEEDS = {
    "approved behind our back": "UPDATE gates SET state = 'approved', verb = 'approve', digest_run = digest_shown,"
    " decided_by = 1, decided_at = asked_at",
    "denied behind our back": "UPDATE gates SET state = 'denied', decided_at = asked_at",
    "given more time": "UPDATE gates SET expires_at = expires_at + 1",
}


@pytest.mark.parametrize("deed", DEEDS)
async def test_a_gate_that_is_not_as_its_trail_says_is_found(world: World, store: Store, db: Path, deed: str) -> None:
    asked = await world.ask()
    assert (await store.read(check)).problems == ()
    meddle(db, DEEDS[deed])
    (problem,) = (await store.read(check)).problems
    assert f"gate {asked.gate.id}" in problem


async def test_a_decision_that_is_taken_back_or_given_to_somebody_else_is_found(
    world: World, store: Store, db: Path
) -> None:
    asked = await world.approved()
    assert (await store.read(check)).problems == ()
    meddle(db, f"UPDATE gates SET decided_by = {world.people.you.id}")
    assert "another person" in (await store.read(check)).problems[0]
    meddle(db, "UPDATE gates SET state = 'open', decided_at = NULL, decided_by = NULL")
    assert (await store.read(check)).problems == (f"gate {asked.gate.id} is open, but the trail says approved",)
    meddle(db, "PRAGMA foreign_keys = OFF", "DELETE FROM gate_roles", "DELETE FROM gates")
    assert f"gate {asked.gate.id} is gone, the trail speaks of it" in (await store.read(check)).problems


async def test_every_way_a_gate_ends_agrees_with_its_trail(world: World, store: Store) -> None:
    """What is lawful is no problem: extended, denied, expired, withdrawn, void."""

    extended = await world.ask()
    await store.write(
        gates.extend, world.now, extended.gate, world.people.kim, expires_at=world.now + 2 * DAY, reminders=()
    )  # fmt: skip
    await world.decide((await world.ask()).gate, world.people.kim)
    await world.ask(expires_at=world.now + HOUR)
    await store.write(gates.expire_due, world.now + HOUR)
    withdrawn, void = await world.ask(), await world.ask()
    await store.write(gates.withdraw, world.now, withdrawn.gate, by="kim", reason="so", who=world.people.kim)
    await world.decide(void.gate, world.people.kim)
    await store.write(gates.end_for_case, world.now, void.case.id, by="kim", reason="so")
    assert {gate.state for gate in await store.read(gates.listing, System(), only_open=False)} >= {
        "open", "approved", "expired", "withdrawn", "void",
    }  # fmt: skip
    assert (await store.read(check)).problems == ()
