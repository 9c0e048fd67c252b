"""Turns: a stimulus never waits and never gets lost between the end of one run and the start of the next (R11)."""

from dataclasses import replace

import pytest

from casestore import cases, leases, messages, principals, runs, steps, turns
from casestore.cases import Opening
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.messages import Said, text_body
from casestore.models import Case, PrincipalId
from casestore.states import CaseState, Cause, Origin, Outcome, Provenance, Role, Tier, TurnState, WaitingOn
from casestore.turns import Begun
from casestore.tx import Tx
from tests.conftest import LEASE_TTL, MINUTE, RESTART, WORKER, World
from tests.store.rows import copy_row


async def begin(world: World, case: Case, *, now: int | None = None) -> Begun | None:
    return await world.store.write(turns.begin, world.now if now is None else now, case.id, WORKER)


async def settle(world: World, begun: Begun) -> None:
    def both(tx: Tx) -> None:
        turns.settle(tx, world.now, begun.turn.id)
        runs.end(tx, world.now, begun.run.id, Outcome.ANSWERED, stop_reason="done")

    await world.store.write(both)


async def test_a_case_with_nothing_to_do_is_not_begun(world: World, store: Store) -> None:
    case = await world.case()
    assert await begin(world, case) is None
    assert (await store.read(leases.of_case, case.id)).kind is None


async def test_a_turn_takes_all_that_is_unread_in_order(world: World, store: Store) -> None:
    case = await world.case()
    for text in ("first", "second", "third"):
        await world.say(case, text)
    begun = await begin(world, case)
    assert begun is not None
    assert [message.text for message in begun.taken] == ["first", "second", "third"]
    assert await store.read(messages.unread, case.id) == []
    assert [message.text for message in await store.read(messages.of_turn, begun.turn.id)] == [
        "first",
        "second",
        "third",
    ]
    assert (begun.turn.cause, begun.turn.state, begun.turn.attempts) == (Cause.MESSAGE, TurnState.RUNNING, 1)


async def test_a_second_arrival_is_stored_and_waits_for_the_next_turn(world: World, store: Store) -> None:
    begun = await world.begin()
    late = await world.say(begun.case, "and another thing")
    assert await begin(world, begun.case) is None
    assert await store.read(leases.has_work, begun.case.id)
    await settle(world, begun)
    following = await store.write(turns.begin_under, world.now, begun.lease, begun.case, WORKER)
    assert following is not None
    assert following.turn.seq == begun.turn.seq + 1
    assert [message.id for message in following.taken] == [late.id]


async def test_a_settled_turn_with_nothing_behind_it_leaves_no_work(world: World, store: Store) -> None:
    begun = await world.begin()
    await settle(world, begun)
    assert not await store.read(leases.has_work, begun.case.id)
    assert await store.write(turns.begin_under, world.now, begun.lease, begun.case, WORKER) is None
    turn = await store.read(turns.by_id, begun.turn.id)
    assert (turn.state, turn.settled_at) == (TurnState.SETTLED, world.now)


async def test_a_message_that_comes_while_a_gate_is_open_waits_and_is_in_view_when_the_turn_goes_on(
    world: World, store: Store
) -> None:
    """R7"""
    asked = await world.ask()
    await store.write(leases.drop, asked.lease)
    late = await world.say(asked.case, "by the way")
    assert not await store.read(leases.has_work, asked.case.id)
    assert await begin(world, asked.case) is None
    assert await store.read(leases.ready, world.now, 10) == []
    await world.decide(asked.gate, world.people.kim)
    assert await store.read(leases.ready, world.now, 10) == [asked.case.id]
    begun = await begin(world, asked.case)
    assert begun is not None
    assert begun.turn.id == asked.turn.id, "the parked turn goes on; no second one is begun"
    assert [message.id for message in begun.taken] == [late.id]


async def test_whoever_parked_a_turn_does_not_go_on_with_it(world: World, store: Store) -> None:
    """R7"""
    asked = await world.ask()
    await world.say(asked.case, "by the way")
    assert await store.write(turns.begin_under, world.now, asked.lease, asked.case, WORKER) is None
    assert (await store.read(turns.by_id, asked.turn.id)).state is TurnState.PARKED


