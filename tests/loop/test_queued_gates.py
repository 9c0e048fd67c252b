"""Several calls in one response, some of which only a person may let through: the durable unit is the turn (R7)."""

import asyncio

import pytest

from bot.settings import Settings
from bot.settings.sections import Gates
from casestore import gates
from casestore.models import Case
from casestore.principals import actor
from casestore.states import GateState, OnExpiry, Outcome, TurnState, Verb
from tests.loop.conftest import MakeRig
from tests.loop.ended import kinds
from tests.loop.rig import HOUR, Rig, checked
from tests.loop.scripted import calls, returned, said, says, unpaired

A = ("svc.restart", {"service": "a"})
B = ("svc.restart", {"service": "b"})
C = ("svc.restart", {"service": "c"})
LOOK = ("look", {"at": "/"})
NOTE = ("note", {"text": "x"})


async def test_the_free_call_runs_at_once_and_the_gated_ones_are_asked_one_after_another(rig: Rig) -> None:
    rig.model.then(calls(A, LOOK, B, C, text="Both are stuck."), says("All three restarted."))

    case = await rig.say("Everything hangs")
    await rig.work()
    for service in "abc":
        assert (await rig.gate(case)).statement == f'Restart "{service}"'
        assert rig.effects.count("svc.restart") == 0
        await rig.decide(case)
        await rig.work()
        assert rig.effects.made[-1] == f"restart {service}"

    assert rig.effects.made == ["look /", "restart a", "restart b", "restart c"]
    assert len(rig.model.sent) == 2
    assert returned(rig.model.sent[1]) == [
        "restart a: done", "look /: done", "restart b: done", "restart c: done"
    ]  # fmt: skip
    assert [gate.state for gate in await rig.gates(case)] == ["approved"] * 3
    assert [run.outcome for run in await rig.runs(case)] == [*[Outcome.PARKED] * 3, Outcome.ANSWERED]
    await checked(rig.store, case)


async def test_a_kill_between_two_decisions_loses_nothing_and_repeats_nothing(rig: Rig) -> None:
    rig.model.then(calls(A, LOOK, B), says("Both restarted."))

    case = await rig.say("Everything hangs")
    await rig.work()
    await rig.restart()
    await rig.decide(case)
    await rig.restart()
    await rig.work()
    assert (await rig.gate(case)).statement == 'Restart "b"'
    await rig.restart()
    await rig.decide(case)
    await rig.restart()
    await rig.work()

    assert rig.effects.made == ["look /", "restart a", "restart b"]
    assert await kinds(rig, case) == ["ok", "ok", "ok"]
    assert len(rig.model.sent) == 2
    assert unpaired(rig.model.sent[1]) == []
    assert rig.posted()[-1] == "Both restarted."


async def end_first(rig: Rig, case: Case, how: str) -> None:
    gate = await rig.gate(case)
    match how:
        case "withdraw":
            kim = rig.people["kim"]
            await rig.store.write(gates.withdraw, rig.clock.now(), gate, by=actor(kim), reason="not now", who=kim)
        case "expire":
            rig.clock.pass_by(25 * HOUR)
            await rig.store.write(gates.expire_due, rig.clock.now())
        case "take over":
            await rig.take(case)
            await rig.release(case)
        case verb:
            await rig.decide(case, Verb(verb), reason="use the other one")


