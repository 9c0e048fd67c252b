"""Who says something at a gate hears one answer: the model's, or the engine's where no model has one."""

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from bot.playbook import PlaybookModel
from bot.settings import Settings
from bot.settings.sections import Limits
from bot.turns import beside
from casestore import leases
from casestore.states import Outcome, WaitingOn
from tests.beside.gate import RESTART, WAITS, at_a_gate
from tests.beside.talker import Talker
from tests.loop.ended import how_they_ended
from tests.loop.rig import MINUTE, Rig
from tests.loop.scripted import ScriptedModel, calls, said, says


async def test_where_the_model_answers_each_message_the_engine_says_nothing_of_its_own(rig: Rig) -> None:
    await at_a_gate(rig)
    before = rig.posted()
    rig.model.then(says("Because it hangs."), says("Yes."))

    for text in ("Why?", "Sure?"):
        await rig.say(text)
        await rig.work()

    assert rig.posted() == [*before, "Because it hangs.", "Yes."]


async def test_without_a_model_the_engine_alone_answers_at_a_gate(rig: Rig) -> None:
    """What it says is what is waited for, by whom and until when; playbooks have nothing to say about it."""
    assert not beside.can_talk(PlaybookModel([]))
    rig.model = rig.asked = ScriptedModel()
    await rig.restart()
    case = await at_a_gate(rig)

    for text in ("Why?", "Sure?"):
        await rig.say(text)
        await rig.work()

    assert len(rig.model.sent) == 1
    assert [text for text in rig.posted() if "Your message" in text] == [
        f"Your message is stored in {case.label}. {WAITS}"
    ], "once, not after every message"


async def test_a_model_that_keeps_trying_is_stopped_and_the_call_still_waits(rig: Rig) -> None:
    case = await at_a_gate(rig)
    gate = await rig.gate(case)
    rig.model.then(calls(RESTART), calls(RESTART), calls(RESTART))

    await rig.say("Do it anyway")
    await rig.work()

    assert await rig.gate(case) == gate
    assert (await rig.case(case)).waiting_on is WaitingOn.APPROVAL
    why = "the assistant kept calling tools in ways that do not work"
    assert rig.posted()[-1] == f"I cannot answer that now: {why}. Your message is stored in {case.label}. {WAITS}"
    assert (await rig.runs(case))[-1].escalated is False


@pytest.mark.parametrize("limits", [Limits(model_calls=1), Limits(tool_calls=1)], ids=["model calls", "tool calls"])
async def test_a_limit_beside_is_recorded_as_one_and_nobody_gets_the_case(
    talking: Rig, talker: Talker, limits: Limits
) -> None:
    talking.settings = Settings(limits=limits)
    await talking.restart()
    talker.asks = [[RESTART]]
    talker.looks = 2
    case = await talking.say("It hangs")
    await talking.work()

    await talking.say("Why?")
    await talking.work()

    assert await how_they_ended(talking, case) == [Outcome.PARKED, Outcome.LIMIT]
    assert (await talking.runs(case))[-1].escalated is False
    assert talking.posted()[-1].startswith("I cannot answer that now: too many ")
    assert (await talking.case(case)).waiting_on is WaitingOn.APPROVAL
    await talking.decide(case)
    await talking.work()
    assert talking.effects.made[-1] == "restart a"


async def test_a_model_that_does_not_answer_beside_is_asked_again_later_and_the_decision_does_not_wait_for_it(
    rig: Rig,
) -> None:
    case = await at_a_gate(rig)
    rig.model.then(*[ModelHTTPError(503, "scripted")] * 3)

    await rig.say("Why?")
    await rig.work()
    assert rig.posted()[-1] == (
        f"The assistant's model does not answer just now. Your message is stored; I try again by myself. {WAITS}"
    )
    assert (await rig.case(case)).waiting_on is WaitingOn.APPROVAL
    rig.model.then(says("Because it hangs."))
    rig.clock.pass_by(MINUTE)
    await rig.work()
    assert rig.posted()[-1] == "Because it hangs."

    rig.model.then(*[ModelHTTPError(503, "scripted")] * 3, says("Restarted, and sure."))
    await rig.say("Sure?")
    await rig.work()
    await rig.decide(case)
    await rig.work()
    assert rig.posted()[-1] == "Restarted, and sure."
    assert said(rig.model.sent[-1])[-2] == "ann (requester): Sure?"


async def test_a_model_that_refuses_to_work_beside_leaves_the_call_waiting(rig: Rig) -> None:
    case = await at_a_gate(rig)
    rig.model.then(ModelHTTPError(401, "scripted"))

    await rig.say("Why?")
    await rig.work()

    why = "the assistant's model refuses to work"
    assert rig.posted()[-1] == f"I cannot answer that now: {why}. Your message is stored in {case.label}. {WAITS}"
    assert rig.conductor.model_trouble is not None
    assert (await rig.runs(case))[-1].escalated is False
    assert (await rig.case(case)).waiting_on is WaitingOn.APPROVAL


async def test_a_bug_beside_leaves_the_parked_turn_as_it_is_and_is_tried_again(rig: Rig) -> None:
    case = await at_a_gate(rig)
    parked = (await rig.turns(case))[0]
    rig.model.then(KeyError("a bug"))

    await rig.say("Why?")
    rig.engine.wake(case.id)
    await rig.engine.idle()

    assert (await rig.turns(case))[0] == parked
    assert await rig.store.read(leases.ready, rig.clock.now(), 9, talks=True) == [], "not at once"
    assert (await rig.runs(case))[-1].outcome is Outcome.ERROR
    rig.model.then(says("Because it hangs."))
    rig.clock.pass_by(MINUTE)
    await rig.work()
    assert rig.posted()[-1] == "Because it hangs."
