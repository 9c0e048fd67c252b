"""Between the decision and the effect: what is checked again when an approval is spent (R9)."""

from collections.abc import Mapping

import pytest

from bot.settings import Settings
from bot.settings.sections import Policy
from bot.tools.results import CallResult
from casestore import gates, holds, principals, trail
from casestore.canonical import decode
from casestore.errors import BadRequest
from casestore.models import Case
from casestore.scope import System
from casestore.states import GateState, Verb
from tests.loop.conftest import MakeRig
from tests.loop.rig import THREAD, Rig, checked
from tests.loop.scripted import calls, returned, says, unpaired

RESTART = ("svc.restart", {"service": "a"})
ELSEWHERE = THREAD.model_copy(update={"thread": "t2"})


async def asked(rig: Rig, *wanted: tuple[str, Mapping[str, object]], text: str = "It hangs") -> Case:
    """A case that waits for a decision."""
    rig.model.then(calls(*(wanted or (RESTART,))))
    case = await rig.say(text)
    await rig.work()
    return case


async def test_an_approval_is_not_spent_while_everything_is_frozen(rig: Rig) -> None:
    case = await asked(rig)
    rig.model.then(says("It could not be run."))
    await rig.store.write(holds.place, rig.clock.now(), tool=None, reason="audit", by=rig.people["root"].id)

    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == []
    assert returned(rig.model.sent[1]) == ["not run: it is frozen by an operator"]
    (gate,) = await rig.gates(case)
    assert (gate.state, gate.void_reason) == (GateState.VOID, "it is frozen by an operator")
    assert "not run: it is frozen by an operator" in rig.posted()[0]

    await rig.store.write(holds.lift, rig.clock.now(), tool=None, by=rig.people["root"].id)
    await rig.work()
    assert rig.effects.made == []


async def test_an_approval_of_somebody_who_has_been_revoked_since_is_asked_anew(rig: Rig) -> None:
    case = await asked(rig)
    await rig.decide(case)
    await rig.store.write(principals.revoke, rig.clock.now(), rig.people["kim"].id, revoked_by=rig.people["root"].id)
    await rig.work()

    assert rig.effects.made == []
    assert [gate.state for gate in await rig.gates(case)] == [GateState.VOID, GateState.OPEN]

    rig.model.then(says("Restarted."))
    await rig.decide(case, by="lee")
    await rig.work()
    assert rig.effects.made == ["restart a"]
    assert (await rig.gates(case))[1].decided_by == rig.people["lee"].id
    await checked(rig.store, case)


@pytest.mark.parametrize("decided_first", [True, False])
async def test_a_call_of_a_tool_that_is_defined_otherwise_by_now_is_asked_anew(rig: Rig, decided_first: bool) -> None:
    case = await asked(rig)
    if decided_first:
        await rig.decide(case)
    rig.tools["svc.restart"] = rig.tools["svc.restart"].with_settings(effect_key="restart:{service}")
    await rig.restart()
    if not decided_first:
        await rig.decide(case)
    await rig.work()

    assert rig.effects.made == []
    void, anew = await rig.gates(case)
    assert (void.state, void.void_reason) == ("void", "the tool's definition has changed since it was shown")
    assert (anew.state, anew.tool_version) == ("open", rig.tools["svc.restart"].version)
    assert anew.digest_shown != void.digest_shown

    rig.model.then(says("Restarted."))
    await rig.decide(case)
    await rig.work()
    assert rig.effects.made == ["restart a"]


async def test_a_call_of_a_tool_that_is_gone_by_now_is_not_made_and_its_approval_is_void(rig: Rig) -> None:
    case = await asked(rig)
    await rig.decide(case)
    del rig.tools["svc.restart"]
    await rig.restart()
    rig.model.then(says("I cannot do that here."))
    await rig.work()

    assert [gate.state for gate in await rig.gates(case)] == [GateState.VOID]
    (step,) = await rig.steps(case)
    assert CallResult.load(step.result or "").kind == "invalid"
    assert unpaired(rig.model.sent[1]) == []


