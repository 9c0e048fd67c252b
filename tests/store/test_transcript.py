"""The conversation with the model: each message once, as it was, and a window that begins where a turn does."""

import pytest

from casestore import transcript, turns
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.models import CaseId, TurnId
from casestore.states import Cause
from casestore.tx import Tx
from tests.conftest import World
from tests.store.inside import effort


def add(tx: Tx, case_id: CaseId, turn_id: TurnId, *texts: str) -> None:
    for text in texts:
        transcript.append(tx, case_id, turn_id, kind="request", message=text)


def add_turn(tx: Tx, now: int, case_id: CaseId, *texts: str) -> TurnId:
    turn = turns.queue(tx, now, case_id, Cause.MESSAGE)
    turns.settle(tx, now, turn.id)
    add(tx, case_id, turn.id, *texts)
    return turn.id


async def texts_in_window(store: Store, case_id: CaseId, turn_id: TurnId, most: int) -> list[str]:
    return [row.message for row in await store.read(transcript.window, case_id, turn_id, most)]


async def test_messages_are_kept_exactly_and_in_order(world: World, store: Store) -> None:
    """R17"""
    case = await world.case()
    texts = ['{"a": 1 }', "", " \n\t", "ünï🎉", "x" * 100_000]
    await store.write(add_turn, world.now, case.id, *texts)
    kept = await store.read(transcript.between, case.id, 1, None)
    assert [row.message for row in kept] == texts
    assert [row.seq for row in kept] == [1, 2, 3, 4, 5]
    assert [row.message for row in await store.read(transcript.between, case.id, 2, 3)] == texts[1:3]


async def test_a_window_is_whole_turns_and_ends_with_the_one_at_work(world: World, store: Store) -> None:
    """R19: a call and its result are never cut apart."""
    case, other = await world.case(), await world.case()
    made: list[TurnId] = []
    for name in "abc":
        made.append(await store.write(add_turn, world.now, case.id, f"{name}1", f"{name}2"))
        await store.write(add_turn, world.now, other.id, "of another case")
    assert await texts_in_window(store, case.id, made[2], 1) == ["c1", "c2"]
    assert await texts_in_window(store, case.id, made[2], 2) == ["b1", "b2", "c1", "c2"]
    assert await texts_in_window(store, case.id, made[2], 99) == ["a1", "a2", "b1", "b2", "c1", "c2"]


async def test_a_new_turn_without_messages_sees_those_before_it(world: World, store: Store) -> None:
    case = await world.case()
    await store.write(add_turn, world.now, case.id, "a1")
    empty = await store.write(add_turn, world.now, case.id)
    assert await texts_in_window(store, case.id, empty, 2) == ["a1"]
    assert await texts_in_window(store, case.id, empty, 1) == []


async def test_the_newest_message_is_found(world: World, store: Store) -> None:
    case = await world.case()
    assert await store.read(transcript.newest, case.id) is None
    await store.write(add_turn, world.now, case.id, "a1", "a2")
    newest = await store.read(transcript.newest, case.id)
    assert newest is not None
    assert newest.message == "a2"


async def test_no_raw_message_takes_the_place_of_another(world: World, store: Store) -> None:
    case = await world.case()
    turn_id = await store.write(add_turn, world.now, case.id, "a1")
    with pytest.raises(ConstraintBroken):
        await store.write(
            Tx.run,
            "INSERT INTO transcript (case_id, seq, turn_id, kind, message) VALUES (:c, 1, :t, 'request', 'b')",
            c=case.id, t=turn_id,
        )  # fmt: skip


async def test_the_cost_of_a_window_does_not_grow_with_the_age_of_the_case(world: World, store: Store) -> None:
    """R19"""
    case = await world.case()

    def live_long(tx: Tx) -> None:
        for _ in range(300):
            add_turn(tx, world.now, case.id, "call", "result", "answer")

    costs: list[int] = []
    for _ in range(2):
        turn_ids = [await store.write(add_turn, world.now, case.id, "a1", "a2") for _ in range(3)]
        costs.append(await effort(store, transcript.window, case.id, turn_ids[-1], 2))
        await store.write(live_long)
    assert costs[1] < 2 * costs[0]
