"""Deciding: one conditional UPDATE that checks everything together, and one function for every surface (R5)."""

from collections.abc import Sequence

import pytest

from casestore import cases, deciding, messages, principals, steps, trail, turns
from casestore.canonical import call_digest
from casestore.db import Store
from casestore.deciding import SHORTEST_DIGEST, Because, Decided, Decision, NotDecided
from casestore.errors import NotFound
from casestore.messages import Said, text_body
from casestore.models import GateId, Principal
from casestore.scope import Own, System, Tenant
from casestore.states import GateKind, GateState, Origin, Provenance, Role, TurnState, Verb, WaitingOn
from tests.conftest import MINUTE, RESTART, WORKER, World, finish_response
from tests.store.rows import everything

OUTCOMES = {
    Verb.APPROVE: GateState.APPROVED,
    Verb.DENY: GateState.DENIED,
    Verb.REVISE: GateState.DENIED,
    Verb.HAPPENED: GateState.APPROVED,
    Verb.NOT_HAPPENED: GateState.APPROVED,
    Verb.RERUN: GateState.APPROVED,
}
ANSWERS = {
    GateKind.APPROVAL: {Verb.APPROVE, Verb.DENY, Verb.REVISE},
    GateKind.CONSENT: {Verb.APPROVE, Verb.DENY},
    GateKind.OUTCOME: {Verb.HAPPENED, Verb.NOT_HAPPENED, Verb.RERUN},
}
EACH = [(kind, verb) for kind in GateKind for verb in Verb]


async def add(world: World, name: str, role: Role, tenant: str = "local") -> Principal:
    return await world.store.write(principals.add, world.now, tenant=tenant, name=name, role=role)


@pytest.mark.parametrize(("kind", "verb"), EACH)
async def test_each_kind_of_gate_has_its_own_verbs(world: World, kind: GateKind, verb: Verb) -> None:
    roles = [Role.REQUESTER] if kind is GateKind.CONSENT else [Role.OPERATOR]
    asked = await world.ask(kind=kind, roles=roles)
    answer = await world.decide(asked.gate, world.people.you if kind is GateKind.CONSENT else world.people.kim, verb)
    if verb in ANSWERS[kind]:
        assert isinstance(answer, Decided)
        assert (answer.gate.state, answer.gate.verb) == (OUTCOMES[verb], verb)
    else:
        assert answer == NotDecided(Because.WRONG_VERB, asked.gate)


async def test_a_decision_says_who_when_where_and_why(world: World, store: Store) -> None:
    """R16, R18"""
    asked = await world.ask()
    answer = await world.decide(asked.gate, world.people.kim, Verb.REVISE, now=world.now + MINUTE, reason="not nginx")
    gate = await world.gate(asked.gate.id)
    assert answer == Decided(gate)
    assert (gate.decided_by, gate.decided_at, gate.decided_via, gate.reason) == (
        world.people.kim.id, world.now + MINUTE, "web", "not nginx",
    )  # fmt: skip
    entry = (await store.read(trail.read, System(), asked.case.id))[-1]
    assert (entry.kind, entry.actor, entry.at) == (
        "gate.denied",
        principals.actor(world.people.kim),
        world.now + MINUTE,
    )
    assert trail.content_of(entry) == {"reason": "not nginx"}


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DENY])
async def test_a_decision_lets_the_turn_go_on_and_makes_no_call(world: World, store: Store, verb: Verb) -> None:
    """R7, R9: spending is separate."""
    asked = await world.ask()
    await world.decide(asked.gate, world.people.kim, verb)
    turn, case = await store.read(turns.by_id, asked.turn.id), await store.read(cases.by_id, asked.case.id)
    assert (turn.state, case.waiting_on) == (TurnState.QUEUED, WaitingOn.NOBODY)
    assert await store.read(steps.by_id, asked.step.id) == asked.step


async def test_the_second_answer_hears_who_was_first_and_changes_nothing(world: World, store: Store) -> None:
    asked = await world.ask()
    await world.decide(asked.gate, world.people.kim, Verb.DENY)
    before = await store.read(everything)
    for who, verb in ((world.people.operator, Verb.APPROVE), (world.people.kim, Verb.APPROVE)):
        answer = await world.decide(asked.gate, who, verb, now=world.now + MINUTE)
        assert isinstance(answer, NotDecided)
        assert (answer.because, answer.gate.decided_by) == (Because.ALREADY_DECIDED, world.people.kim.id)
        assert (answer.gate.decided_at, answer.gate.state) == (world.now, GateState.DENIED)
    assert await store.read(everything) == before