async def test_arguments_that_the_approver_changed_are_what_runs_and_both_are_on_record(rig: Rig) -> None:
    case = await asked(rig, ("wipe", {"place": "/cache", "depth": 9}))
    rig.model.then(says("Wiped."))
    await rig.decide(case, changes={"depth": 2})
    await rig.work()

    assert rig.effects.made == ["wipe /cache 2"]
    (gate,) = await rig.gates(case)
    assert (decode(gate.args)["depth"], decode(gate.changed_args or "{}")["depth"]) == (9, 2)
    assert gate.digest_run not in (None, gate.digest_shown)
    (step,) = await rig.steps(case)
    assert decode(step.args or "{}") == {"place": "/cache", "depth": 2}
    told = [entry for entry in await rig.store.read(trail.read, System(), case.id) if entry.kind == "gate.approved"]
    assert "changed_args" in (told[0].content or "")
    assert "depth  2   (was: 9)" in rig.posted()[0]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"place": "/"}, "wipe does not let an approver change place; it lets change: depth."),
        ({"depth": "deep"}, "wipe cannot be called like that"),
    ],
)
async def test_an_approver_changes_nothing_but_what_the_tool_lets_them(
    rig: Rig, changes: dict[str, object], why: str
) -> None:
    case = await asked(rig, ("wipe", {"place": "/cache", "depth": 9}))

    with pytest.raises(BadRequest, match=why.replace(".", r"\.")):
        await rig.decide(case, changes=changes)
    assert (await rig.gate(case)).state is GateState.OPEN


async def test_an_approver_cannot_turn_one_effect_into_another(rig: Rig) -> None:
    """The effect key would name one order and the money go to another."""
    case = await asked(rig, ("refund", {"order": 7, "amount": 50}))

    with pytest.raises(BadRequest, match="would be about something else"):
        await rig.decide(case, changes={"order": 8})
    await rig.decide(case, changes={"amount": 40})
    rig.model.then(says("Paid."))
    await rig.work()
    assert rig.effects.made == ["refund 7 40"]


async def test_the_same_effect_in_another_case_is_asked_naming_the_first(make_rig: MakeRig) -> None:
    """Also where policy lets such calls run freely."""
    rig = await make_rig(settings=Settings(policy=Policy(consequential="free")))
    rig.model.then(calls(("refund", {"order": 7, "amount": 50})), says("Paid."))
    first = await rig.say("My money, please")
    await rig.work()
    rig.model.then(calls(("refund", {"order": 7, "amount": 30})))
    second = await rig.say("And the rest", by="ben", at=ELSEWHERE)
    await rig.work()

    assert rig.effects.made == ["refund 7 50"]
    gate = await rig.gate(second)
    assert gate.earlier_step == (await rig.steps(first))[0].id
    (card,) = rig.posted(ELSEWHERE)
    assert "the same effect was started" in card
    assert first.label in card

    rig.model.then(says("That too."))
    await rig.decide(second)
    await rig.work()
    assert rig.effects.made == ["refund 7 50", "refund 7 30"]
    assert [(await rig.steps(case))[0].effect_nth for case in (first, second)] == [0, 1]


async def test_of_two_approvals_of_one_effect_only_the_first_to_be_spent_runs(rig: Rig) -> None:
    first = await asked(rig, ("refund", {"order": 7, "amount": 50}))
    rig.model.then(calls(("refund", {"order": 7, "amount": 50})))
    second = await rig.say("Me too", by="ben", at=ELSEWHERE)
    await rig.work()
    assert [(await rig.gate(case)).earlier_step for case in (first, second)] == [None, None]

    rig.model.then(says("Paid."))
    await rig.decide(first)
    await rig.decide(second)
    await rig.conductor.work(first.id)
    await rig.conductor.work(second.id)

    assert rig.effects.made == ["refund 7 50"]
    void, anew = await rig.gates(second)
    assert (void.state, void.void_reason) == ("void", "the same effect was started elsewhere since it was shown")
    assert (anew.state, anew.earlier_step) == ("open", (await rig.steps(first))[0].id)

    rig.model.then(says("So be it."))
    await rig.decide(second, Verb.DENY)
    await rig.work()
    assert rig.effects.made == ["refund 7 50"]


