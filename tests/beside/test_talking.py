"""What is said while a call waits is answered beside it: by a run that knows what waits for whom."""

import pytest

from bot.settings import Settings
from bot.settings.sections import Gates
from bot.turns import advance, window
from casestore import leases
from casestore.states import CaseState, OnExpiry, Outcome, TurnState, WaitingOn
from tests.beside.gate import RESTART, at_a_gate
from tests.beside.talker import DONE, Talker
from tests.loop.ended import how_they_ended
from tests.loop.rig import Killed, Rig
from tests.loop.scripted import ScriptedModel, calls, returned, said, says

NOT_YOURS = (
    "You can talk about it and look at things; you can neither run it nor decide it. Whoever asked takes it back by a "
    "message of one word: withdraw."
)


async def test_the_model_is_told_by_the_engine_which_call_waits_for_whom_and_until_when(rig: Rig) -> None:
    case = await at_a_gate(rig)
    rig.model.then(says("Because it hangs."))

    await rig.say("Why?")
    await rig.work()

    assert returned(rig.model.sent[-1]) == [
        "look /: done",
        f"waiting for a decision by an operator, not the requester, until Tue 14:13 UTC; it has not been "
        f"run. {NOT_YOURS}",
        "not run yet: it waits behind another call, which waits for a decision",
    ]
    assert said(rig.model.sent[-1])[-1] == "ann (requester): Why?"
    assert rig.posted()[-1] == "Because it hangs."
    assert await how_they_ended(rig, case) == [Outcome.PARKED, Outcome.ANSWERED]
    now = await rig.case(case)
    assert (now.state, now.waiting_on) == (CaseState.IN_PROGRESS, WaitingOn.APPROVAL)


async def test_the_exchange_beside_is_in_view_when_the_parked_turn_goes_on(rig: Rig) -> None:
    """Calls, their real results, the exchange, the next request (design, section 6)."""
    case = await at_a_gate(rig)
    rig.model.then(calls(("look", {"at": "/var"})), says("Because it hangs."), says("Restarted."))

    await rig.say("Why?")
    await rig.work()
    await rig.decide(case)
    await rig.work()

    shown = [
        (type(message).__name__, [type(part).__name__ for part in message.parts]) for message in rig.model.sent[-1]
    ]
    assert shown == [
        ("ModelRequest", ["UserPromptPart"]),
        ("ModelResponse", ["TextPart", *["ToolCallPart"] * 3]),
        ("ModelRequest", ["ToolReturnPart"] * 3),
        ("ModelRequest", ["UserPromptPart"]),
        ("ModelResponse", ["ToolCallPart"]),
        ("ModelRequest", ["ToolReturnPart"]),
        ("ModelResponse", ["TextPart"]),
        ("ModelRequest", ["UserPromptPart"]),
    ]
    assert returned(rig.model.sent[-1]) == ["look /: done", "restart a: done", "note x: done", "look /var: done"]
    assert rig.posted()[-1] == "Restarted."


async def test_what_a_turn_was_shown_and_has_not_answered_is_answered_at_its_next_gate(rig: Rig) -> None:
    """Said between the decision and what follows, it is in view there already: the engine says that it is owed."""
    case = await at_a_gate(rig)
    rig.model.then(calls(("svc.restart", {"service": "b"})), says("Because it hangs."))

    await rig.decide(case)
    await rig.say("Why?")
    await rig.work()

    assert said(rig.model.sent[-1])[1:] == ["ann (requester): Why?", window.ANSWER_NOTE]
    assert rig.posted()[-1] == "Because it hangs."
    assert (await rig.gate(case)).statement == 'Restart "b"'


async def test_a_turn_that_has_an_operators_permissions_loses_them_when_somebody_else_talks_beside_it(rig: Rig) -> None:
    """R11: what is in its view is not all theirs any more."""
    rig.model.then(says("Yes?"), calls(RESTART))
    case = await rig.say("Hello")
    await rig.work()
    await rig.say("Restart it", by="kim")
    await rig.work()
    kim, ann = rig.people["kim"].id, rig.people["ann"].id
    assert (await rig.turns(case))[1].acts_for == kim

    rig.model.then(says("I cannot."), says("Restarted."))
    await rig.say("And refund me", by="ann")
    await rig.work()
    await rig.decide(case, by="lee")
    await rig.work()

    assert (await rig.turns(case))[1].acts_for == ann


async def test_an_expiry_that_hands_off_while_somebody_is_being_answered_ends_that_too(
    talking: Rig, talker: Talker
) -> None:
    talking.settings = Settings(gates=Gates(on_expiry=OnExpiry.HANDOFF))
    await talking.restart()
    talker.asks = [[RESTART]]
    case = await talking.say("It hangs")
    await talking.work()
    gate = await talking.gate(case)

    await talking.say("Why?")
    talking.die(after=advance.begin)
    with pytest.raises(Killed):
        await talking.conductor.work(case.id)
    await talking.restart()
    talking.clock.ms = gate.expires_at
    await talking.decide(case, gate=gate)
    await talking.work()

    assert {turn.state for turn in await talking.turns(case)} == {TurnState.SETTLED}
    assert await talking.store.read(leases.ready, talking.clock.now(), 9, talks=True) == []
    assert not await talking.store.read(leases.has_work, case.id, talks=True)
    await talking.say("Hello?")
    await talking.work()
    assert talking.posted()[-1] == DONE


async def test_a_model_that_was_changed_for_playbooks_leaves_what_is_said_beside_until_the_turn_goes_on(
    rig: Rig,
) -> None:
    """Killed while it answered, and started again without a model: the message is not lost."""
    case = await at_a_gate(rig)
    await rig.say("Why?")
    rig.die(after=advance.begin)
    with pytest.raises(Killed):
        await rig.conductor.work(case.id)
    rig.model = rig.asked = ScriptedModel(says("Restarted, because it hung."))
    await rig.restart()
    assert await rig.store.read(leases.ready, rig.clock.now(), 9) == []
    await rig.decide(case)
    await rig.work()

    assert "ann (requester): Why?" in said(rig.model.sent[-1])
    assert {turn.state for turn in await rig.turns(case)} == {TurnState.SETTLED}