async def test_whoever_comes_late_hears_that_it_is_decided_whatever_they_hold(world: World) -> None:
    asked = await world.ask()
    await world.decide(asked.gate, world.people.kim)
    for digest, verb in (("f" * 64, Verb.APPROVE), ("f", Verb.APPROVE), (asked.gate.digest_shown, Verb.RERUN)):
        answer = await world.decide(asked.gate, world.people.operator, verb, digest=digest)
        assert isinstance(answer, NotDecided)
        assert answer.because is Because.ALREADY_DECIDED


@pytest.mark.parametrize(
    ("roles", "allowed"),
    [
        ([Role.OPERATOR], {"kim", "operator"}),
        ([Role.ADMIN], {"operator"}),
        ([Role.REQUESTER], {"you", "guest"}),
        ([Role.REQUESTER, Role.OPERATOR], {"you", "guest", "kim", "operator"}),
    ],
)
async def test_only_the_roles_of_the_gate_decide_it(world: World, roles: Sequence[Role], allowed: set[str]) -> None:
    everybody = [world.people.operator, world.people.kim, world.people.you, await add(world, "guest", Role.REQUESTER)]
    await world.ask(roles=list(Role), four_eyes=False)  # what may be decided elsewhere counts for nothing
    for who in everybody:
        asked = await world.ask(roles=roles, four_eyes=False)
        answer = await world.decide(asked.gate, who)
        if who.name in allowed:
            assert isinstance(answer, Decided)
        else:
            assert answer == NotDecided(Because.NOT_ALLOWED, asked.gate)


async def test_with_four_eyes_neither_the_requester_nor_whom_it_acts_for_decides(world: World) -> None:
    rita = await add(world, "rita", Role.OPERATOR)
    case = await world.case(requester=rita)
    asked = await world.ask(await world.working(case=case, by=world.people.kim))
    assert asked.gate.asked_for == world.people.kim.id
    for who in (rita, world.people.kim):
        assert await world.decide(asked.gate, who) == NotDecided(Because.OWN_REQUEST, asked.gate)
        assert await world.decide(asked.gate, who, Verb.DENY) == NotDecided(Because.OWN_REQUEST, asked.gate)
    assert isinstance(await world.decide(asked.gate, world.people.operator), Decided)


async def test_with_four_eyes_whoever_it_was_asked_for_says_what_happened_and_does_not_have_it_run_again(
    world: World,
) -> None:
    """R5: "run it again" lets an effect be made, like an approval; whether it happened is a fact."""
    rita = await add(world, "rita", Role.OPERATOR)
    for verb in (Verb.HAPPENED, Verb.NOT_HAPPENED):
        asked = await world.ask(await world.working(by=world.people.kim, case=await world.case(requester=rita)),
                                kind=GateKind.OUTCOME)  # fmt: skip
        for who in (rita, world.people.kim):
            assert await world.decide(asked.gate, who, Verb.RERUN) == NotDecided(Because.OWN_REQUEST, asked.gate)
        assert isinstance(await world.decide(asked.gate, rita, verb), Decided)
    asked = await world.ask(await world.working(by=world.people.kim), kind=GateKind.OUTCOME)
    assert isinstance(await world.decide(asked.gate, world.people.operator, Verb.RERUN), Decided)
    asked = await world.ask(await world.working(by=world.people.kim), kind=GateKind.OUTCOME, four_eyes=False)
    assert isinstance(await world.decide(asked.gate, world.people.kim, Verb.RERUN), Decided)


async def test_without_four_eyes_an_operator_approves_what_was_asked_for_them(world: World) -> None:
    asked = await world.ask(await world.working(by=world.people.kim), four_eyes=False)
    assert isinstance(await world.decide(asked.gate, world.people.kim), Decided)


@pytest.mark.parametrize("somebody_spoke", [False, True])
async def test_an_alert_nobody_asked_for_is_decided_by_any_operator_but_the_one_who_spoke_first(
    world: World, store: Store, somebody_spoke: bool
) -> None:
    opening = cases.Opening(tenant="local", title="disk full", origin=Origin.ALERT)
    case = await store.write(cases.open_case, world.now, opening, actor="alert")
    alert = Said(Provenance.ALERT, text_body("disk full"))
    await store.write(messages.receive, world.now, case.id, alert)
    if somebody_spoke:
        for who in (world.people.kim, world.people.you):
            await world.say(case, by=who)
    begun = await store.write(turns.begin, world.now, case.id, WORKER)
    assert begun is not None
    asked = await world.ask(await store.write(finish_response, world.now, begun, [RESTART]))
    assert asked.gate.asked_for == (world.people.kim.id if somebody_spoke else None)
    if somebody_spoke:
        assert await world.decide(asked.gate, world.people.kim) == NotDecided(Because.OWN_REQUEST, asked.gate)
        assert isinstance(await world.decide(asked.gate, world.people.operator), Decided)
    else:
        assert isinstance(await world.decide(asked.gate, world.people.kim), Decided)


