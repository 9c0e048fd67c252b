"""The trail: appended to, never changed; its order is provable even where content was erased (R18)."""

import pytest

from casestore import steps, trail
from casestore.db import Store
from casestore.errors import ConstraintBroken, NotFound
from casestore.models import CaseId, TrailEntry
from casestore.scope import System, Tenant
from casestore.tx import Tx
from tests.conftest import MINUTE, World
from tests.store.rows import everything

ERASE = "UPDATE trail SET content = NULL, nonce = NULL WHERE seq = 2"


async def three_entries(world: World) -> CaseId:
    """A case with three entries in its trail, and another one beside it."""
    case = await world.case()
    await world.case()
    for n in (2, 3):
        await world.store.write(trail.append, case.id, world.now + n, "note.made", "kim", {"n": n}, {"text": f"t{n}"})
    return case.id


async def entries(store: Store, case_id: CaseId) -> list[TrailEntry]:
    return await store.read(trail.read, System(), case_id)


async def test_each_entry_names_the_one_before_it(world: World, store: Store) -> None:
    found = await entries(store, await three_entries(world))
    assert [entry.seq for entry in found] == [1, 2, 3]
    assert [entry.prev_hash for entry in found] == [trail.GENESIS, *(entry.hash for entry in found[:-1])]
    assert len({entry.hash for entry in found}) == 3


async def test_a_chain_that_holds_has_no_problems_and_ends_at_its_head(world: World, store: Store) -> None:
    case_id = await three_entries(world)
    verified = await store.read(trail.verify, System(), case_id)
    head = await store.read(trail.head, case_id)
    assert (verified.entries, verified.erased, verified.problems) == (3, 0, ())
    assert verified.head == head
    assert str(head) == f"3:{(await entries(store, case_id))[-1].hash}"


async def test_the_head_is_what_append_returned(world: World, store: Store) -> None:
    case_id = await three_entries(world)
    returned = await store.write(trail.append, case_id, world.now, "note.made", "kim")
    assert await store.read(trail.head, case_id) == returned


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trail SET kind = 'other' WHERE seq = 2",
        "UPDATE trail SET actor = 'lee' WHERE seq = 2",
        "UPDATE trail SET at = at + 1 WHERE seq = 2",
        "UPDATE trail SET meta = '{}' WHERE seq = 2",
        "UPDATE trail SET content = '{}' WHERE seq = 2",
        "UPDATE trail SET content = NULL WHERE seq = 2",
        "UPDATE trail SET nonce = NULL WHERE seq = 2",
        "UPDATE trail SET nonce = 'n0' WHERE seq = 2",
        "UPDATE trail SET hash = prev_hash WHERE seq = 2",
        "UPDATE trail SET prev_hash = hash WHERE seq = 2",
        "UPDATE trail SET content_hash = hash WHERE seq = 2",
        "UPDATE trail SET seq = 9 WHERE seq = 2",
        "UPDATE trail SET case_id = 2, seq = 9 WHERE seq = 2",
        *[
            f"UPDATE trail SET content = NULL, nonce = NULL, {change} WHERE seq = 2"
            for change in (
                "kind = 'other'",
                "actor = 'lee'",
                "at = at + 1",
                "meta = '{}'",
                "hash = prev_hash",
                "seq = 9",
                "prev_hash = hash",
                "content_hash = hash",
                "case_id = 2, seq = 9",
                "case_id = 2, seq = 2",
            )
        ],
        "DELETE FROM trail WHERE seq = 3",
        "DELETE FROM trail",
        "INSERT OR REPLACE INTO trail SELECT case_id, seq, at, 'other', actor, meta, nonce, content, content_hash,"
        " prev_hash, hash FROM trail WHERE seq = 2",
        "REPLACE INTO trail SELECT case_id, 3, at, kind, actor, meta, nonce, content, content_hash, prev_hash, hash"
        " FROM trail WHERE seq = 2",
    ],
)
async def test_an_entry_is_neither_changed_nor_deleted_nor_replaced(world: World, store: Store, statement: str) -> None:
    await three_entries(world)
    before = await store.read(everything)
    with pytest.raises(ConstraintBroken, match="append-only"):
        await store.write(Tx.run, statement)
    assert await store.read(everything) == before