async def test_the_same_effect_twice_in_one_response_is_asked_the_second_time(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(policy=Policy(consequential="free")))
    again = ("refund", {"order": 7, "amount": 50})
    case = await asked(rig, again, again)

    assert rig.effects.made == ["refund 7 50"]
    assert (await rig.gate(case)).earlier_step == (await rig.steps(case))[0].id


async def test_who_asked_for_it_does_not_decide_it_from_the_chat_either(rig: Rig) -> None:
    """R5: one function serves every surface."""
    case = await asked(rig)
    (card_id,) = rig.channel.standing(THREAD)

    heard = await rig.channel.press(THREAD, card_id, "approve", rig.account("ann"))
    assert heard == f"You may not decide gate {(await rig.gate(case)).id}; an operator, not the requester may."
    rig.model.then(says("Restarted."))
    heard = await rig.channel.press(THREAD, card_id, "approve", rig.account("kim"))
    assert heard == 'Approved: Restart "a"'
    await rig.work()
    assert rig.effects.made == ["restart a"]


async def test_an_operator_who_asks_for_something_has_to_find_another_to_approve_it(rig: Rig) -> None:
    rig.model.then(calls(RESTART), says("Restarted."))
    case = await rig.say("Restart it", by="kim")
    await rig.work()

    assert not (await rig.decide(case, by="kim")).taken
    assert (await rig.decide(case, by="lee")).taken


async def test_a_policy_that_has_come_to_refuse_such_calls_refuses_the_approved_one_too(rig: Rig) -> None:
    case = await asked(rig)
    await rig.decide(case)
    rig.settings = Settings(policy=Policy(consequential="refuse"))
    await rig.restart()
    rig.model.then(says("I may not."))
    await rig.work()

    assert rig.effects.made == []
    (gate,) = await rig.gates(case)
    assert (gate.state, gate.void_reason) == (GateState.VOID, "the policy does not allow consequential tools here")
    assert str(gate.void_reason) in rig.posted()[0]
    assert "svc__restart" not in rig.model.offered[-1]


async def test_an_installation_that_only_observes_makes_no_call_with_an_effect(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(policy=Policy(observe=True)))
    rig.model.then(calls(RESTART, ("note", {"text": "x"}), ("look", {"at": "/"})), says("I only looked."))
    await rig.say("It hangs")
    await rig.work()

    assert rig.effects.made == ["look /"]
    assert {"look", "diary", "broken"} == set(rig.model.offered[0])


async def test_the_moment_a_gate_is_decided_its_expiry_has_no_more_say(rig: Rig) -> None:
    case = await asked(rig)
    gate = await rig.gate(case)
    await rig.decide(case)
    rig.clock.ms = gate.expires_at + 1
    assert await rig.store.write(gates.expire_due, rig.clock.now()) == []
    rig.model.then(says("Restarted."))
    await rig.work()

    assert rig.effects.made == ["restart a"]


async def test_a_call_whose_approval_was_made_void_is_not_asked_about_anew(rig: Rig) -> None:
    """Only where the approver saw something else than what would run is the question put again."""
    case = await asked(rig)
    rig.model.then(says("It was not restarted."))
    await rig.decide(case)
    (gate,) = await rig.gates(case)
    await rig.store.write(gates.void, rig.clock.now(), gate, by="engine", reason="the case was looked at by hand")
    await rig.work()

    assert returned(rig.model.sent[1]) == ["not run: the case was looked at by hand"]
    assert [gate.state for gate in await rig.gates(case)] == [GateState.VOID]
    assert rig.effects.made == []
    await checked(rig.store, case)


async def test_an_approval_of_a_tool_that_is_gone_since_is_void(rig: Rig) -> None:
    case = await asked(rig)
    await rig.decide(case)
    del rig.tools["svc.restart"]
    await rig.restart()
    rig.model.then(says("Then not."))
    await rig.work()

    assert [gate.void_reason for gate in await rig.gates(case)] == ["there is no tool svc.restart"]