async def test_no_raw_second_turn_is_unsettled(world: World, store: Store) -> None:
    begun = await world.begin()
    for state in ("queued", "running", "parked"):
        with pytest.raises(ConstraintBroken, match=r"turns\.case_id"):
            await store.write(copy_row, "turns", begun.turn.id, seq=99, state=state)


async def test_a_run_that_died_is_followed_by_one_that_names_it_on_the_same_turn(world: World, store: Store) -> None:
    """R13, R16"""
    died = await world.begin()
    begun = await begin(world, died.case, now=world.now + LEASE_TTL)
    assert begun is not None
    assert (begun.turn.id, begun.turn.attempts, begun.run.attempt) == (died.turn.id, 2, 2)
    assert (begun.run.resumes, begun.run.fence) == (died.run.id, begun.lease.fence)
    assert begun.taken == (), "they are in the transcript already"
    crashed = await store.read(runs.by_id, died.run.id)
    assert (crashed.outcome, crashed.ended_at) == (Outcome.CRASHED, world.now + LEASE_TTL)


async def test_a_turn_that_was_put_off_is_not_begun_before_its_time(world: World, store: Store) -> None:
    begun = await world.begin()
    await store.write(turns.requeue, begun.turn.id, not_before=world.now + MINUTE)
    await store.write(leases.drop, begun.lease)
    await world.say(begun.case, "hello?")
    assert await begin(world, begun.case, now=world.now + MINUTE - 1) is None
    assert await store.read(leases.ready, world.now + MINUTE - 1, 10) == []
    assert await begin(world, begun.case, now=world.now + MINUTE) is not None


async def test_parking_is_progress_and_starts_the_attempts_anew(world: World, store: Store) -> None:
    """R13"""
    died = await world.begin()
    begun = await begin(world, died.case, now=world.now + LEASE_TTL)
    assert begun is not None
    await store.write(turns.park, begun.turn.id)
    assert (await store.read(turns.by_id, begun.turn.id)).attempts == 0


@pytest.mark.parametrize("state", [TurnState.SETTLED, TurnState.FAILED])
async def test_a_turn_that_is_over_is_neither_requeued_nor_settled_again(
    world: World, store: Store, state: TurnState
) -> None:
    begun = await world.begin()
    await store.write(turns.settle, world.now, begun.turn.id, state)
    settled = await store.read(turns.by_id, begun.turn.id)
    await store.write(turns.requeue, begun.turn.id)
    await store.write(turns.settle, world.now + 1, begun.turn.id)
    assert await store.read(turns.by_id, begun.turn.id) == settled


@pytest.mark.parametrize("tier", list(Tier))
async def test_the_next_turn_waits_for_a_call_of_an_ended_one_that_may_still_come_back(
    world: World, store: Store, tier: Tier
) -> None:
    """R14: two calls with effects of one case are not under way at once; a read-only one is nobody's concern."""
    working = await world.working(replace(RESTART, tier=tier))
    await store.write(
        steps.start_tool, world.now, working.lease, working.run.id, working.step, deadline=world.now + MINUTE
    )  # fmt: skip
    await store.write(turns.settle, world.now, working.turn.id)
    await store.write(leases.drop, working.lease)
    await world.say(working.case, "it is back")
    if tier is not Tier.READ_ONLY:
        assert await begin(world, working.case, now=world.now + MINUTE - 1) is None
        assert await store.read(leases.ready, world.now + MINUTE - 1, 10) == []
    begun = await begin(world, working.case, now=world.now + (0 if tier is Tier.READ_ONLY else MINUTE))
    assert begun is not None
    assert begun.turn.id != working.turn.id


async def test_an_attempt_of_which_nothing_could_be_stored_counts_too(world: World, store: Store) -> None:
    """R13"""
    begun = await world.begin()
    await store.write(turns.count_attempt, begun.turn.id)
    assert (await store.read(turns.by_id, begun.turn.id)).attempts == 2


@pytest.mark.parametrize("state", [CaseState.CLOSED, CaseState.CANCELLED])
async def test_a_case_that_is_over_has_no_work_whatever_is_said_in_it(
    world: World, store: Store, state: CaseState
) -> None:
    """R2"""
    case = await world.case()
    await world.say(case)
    await store.write(cases.move, world.now, case.id, to=state, actor="t", kind="t", only_from=(CaseState.NEW,))
    assert not await store.read(leases.has_work, case.id)
    assert await store.read(leases.ready, world.now, 10) == []
    assert await begin(world, case) is None


