"""Expiry is a denial, judged by the time that is passed in, and final once it is written (R6)."""

import json
from typing import cast

import pytest

from casestore import cases, gates, principals, turns
from casestore.db import Store
from casestore.deciding import Because, Decided, NotDecided
from casestore.errors import MoveRefused
from casestore.scope import System
from casestore.states import GateKind, GateState, Role, TurnState, Verb, WaitingOn
from casestore.trail import read as read_trail
from tests.conftest import DAY, HOUR, MINUTE, SECOND, World
from tests.store.rows import everything


@pytest.mark.parametrize("late", [0, 1, DAY])
async def test_a_late_answer_is_refused_and_writes_the_expiry_though_nobody_swept(
    world: World, store: Store, late: int
) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    answer = await world.decide(asked.gate, world.people.kim, now=world.now + HOUR + late)
    gate = await world.gate(asked.gate.id)
    assert answer == NotDecided(Because.EXPIRED, gate)
    assert (gate.state, gate.decided_by, gate.decided_at) == (GateState.EXPIRED, None, world.now + HOUR + late)


@pytest.mark.parametrize(
    ("digest", "verb"), [("f" * 64, Verb.APPROVE), ("f", Verb.APPROVE), (None, Verb.RERUN), (None, Verb.DENY)]
)
async def test_a_late_answer_writes_the_expiry_whatever_else_is_wrong_with_it(
    world: World, digest: str | None, verb: Verb
) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    for who in (world.people.kim, world.people.you):
        answer = await world.decide(asked.gate, who, verb, now=world.now + HOUR, digest=digest)
        assert isinstance(answer, NotDecided)
        assert answer.because is Because.EXPIRED
    assert (await world.gate(asked.gate.id)).state is GateState.EXPIRED


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DENY])
async def test_what_was_decided_in_time_is_not_undone_by_who_comes_after_the_expiry(
    world: World, store: Store, verb: Verb
) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    await world.decide(asked.gate, world.people.kim, verb)
    decided = await world.gate(asked.gate.id)
    answer = await world.decide(asked.gate, world.people.operator, now=world.now + DAY)
    assert answer == NotDecided(Because.ALREADY_DECIDED, decided)
    assert await store.write(gates.expire_due, world.now + DAY) == []
    assert await world.gate(asked.gate.id) == decided


async def test_the_last_moment_before_the_expiry_still_counts(world: World) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    assert isinstance(await world.decide(asked.gate, world.people.kim, now=world.now + HOUR - 1), Decided)


async def test_a_clock_that_is_moved_back_does_not_bring_an_expired_gate_back(world: World, store: Store) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    await store.write(gates.expire_due, world.now + HOUR)
    before = await store.read(everything)
    for now in (world.now, world.now - DAY):
        answer = await world.decide(asked.gate, world.people.kim, now=now)
        assert isinstance(answer, NotDecided)
        assert answer.because is Because.EXPIRED
    assert await store.read(everything) == before


async def test_an_expiry_is_a_denial_that_nobody_gave(world: World, store: Store) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    await store.write(gates.expire_due, world.now + HOUR)
    turn, case = await store.read(turns.by_id, asked.turn.id), await store.read(cases.by_id, asked.case.id)
    assert (turn.state, case.waiting_on) == (TurnState.QUEUED, WaitingOn.NOBODY)
    entry = (await store.read(read_trail, System(), asked.case.id))[-1]
    meta = cast("dict[str, object]", json.loads(entry.meta))
    assert (entry.kind, entry.actor, entry.at) == ("gate.expired", "engine", world.now + HOUR)
    assert meta == {"gate": asked.gate.id, "expires_at": world.now + HOUR}


async def test_a_sweep_ends_those_whose_time_has_come_and_only_those(world: World, store: Store) -> None:
    due = [await world.ask(expires_at=world.now + n) for n in (HOUR, MINUTE)]
    open_still = await world.ask(expires_at=world.now + HOUR + 1)
    decided = await world.ask(expires_at=world.now + MINUTE)
    await world.decide(decided.gate, world.people.kim)
    ended = await store.write(gates.expire_due, world.now + HOUR)
    assert [gate.id for gate in ended] == [due[1].gate.id, due[0].gate.id]
    assert {gate.state for gate in ended} == {GateState.EXPIRED}
    assert (await world.gate(open_still.gate.id)).state is GateState.OPEN
    assert (await world.gate(decided.gate.id)).state is GateState.APPROVED
    assert await store.write(gates.expire_due, world.now + HOUR) == []


async def test_a_sweep_takes_as_many_as_it_is_told_and_the_next_one_the_rest(world: World, store: Store) -> None:
    for _ in range(3):
        await world.ask(expires_at=world.now + HOUR)
    assert len(await store.write(gates.expire_due, world.now + HOUR, 2)) == 2
    assert len(await store.write(gates.expire_due, world.now + HOUR, 2)) == 1


async def test_an_unanswered_question_about_an_outcome_expires_like_any_other(world: World, store: Store) -> None:
    asked = await world.ask(kind=GateKind.OUTCOME, expires_at=world.now + HOUR)
    assert [gate.id for gate in await store.write(gates.expire_due, world.now + HOUR)] == [asked.gate.id]