async def test_content_can_be_erased_once_and_the_chain_still_proves_the_order(world: World, store: Store) -> None:
    """R26"""
    case_id = await three_entries(world)
    anchor = await store.read(trail.head, case_id)
    assert await store.write(trail.erase, case_id, world.now, upto=2, actor="kim") == 2
    verified = await store.read(trail.verify, System(), case_id, anchor)
    assert (verified.entries, verified.erased, verified.problems) == (4, 2, ())
    assert [trail.content_of(entry) for entry in await entries(store, case_id)][1:3] == [{}, {"text": "t3"}]
    with pytest.raises(ConstraintBroken, match="append-only"):
        await store.write(Tx.run, ERASE)
    await store.write(trail.append, case_id, world.now, "note.made", "kim")
    assert (await store.read(trail.verify, System(), case_id)).problems == ()
    assert await store.write(trail.erase, case_id, world.now, upto=2, actor="kim") == 0
    assert (await entries(store, case_id))[-1].kind == "note.made", "nothing was erased, so nothing is said"


async def test_erased_content_cannot_be_guessed_from_its_hash(world: World, store: Store) -> None:
    """The salt goes with it: equal content has unequal hashes."""
    case = await world.case()
    for _ in range(2):
        await store.write(trail.append, case.id, world.now, "note.made", "kim", None, {"answer": "yes"})
    first, second = (await entries(store, case.id))[-2:]
    assert first.content == second.content
    assert first.content_hash != second.content_hash
    assert first.nonce != second.nonce


async def test_two_cases_have_two_chains(world: World, store: Store) -> None:
    mine, other = await world.case(), await world.case()
    for n in range(3):
        await store.write(trail.append, (mine, other)[n % 2].id, world.now, "note.made", "kim")
    for case, count in ((mine, 3), (other, 2)):
        verified = await store.read(trail.verify, System(), case.id)
        assert (verified.entries, verified.problems) == (count, ())


async def test_the_newest_entries_are_read_without_the_others(world: World, store: Store) -> None:
    case_id = await three_entries(world)
    assert [entry.seq for entry in await store.read(trail.newest, case_id, 2)] == [2, 3]
    assert [entry.seq for entry in await store.read(trail.read, System(), case_id, after=1, most=1)] == [2]


async def test_a_trail_outside_the_scope_is_not_verified(world: World, store: Store) -> None:
    """R21"""
    case_id = await three_entries(world)
    for scope, asked in ((Tenant("elsewhere"), case_id), (System(), CaseId(99))):
        with pytest.raises(NotFound, match=r"^No such case\.$"):
            await store.read(trail.verify, scope, asked)


async def test_no_message_text_is_in_the_trail(world: World, store: Store) -> None:
    case = await world.case(title="nginx is down")
    await world.say(case, "canary-in-a-message")
    asked = await world.ask(await world.working(case=case))
    await world.say(case, "canary-in-a-second-message")
    await world.decide(asked.gate, world.people.kim)
    await store.write(steps.refuse, world.now, None, asked.step, '{"text":"canary-in-a-result"}', why="denied")
    rows = await store.read(Tx.column, "SELECT meta || coalesce(content, '') || kind || actor FROM trail")
    assert len(rows) >= 5, "a good deal has happened"
    assert not [row for row in rows if "canary" in str(row)]


async def test_tool_calls_are_in_the_trail_with_their_arguments(world: World, store: Store) -> None:
    working = await world.working()
    await store.write(
        steps.start_tool, world.now, working.lease, working.run.id, working.step, deadline=world.now + MINUTE
    )  # fmt: skip
    entry = (await entries(store, working.case.id))[-1]
    assert (entry.kind, trail.content_of(entry)) == ("tool.started", {"args": {"service": "nginx"}})