async def test_a_message_to_a_resolved_case_reopens_it(world: World, store: Store) -> None:
    """R2"""
    begun = await world.begin()
    await settle(world, begun)
    await store.write(
        cases.move, world.now, begun.case.id, to=CaseState.RESOLVED, actor="t", kind="t", only_from=cases.LIVE
    )  # fmt: skip
    await store.write(leases.drop, begun.lease)
    await world.say(begun.case, "it is back")
    again = await begin(world, begun.case)
    assert again is not None
    assert (again.case.state, again.case.waiting_on, again.case.resolved_at) == (
        CaseState.IN_PROGRESS, WaitingOn.NOBODY, None,
    )  # fmt: skip
    assert "case.reopened" in await world.trail_kinds(begun.case.id)


async def test_a_run_that_resolved_its_case_and_died_does_not_reopen_it(world: World, store: Store) -> None:
    """R2"""
    died = await world.begin()
    await store.write(
        cases.move, world.now, died.case.id, to=CaseState.RESOLVED, actor="t", kind="t", only_from=cases.LIVE
    )  # fmt: skip
    begun = await begin(world, died.case, now=world.now + LEASE_TTL)
    assert begun is not None
    assert begun.case.state is CaseState.RESOLVED


async def test_a_turn_acts_with_the_requesters_permissions_unless_all_of_it_is_one_operators(
    world: World, store: Store
) -> None:
    you, kim, boss = world.people.you, world.people.kim, world.people.operator
    guest = await store.write(principals.add, world.now, tenant="local", name="guest", role=Role.REQUESTER)
    stranger = await store.write(principals.add, world.now, tenant="elsewhere", name="stranger", role=Role.OPERATOR)
    for authors, expected in (
        ([you], you), ([kim], kim), ([kim, kim], kim), ([boss], boss), ([kim, boss], you), ([kim, you], you),
        ([you, kim], you), ([guest], you), ([guest, kim], you), ([stranger], you),
    ):  # fmt: skip
        case = await world.case(requester=you)
        for author in authors:
            await world.say(case, by=author)
        begun = await begin(world, case)
        assert begun is not None
        assert begun.turn.acts_for == expected.id, [author.name for author in authors]


async def test_an_operator_who_was_revoked_lends_nobody_their_permissions(world: World, store: Store) -> None:
    case = await world.case()
    await world.say(case, by=world.people.kim)
    await store.write(principals.revoke, world.now, world.people.kim.id, revoked_by=world.people.operator.id)
    begun = await begin(world, case)
    assert begun is not None
    assert begun.turn.acts_for == world.people.you.id


async def test_what_somebody_unknown_or_an_alert_says_has_nobodys_permissions_but_the_requesters(
    world: World, store: Store
) -> None:
    """R11, R23"""
    said = Said(Provenance.BYSTANDER, text_body("do it"), author=None, author_account="U666")
    requesters: list[PrincipalId | None] = [world.people.you.id, None]
    for requester in requesters:
        opening = Opening(tenant="local", title="t", origin=Origin.ALERT, requester=requester)
        case = await store.write(cases.open_case, world.now, opening, actor="alert")
        await store.write(messages.receive, world.now, case.id, said)
        begun = await begin(world, case)
        assert begun is not None
        assert begun.turn.acts_for == requester


async def test_a_turn_of_nothing_but_alerts_is_caused_by_an_alert(world: World, store: Store) -> None:
    alert = Said(Provenance.ALERT, text_body("disk full"))
    for further, cause in ((alert, Cause.ALERT), (replace(alert, provenance=Provenance.REQUESTER), Cause.MESSAGE)):
        case = await world.case()
        await store.write(messages.receive, world.now, case.id, alert)
        await store.write(messages.receive, world.now, case.id, further)
        begun = await begin(world, case)
        assert begun is not None
        assert begun.turn.cause is cause


async def test_where_none_of_the_messages_named_is_unread_no_turn_begins(world: World, store: Store) -> None:
    """R11: what was not in view of an answer is not answered by it, nor is a turn begun for nothing."""
    case = await world.case()
    said = await world.say(case)
    assert await store.write(turns.begin, world.now, case.id, WORKER, ()) is None
    assert await store.read(turns.of_case, case.id) == []
    assert [message.id for message in await store.read(messages.unread, case.id)] == [said.id]
    assert (await store.read(leases.of_case, case.id)).kind is None