async def test_each_reminder_comes_once(world: World, store: Store) -> None:
    asked = await world.ask(expires_at=world.now + 10 * HOUR, reminders=[world.now + 5 * HOUR, world.now + 8 * HOUR])
    reminded = [
        (at, [gate.id for gate in await store.write(gates.to_remind, world.now + at * HOUR)]) for at in range(12)
    ]  # fmt: skip
    assert [at for at, found in reminded if found] == [5, 8]
    assert [found for _, found in reminded if found] == [[asked.gate.id]] * 2


async def test_after_a_jump_of_the_clock_the_reminders_that_passed_come_as_one(world: World, store: Store) -> None:
    await world.ask(reminders=[world.now + n * HOUR for n in (1, 2, 3, 20)])
    assert len(await store.write(gates.to_remind, world.now + 10 * HOUR)) == 1
    assert await store.write(gates.to_remind, world.now + 10 * HOUR) == []
    assert await store.write(gates.to_remind, world.now - DAY) == []
    assert await store.write(gates.to_remind, world.now + 11 * HOUR) == []
    assert len(await store.write(gates.to_remind, world.now + 20 * HOUR)) == 1


async def test_nobody_is_reminded_of_what_is_decided_or_expired(world: World, store: Store) -> None:
    decided = await world.ask(reminders=[world.now + HOUR])
    await world.decide(decided.gate, world.people.kim)
    await world.ask(expires_at=world.now + HOUR, reminders=[world.now + MINUTE])
    assert await store.write(gates.to_remind, world.now + HOUR) == []


async def test_an_expiry_can_be_moved_away_before_it_passes(world: World, store: Store) -> None:
    asked = await world.ask(expires_at=world.now + HOUR, reminders=[world.now + MINUTE])
    assert len(await store.write(gates.to_remind, world.now + MINUTE)) == 1
    later = [world.now + 2 * HOUR]
    gate = await store.write(
        gates.extend, world.now + HOUR - 1, asked.gate, world.people.kim, expires_at=world.now + DAY, reminders=later
    )  # fmt: skip
    assert (gate.expires_at, gate.reminders, gate.remind_at) == (world.now + DAY, later, later[0])
    assert "gate.extended" in await world.trail_kinds(asked.case.id)
    assert await store.write(gates.expire_due, world.now + HOUR) == []
    assert len(await store.write(gates.to_remind, world.now + 2 * HOUR)) == 1
    assert isinstance(await world.decide(gate, world.people.kim, now=world.now + DAY - SECOND), Decided)


@pytest.mark.parametrize(("at", "until"), [(HOUR, DAY), (0, HOUR), (0, MINUTE)])
async def test_an_expiry_is_not_moved_once_it_has_passed_nor_nearer(
    world: World, store: Store, at: int, until: int
) -> None:
    asked = await world.ask(expires_at=world.now + HOUR)
    with pytest.raises(MoveRefused):
        await store.write(
            gates.extend, world.now + at, asked.gate, world.people.kim, expires_at=world.now + until, reminders=()
        )  # fmt: skip
    assert await world.gate(asked.gate.id) == asked.gate


async def test_only_one_who_may_decide_moves_the_expiry(world: World, store: Store) -> None:
    asked = await world.ask(roles=[Role.OPERATOR], expires_at=world.now + HOUR)
    with pytest.raises(MoveRefused, match="may decide"):
        await store.write(
            gates.extend, world.now, asked.gate, world.people.you, expires_at=world.now + DAY, reminders=()
        )  # fmt: skip


async def test_somebody_who_has_left_does_not_move_the_expiry(world: World, store: Store) -> None:
    asked = await world.ask(roles=[Role.OPERATOR], expires_at=world.now + HOUR)
    kim = world.people.kim
    await store.write(principals.revoke, world.now, kim.id, revoked_by=world.people.operator.id)
    with pytest.raises(MoveRefused, match="may decide"):
        await store.write(gates.extend, world.now, asked.gate, kim, expires_at=world.now + DAY, reminders=())
    assert await world.gate(asked.gate.id) == asked.gate


async def test_somebody_of_another_tenant_does_not_move_the_expiry(world: World, store: Store) -> None:
    """R21: whatever scope they come with."""
    asked = await world.ask(roles=[Role.OPERATOR], expires_at=world.now + HOUR)
    stranger = await store.write(principals.add, world.now, tenant="elsewhere", name="stranger", role=Role.OPERATOR)
    with pytest.raises(MoveRefused, match="may decide"):
        await store.write(gates.extend, world.now, asked.gate, stranger, expires_at=world.now + DAY, reminders=())
    assert await world.gate(asked.gate.id) == asked.gate


async def test_of_what_is_decided_the_expiry_is_not_moved(world: World, store: Store) -> None:
    """R6: what is written stays as it was."""
    asked = await world.ask(roles=[Role.OPERATOR], expires_at=world.now + HOUR)
    decided = await world.decide(asked.gate, world.people.kim)
    assert isinstance(decided, Decided)
    with pytest.raises(MoveRefused):
        await store.write(
            gates.extend, world.now, decided.gate, world.people.kim, expires_at=world.now + DAY, reminders=()
        )  # fmt: skip
    assert await world.gate(asked.gate.id) == decided.gate
