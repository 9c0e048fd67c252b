"""`ready` and `has_work` differ by the lease and the delay alone: no message and no decision falls between (R11)."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casestore import asking, cases, deciding, gates, leases, messages, runs, turns
from casestore.asking import Policy
from casestore.db import Store
from casestore.deciding import Decision
from casestore.messages import Said, text_body
from casestore.models import Case
from casestore.scope import System
from casestore.states import CaseState, Cause, LeaseKind, OnExpiry, Outcome, Provenance, Role, TurnState, Verb
from casestore.turns import Begun
from casestore.tx import Tx
from tests.conftest import HOUR, LEASE_TTL, RESTART, WORKER, People, World, finish_response, question_for
from tests.store.inside import effort

ACTS = (
    "say", "say", "begin", "begin", "ask", "settle", "decide", "expire", "put off", "drop", "wait", "seize",
    "hand back", "resolve", "close", "schedule", "answer", "alert", "say at a gate", "begin",
)  # fmt: skip
ACT = st.tuples(st.sampled_from(ACTS), st.integers(0, 2 * LEASE_TTL))
AT_A_GATE = ["say", "begin", "ask"]
FIRST = st.sampled_from(
    [[], AT_A_GATE, [*AT_A_GATE, "alert"], [*AT_A_GATE, "say", "begin"], [*AT_A_GATE, "say", "begin", "put off"]]
)
"""What has happened before: most of what matters at a gate is seldom come by."""


class Play:
    """One case, and what can happen to it, in whatever order; `talks`: what is said at a gate is answered there."""

    def __init__(self, tx: Tx, case: Case, people: People, now: int, *, talks: bool) -> None:
        self.tx, self.case, self.people, self.now = tx, case, people, now
        self.talks, self.worker = talks, replace(WORKER, talks=talks)
        self.begun: Begun | None = None

    def act(self, name: str, number: int) -> None:
        tx, case, now = self.tx, self.case, self.now
        turn, row = turns.unsettled(tx, case.id), leases.of_case(tx, case.id)
        gate, state = gates.open_gate(tx, case.id), cases.by_id(tx, case.id).state
        holding = self.begun is not None and leases.holds(tx, now, self.begun.lease)
        mine = None if self.begun is None else turns.by_id(tx, self.begun.turn.id)
        running = mine if mine is not None and mine.state is TurnState.RUNNING else None
        match name:
            case "say at a gate" if gate is None:
                pass
            case "say" | "say at a gate":
                messages.receive(tx, now, case.id, Said(Provenance.REQUESTER, text_body("m"), self.people.you.id))
            case "alert":
                messages.receive(tx, now, case.id, Said(Provenance.ALERT, text_body("a")))
            case "answer":
                messages.post(tx, now, case.id, Said(Provenance.ASSISTANT, text_body("a")))
            case "begin":
                self.begun = turns.begin(tx, now, case.id, self.worker) or self.begun
            case "schedule" if turn is None and state is CaseState.NEW:
                turns.queue(tx, now, case.id, Cause.SCHEDULE)
            case "ask" if (
                holding and self.begun and running and running == turn and not gate and state is CaseState.IN_PROGRESS
            ):
                step = finish_response(tx, now, self.begun, [RESTART]).step
                policy = Policy((Role.OPERATOR,), True, OnExpiry.TELL, now + HOUR)
                asking.ask(tx, now, self.begun.lease, running.id, question_for(step, policy))
            case "settle" if holding and self.begun and running:
                for other in turns.beside(tx, running):
                    turns.settle(tx, now, other.id)
                turns.settle(tx, now, running.id)
                runs.end(tx, now, self.begun.run.id, Outcome.ANSWERED, stop_reason="done")
            case "decide" if gate:
                decision = Decision(Verb.APPROVE, gate.digest_shown, "web")
                deciding.decide(tx, now, System(), gate.id, self.people.kim, decision)
            case "expire":
                gates.expire_due(tx, now)
            case "put off" if running:
                turns.requeue(tx, running.id, not_before=now + number)
            case "drop" if self.begun:
                leases.drop(tx, self.begun.lease)
            case "seize" if row.kind is not LeaseKind.HUMAN:
                leases.seize(tx, now, case, self.people.kim)
            case "hand back" if row.kind is LeaseKind.HUMAN:
                leases.hand_back(tx, now, case, by="kim")
            case "resolve" if state is CaseState.IN_PROGRESS:
                cases.move(tx, now, case.id, to=CaseState.RESOLVED, actor="t", kind="t", only_from=(state,))
            case "close" if state is CaseState.RESOLVED and number % 5 == 0:
                cases.move(tx, now, case.id, to=CaseState.CLOSED, actor="t", kind="t", only_from=(state,))
            case _:
                self.now += number

    def check(self) -> None:
        tx, case_id = self.tx, self.case.id
        row, turn = leases.of_case(tx, case_id), turns.unsettled(tx, case_id)
        free = row.kind is None or (row.kind is LeaseKind.RUN and (row.until or 0) <= self.now)
        parked = turn is not None and turn.state is TurnState.PARKED
        first = turns.unsettled_beside(tx, case_id) if parked else turn
        delayed = first is not None and first.not_before > self.now
        works = leases.has_work(tx, case_id, talks=self.talks)
        assert (leases.ready(tx, self.now, 10, talks=self.talks) == [case_id]) == (works and free and not delayed)
        if parked:
            unanswered = first is not None or any(message.by_a_person for message in messages.unread(tx, case_id))
            assert works == (self.talks and unanswered and cases.by_id(tx, case_id).state is not CaseState.CLOSED)
        unread, over = messages.unread(tx, case_id), cases.by_id(tx, case_id).state is CaseState.CLOSED
        if unread and not over and not parked:
            assert works, "a message is never forgotten"
        if parked:
            assert gates.open_gate(tx, case_id) is not None, "what is parked waits for somebody"


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(ACT, max_size=30),
    talks=st.booleans(),
    first=FIRST,
)
async def test_a_case_is_ready_exactly_when_it_has_work_and_neither_a_holder_nor_a_delay(
    world: World, store: Store, acts: list[tuple[str, int]], talks: bool, first: list[str]
) -> None:
    def play(tx: Tx) -> None:
        playing = Play(tx, case, world.people, world.now, talks=talks)
        for name, number in [*((name, HOUR) for name in first), *acts]:
            playing.act(name, number)
            playing.check()
        raise RolledBack

    case = await world.case()
    with pytest.raises(RolledBack):
        await store.write(play)


class RolledBack(Exception):
    """What was played is not kept."""


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(ACT, max_size=15),
    talks=st.booleans(),
    first=FIRST,
)
async def test_whatever_has_work_and_is_begun_starts_a_run(
    world: World, store: Store, acts: list[tuple[str, int]], talks: bool, first: list[str]
) -> None:
    def play(tx: Tx) -> None:
        playing = Play(tx, case, world.people, world.now, talks=talks)
        for name, number in [*((name, HOUR) for name in first), *acts]:
            playing.act(name, number)
        now = playing.now
        if leases.ready(tx, now, 10, talks=talks) == [case.id]:
            assert turns.begin(tx, now, case.id, playing.worker) is not None
        else:
            assert turns.begin(tx, now, case.id, playing.worker) is None
        raise RolledBack

    case = await world.case()
    with pytest.raises(RolledBack):
        await store.write(play)


async def test_a_case_is_ready_again_at_the_moment_its_lease_has_run_out(world: World, store: Store) -> None:
    """R10: whoever had it and came no further is not waited for any longer than that."""
    begun = await world.begin()
    assert await store.read(leases.ready, world.now + LEASE_TTL - 1, 10) == []
    assert await store.read(leases.ready, world.now + LEASE_TTL, 10) == [begun.case.id]


async def test_ready_names_as_many_as_it_is_asked_for_the_oldest_first(world: World, store: Store) -> None:
    made = [await world.case() for _ in range(3)]
    for case in reversed(made):
        await world.say(case)
    assert await store.read(leases.ready, world.now, 2) == [case.id for case in made[:2]]


async def test_whoever_has_waited_longest_comes_first(world: World, store: Store) -> None:
    first, second = await world.case(), await world.case()
    await world.say(second, "since an hour")
    world.now += HOUR
    await world.say(first, "just now")
    assert await store.read(leases.ready, world.now, 10) == [second.id, first.id]
    assert await store.read(leases.ready, world.now, 1) == [second.id]


async def test_whether_there_is_work_is_known_without_reading_the_turns_of_the_past(world: World, store: Store) -> None:
    """R19"""

    def live_long(tx: Tx) -> None:
        for _ in range(300):
            turns.settle(tx, world.now, turns.queue(tx, world.now, old.id, Cause.MESSAGE).id)
            messages.receive(tx, world.now, old.id, Said(Provenance.REQUESTER, text_body("m")))
            messages.mark_read(tx, old.id, turns.of_case(tx, old.id)[0].id)

    young, old = await world.case(), await world.case()
    await store.write(live_long)
    for cost in (leases.has_work, turns.unsettled, messages.unread):
        assert await effort(store, cost, old.id) < await effort(store, cost, young.id) + 50, cost.__name__