async def test_consent_is_given_by_the_requester_and_nobody_on_their_behalf(world: World) -> None:
    everybody = [Role.REQUESTER, Role.OPERATOR, Role.ADMIN]
    asked = await world.ask(kind=GateKind.CONSENT, roles=everybody)
    guest = await add(world, "guest", Role.REQUESTER)
    for who in (world.people.kim, world.people.operator, guest):
        assert await world.decide(asked.gate, who) == NotDecided(Because.ONLY_REQUESTER, asked.gate)
    assert isinstance(await world.decide(asked.gate, world.people.you), Decided)


async def test_an_operator_of_another_tenant_is_not_allowed_whatever_scope_they_come_with(world: World) -> None:
    """R21"""
    stranger = await add(world, "stranger", Role.ADMIN, tenant="elsewhere")
    asked = await world.ask(four_eyes=False)
    assert await world.decide(asked.gate, stranger) == NotDecided(Because.NOT_ALLOWED, asked.gate)


@pytest.mark.parametrize("known", [True, False])
async def test_one_who_is_revoked_is_not_allowed_even_where_the_surface_has_not_heard(
    world: World, store: Store, known: bool
) -> None:
    asked = await world.ask()
    revoked = await store.write(
        principals.revoke, world.now, world.people.kim.id, revoked_by=world.people.operator.id
    )  # fmt: skip
    answer = await world.decide(asked.gate, revoked if known else world.people.kim)
    assert answer == NotDecided(Because.NOT_ALLOWED, asked.gate)


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DENY])
async def test_an_answer_to_something_else_than_what_was_shown_is_stale(world: World, verb: Verb) -> None:
    asked = await world.ask()
    shown = asked.gate.digest_shown
    for digest in ("0" * 64, shown[:-1] + "x", shown + "0", shown.upper(), shown[1:], shown[:SHORTEST_DIGEST] + "%"):
        assert await world.decide(asked.gate, world.people.kim, verb, digest=digest) == NotDecided(
            Because.STALE, asked.gate
        )  # fmt: skip


async def test_the_first_characters_of_the_digest_are_enough_when_they_are_eight(world: World) -> None:
    asked = await world.ask()
    for length in (0, 1, 7):
        answer = await world.decide(asked.gate, world.people.kim, digest=asked.gate.digest_shown[:length])
        assert answer == NotDecided(Because.STALE, asked.gate)
    answer = await world.decide(asked.gate, world.people.kim, digest=asked.gate.digest_shown[:8])
    assert isinstance(answer, Decided)


async def test_no_refusal_leaves_a_mark_on_a_gate_that_is_still_open(world: World, store: Store) -> None:
    asked = await world.ask()
    before = await store.read(everything)
    await world.decide(asked.gate, world.people.you)
    await world.decide(asked.gate, world.people.kim, digest="0" * 64)
    await world.decide(asked.gate, world.people.kim, Verb.HAPPENED)
    assert await store.read(everything) == before


async def test_changed_arguments_are_kept_beside_those_asked_and_are_what_may_run(world: World, store: Store) -> None:
    asked = await world.ask()
    changed = '{"service":"caddy"}'
    answer = await world.decide(asked.gate, world.people.kim, changed_args=changed)
    assert isinstance(answer, Decided)
    gate = answer.gate
    assert (gate.args, gate.changed_args, gate.digest_shown) == (asked.gate.args, changed, asked.gate.digest_shown)
    assert gate.digest_run == call_digest(gate.step_id, gate.tool, gate.tool_version, changed)
    entry = (await store.read(trail.read, System(), asked.case.id))[-1]
    assert trail.content_of(entry) == {"changed_args": changed}


async def test_a_gate_outside_the_scope_answers_like_one_that_does_not_exist(world: World, store: Store) -> None:
    """R21"""
    asked = await world.ask()
    decision = Decision(Verb.APPROVE, asked.gate.digest_shown, "web")
    said: set[str] = set()
    for scope, gate_id in (
        (Tenant("elsewhere"), asked.gate.id), (Tenant("LOCAL"), asked.gate.id), (System(), GateId(999)),
        (Own("local", world.people.kim.id), asked.gate.id),
    ):  # fmt: skip
        with pytest.raises(NotFound) as error:
            await store.write(deciding.decide, world.now, scope, gate_id, world.people.kim, decision)
        said.add(str(error.value).replace(str(gate_id), "N"))
    assert len(said) == 1
    assert (await world.gate(asked.gate.id)).state is GateState.OPEN