@pytest.mark.parametrize(
    ("how", "first", "second"),
    [
        ("approve", "ok", "asked"),
        ("deny", "denied", "asked"),
        ("expire", "expired", "asked"),
        ("revise", "denied", "not_asked"),
        ("withdraw", "withdrawn", "not_asked"),
        ("take over", "withdrawn", "not_asked"),
    ],
)
@pytest.mark.parametrize("killed", [False, True])
async def test_what_becomes_of_the_first_says_what_becomes_of_the_second(
    rig: Rig, how: str, first: str, second: str, killed: bool
) -> None:
    rig.model.then(calls(A, LOOK, B), says("Well."))

    case = await rig.say("Everything hangs")
    await rig.work()
    await end_first(rig, case, how)
    if killed:
        await rig.restart()
    await rig.work()
    assert [gate.step_id for gate in await rig.gates(case)] == [
        step.id for step in await rig.steps(case) if step.tool == "svc.restart"
    ][: 2 if second == "asked" else 1]
    if second == "asked":
        await rig.decide(case)
        await rig.work()

    assert await kinds(rig, case) == [first, "ok", "ok" if second == "asked" else second]
    assert rig.effects.count("restart a") == (first == "ok")
    assert rig.effects.count("restart b") == (second == "asked")
    assert rig.effects.count("look") == 1
    assert len(rig.model.sent) == 2
    assert unpaired(rig.model.sent[1]) == []


async def test_the_model_hears_who_denied_and_why_in_the_engines_words(rig: Rig) -> None:
    rig.model.then(calls(A, B), says("All right."))

    case = await rig.say("Everything hangs")
    await rig.work()
    await rig.decide(case, Verb.DENY, reason="not during the sale")
    await rig.work()
    await rig.decide(case, Verb.REVISE, by="lee", reason="stop it instead")
    await rig.work()

    assert returned(rig.model.sent[1]) == [
        "denied by kim: not during the sale",
        "denied by lee, who asks for something else: stop it instead",
    ]


async def test_an_expiry_may_hand_the_case_to_an_operator_instead(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(gates=Gates(on_expiry=OnExpiry.HANDOFF)))
    rig.model.then(calls(A, B))

    case = await rig.say("Everything hangs")
    await rig.work()
    await end_first(rig, case, "expire")
    await rig.restart()
    await rig.work()

    assert await kinds(rig, case) == ["expired", "not_asked"]
    assert [run.outcome for run in await rig.runs(case)] == [Outcome.PARKED, Outcome.HANDED_OFF]
    assert (await rig.case(case)).waiting_on == "operator"
    assert rig.posted()[-1] == f"I am handing {case.label} to an operator: nobody decided on svc.restart in time."
    assert rig.effects.made == []


async def test_where_an_expiry_hands_the_case_over_a_denial_does_not(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(gates=Gates(on_expiry=OnExpiry.HANDOFF)))
    rig.model.then(calls(A), says("Then I leave it."))

    case = await rig.say("Everything hangs")
    await rig.work()
    await rig.decide(case, Verb.DENY)
    await rig.work()

    assert [run.outcome for run in await rig.runs(case)] == [Outcome.PARKED, Outcome.ANSWERED]
    assert rig.posted()[-1] == "Then I leave it."


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DENY])
async def test_a_routine_call_behind_a_gated_one_waits_for_it(rig: Rig, verb: Verb) -> None:
    rig.model.then(calls(NOTE, A, ("note", {"text": "y"}), LOOK), says("Done."))

    case = await rig.say("Everything hangs")
    await rig.work()
    assert sorted(rig.effects.made) == ["look /", "note x"]
    await rig.decide(case, verb)
    await rig.work()

    done = ["restart a"] if verb is Verb.APPROVE else []
    assert rig.effects.made[2:] == [*done, "note y"]
    assert returned(rig.model.sent[1])[2] == "note y: done"


async def test_effects_of_one_response_happen_one_after_another_in_its_order(rig: Rig) -> None:
    rig.model.then(calls(("note", {"text": "1"}), ("note", {"text": "2"}), ("note", {"text": "3"})), says("Done."))
    first = rig.effects.hold("note")

    case = await rig.say("Write it down")
    working = rig.start(rig.conductor.work(case.id))
    await first.reached.wait()
    assert rig.effects.made == ["note 1"]
    first.release.set()
    await working

    assert rig.effects.made == ["note 1", "note 2", "note 3"]


async def test_results_that_come_in_another_order_reach_each_its_own_call(rig: Rig) -> None:
    rig.model.then(calls(("look", {"at": "/slow"}), ("look", {"at": "/quick"})), says("Done."))
    slow = rig.effects.hold("look")
    rig.effects.answer("look", "the quick one's", "the slow one's")

    case = await rig.say("Look")
    working = rig.start(rig.conductor.work(case.id))
    await slow.reached.wait()
    while (await rig.steps(case))[1].state != "finished":  # noqa: ASYNC110 - nothing says so but the store
        await asyncio.sleep(0)
    slow.release.set()
    await working

    assert returned(rig.model.sent[1]) == ["the slow one's", "the quick one's"]


async def test_a_message_while_a_gate_is_open_executes_nothing_and_is_in_view_when_the_turn_goes_on(rig: Rig) -> None:
    rig.model.then(calls(A, text="I shall restart it."), says("Restarted, as you wished."))

    case = await rig.say("It hangs")
    await rig.work()
    await rig.say("yes, approve it, go ahead")
    await rig.say("hello?")
    await rig.work()

    assert (rig.effects.made, len(rig.model.sent)) == ([], 1)
    assert (await rig.turns(case))[0].state is TurnState.PARKED
    (waiting,) = [text for text in rig.posted() if "is stored" in text]
    assert f"Your message is stored in {case.label}. It waits for an operator, not the requester to decide" in waiting
    assert "until" in waiting
    assert waiting.endswith(': Restart "a"')

    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == ["restart a"]
    (resumed,) = rig.model.sent[1:]
    assert [part.part_kind for part in resumed[-1].parts] == ["tool-return", "user-prompt", "user-prompt"]
    assert said(resumed)[1:] == ["ann (requester): yes, approve it, go ahead", "ann (requester): hello?"]
    assert len(await rig.turns(case)) == 1


async def test_the_decision_that_is_sent_twice_executes_once(rig: Rig) -> None:
    rig.model.then(calls(A), says("Restarted."))

    case = await rig.say("It hangs")
    await rig.work()
    gate = await rig.gate(case)
    first = await rig.decide(case, gate=gate)
    again = await rig.decide(case, gate=gate)
    await asyncio.gather(rig.conductor.work(case.id), rig.conductor.work(case.id))
    late = await rig.decide(case, Verb.DENY, by="lee", gate=gate)
    await rig.work()

    assert (first.taken, again.taken, late.taken) == (True, False, False)
    assert "already decided: Approved by kim via the command line" in again.text
    assert rig.effects.made == ["restart a"]


async def test_nothing_that_waits_is_dropped_when_the_case_is_resolved_in_the_same_breath(rig: Rig) -> None:
    rig.model.then(calls(("case.resolve", {"note": "done"}), A, B, NOTE), says("It is resolved."))

    case = await rig.say("It hangs")
    await rig.work()

    assert await kinds(rig, case) == ["ok", "not_asked", "not_asked", "ok"]
    assert rig.effects.made == ["note x"]
    assert (await rig.case(case)).state == "resolved"
    assert await rig.gates(case) == []
    assert unpaired(rig.model.sent[1]) == []


async def test_a_case_closed_while_its_calls_wait_leaves_no_call_without_a_result(rig: Rig) -> None:
    rig.model.then(calls(A, B, NOTE))

    case = await rig.say("It hangs")
    await rig.work()
    await rig.close(case)
    await rig.work()

    assert await kinds(rig, case) == ["withdrawn", "not_asked", "not_asked"]
    assert [gate.state for gate in await rig.gates(case)] == [GateState.WITHDRAWN]
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    assert rig.effects.made == []


async def test_a_case_resolved_by_hand_while_its_calls_wait_goes_on_with_the_next_message(rig: Rig) -> None:
    rig.model.then(calls(A, B), says("Good morning."))

    case = await rig.say("It hangs")
    await rig.work()
    await rig.resolve(case)
    await rig.say("Hello again")
    await rig.work()

    assert rig.posted()[-1] == "Good morning."
    assert returned(rig.model.sent[1]) == ["not run: the case was resolved", "not asked: the case was resolved"]
    assert unpaired(rig.model.sent[1]) == []
    assert rig.effects.made == []
