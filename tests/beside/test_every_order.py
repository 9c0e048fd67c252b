"""Message, answer, decision, in every order and killed between: nothing unpaired, nothing lost, the call untouched.

That no request has a call without its result, or a result without its call, the model itself sees to (R7).
"""

from collections.abc import Callable

import pytest

from bot.gates import gating
from bot.inbound import intake
from bot.turns import advance, window
from casestore import turns
from casestore.models import Case
from casestore.states import StepState, TurnState, Verb
from tests.beside.talker import ANSWER, DONE, Talker
from tests.loop.rig import Killed, Rig, checked
from tests.loop.scripted import Held, said

A, B = ("svc.restart", {"service": "a"}), ("svc.restart", {"service": "b"})
ASKS = {"one gate": [[A]], "two in one response": [[A, B]], "one after the other": [[A], [B]]}
WHY = "Why do you need that?"

Point = str | tuple[str, Callable[..., object]] | None
KILLS: dict[str, Point] = {
    "never": None,
    "before the answer begins": ("before", advance.begin),
    "after the answer has begun": ("after", advance.begin),
    "while the model answers": "model",
    "before the response is stored": ("before", advance.respond),
    "after the response is stored": ("after", advance.respond),
    "while it looks": "look",
    "after it has looked": ("after", advance.all_finished),
}


async def parked(rig: Rig, talker: Talker, shape: str) -> Case:
    """A case at its first gate."""
    talker.asks = ASKS[shape]
    case = await rig.say("The service hangs")
    await rig.work()
    return case


async def answered_up_to(rig: Rig, talker: Talker, case: Case, point: Point) -> Held | None:
    """Let what was said be answered, up to a point; the place where it waits, or None once it is killed or done."""
    held = None
    if point == "model":
        held = talker.held = Held()
    elif point == "look":
        held = rig.effects.hold("look")
    if held is not None:
        rig.start(rig.conductor.work(case.id))
        await held.reached.wait()
        return held
    if not isinstance(point, tuple):
        await rig.work()
        return None
    when, at = point
    rig.die(**{when: at})
    with pytest.raises(Killed):
        await rig.conductor.work(case.id)
    await rig.restart()
    return None


async def is_answered(rig: Rig, case: Case, text: str) -> bool:
    """Whether the assistant has spoken since somebody said this."""
    found = await rig.messages(case)
    asked = next(message.seq for message in found if message.text == text)
    return any(message.seq > asked and message.provenance == "assistant" for message in found)


async def replays(rig: Rig, case: Case) -> None:
    """Every request that was sent can be rebuilt from what its step names (R17)."""
    for step in await rig.steps(case, tools_only=False):
        if step.kind == "model":
            assert (await rig.store.read(window.rebuild, step)).digest == step.request_digest


async def finish(rig: Rig, case: Case, *texts: str) -> None:
    """Approve what else is asked; at each gate what was said has its answer already. Then nothing is left over."""
    await rig.work()
    while (gate := await rig.open_gate(case)) is not None:
        for text in texts:
            assert await is_answered(rig, case, text), f"{text!r} waits for gate {gate.id}"
        await rig.decide(case)
        await rig.work()
    for text in texts:
        assert await is_answered(rig, case, text)
        assert [text in words for words in said(rig.model.sent[-1])].count(True) == 1, "it is in view, once"
    assert {turn.state for turn in await rig.turns(case)} == {TurnState.SETTLED}
    assert all(step.result is not None for step in await rig.steps(case))
    assert not [step for step in await rig.steps(case, tools_only=False) if step.state is StepState.STARTED]
    assert (await rig.texts(case))[-1] == DONE
    await replays(rig, case)
    await checked(rig.store, case)


@pytest.mark.parametrize("shape", ASKS)
@pytest.mark.parametrize("kill", KILLS)
async def test_a_message_then_its_answer_then_the_decision(talking: Rig, talker: Talker, kill: str, shape: str) -> None:
    case = await parked(talking, talker, shape)
    gate = await talking.gate(case)
    step = (await talking.steps(case))[0]

    await talking.say(WHY)
    if await answered_up_to(talking, talker, case, KILLS[kill]) is not None:
        await talking.restart()
    await talking.work()

    assert await is_answered(talking, case, WHY)
    assert await talking.gate(case) == gate
    assert (await talking.steps(case))[0] == step
    assert step.state is StepState.WAITING
    assert talking.effects.count("restart") == 0
    await talking.decide(case)
    await finish(talking, case, WHY)
    assert talking.effects.count("restart") == sum(map(len, ASKS[shape]))


@pytest.mark.parametrize("shape", ASKS)
@pytest.mark.parametrize("kill", KILLS)
async def test_a_message_then_the_decision_while_it_is_being_answered(
    talking: Rig, talker: Talker, kill: str, shape: str
) -> None:
    """Killed with the decision stored, or killed before it: the answer is given by whoever goes on."""
    case = await parked(talking, talker, shape)

    await talking.say(WHY)
    held = await answered_up_to(talking, talker, case, KILLS[kill])
    await talking.decide(case)
    if held is not None:
        await talking.restart()

    await finish(talking, case, WHY)
    assert talking.effects.made.count("restart a") == 1
    assert talking.effects.count("restart") == sum(map(len, ASKS[shape]))
    if shape == "two in one response":  # the model is not asked on before the second gate
        assert [turn.beside is None for turn in await talking.turns(case)] == [True, False], "it goes on where it was"


@pytest.mark.parametrize("shape", ASKS)
@pytest.mark.parametrize("point", ["model", "look"])
async def test_a_decision_while_it_is_being_answered_waits_for_the_answer_and_is_carried_out_then(
    talking: Rig, talker: Talker, point: str, shape: str
) -> None:
    case = await parked(talking, talker, shape)

    await talking.say(WHY)
    held = await answered_up_to(talking, talker, case, point)
    assert held is not None
    await talking.decide(case)
    await talking.work()
    assert talking.effects.count("restart") == 0
    held.release.set()
    while not await is_answered(talking, case, WHY):
        await talking.work()

    assert (await talking.texts(case)).count(ANSWER) == 1
    await finish(talking, case, WHY)
    assert talking.effects.count("restart") == sum(map(len, ASKS[shape]))


@pytest.mark.parametrize("shape", ASKS)
@pytest.mark.parametrize("kill", [None, "before", "after"])
@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DENY, Verb.REVISE])
async def test_a_message_then_the_decision_then_the_answer(
    talking: Rig, talker: Talker, shape: str, kill: str | None, verb: Verb
) -> None:
    case = await parked(talking, talker, shape)

    await talking.say(WHY)
    if kill is not None:
        talking.die(**{kill: gating.decide})
        with pytest.raises(Killed):
            await talking.decide(case, verb)
        await talking.restart()
    if kill != "after":
        await talking.decide(case, verb)

    await finish(talking, case, WHY)
    assert talking.effects.made.count("restart a") == (1 if verb is Verb.APPROVE else 0)


@pytest.mark.parametrize("shape", ASKS)
@pytest.mark.parametrize("kill", [None, "before", "after"])
async def test_the_decision_then_a_message_then_the_answer(
    talking: Rig, talker: Talker, shape: str, kill: str | None
) -> None:
    case = await parked(talking, talker, shape)

    await talking.decide(case)
    if kill is not None:
        talking.die(**{kill: intake.receive})
        with pytest.raises(Killed):
            await talking.say(WHY)
        await talking.restart()
    if kill != "after":
        await talking.say(WHY)

    await finish(talking, case, WHY)
    assert talking.effects.made.count("restart a") == 1


@pytest.mark.parametrize("shape", ASKS)
async def test_several_messages_each_answered_before_the_decision(talking: Rig, talker: Talker, shape: str) -> None:
    case = await parked(talking, talker, shape)

    for text in ("Why?", "Is it safe?", "For whom?"):
        await talking.say(text)
        await talking.work()
        await talking.restart()
    await talking.decide(case)

    await finish(talking, case, "Why?", "Is it safe?", "For whom?")
    assert (await talking.texts(case)).count(ANSWER) == 3


@pytest.mark.parametrize("how", ["expired", "withdrawn", "taken over", "resolved"])
@pytest.mark.parametrize("kill", KILLS)
async def test_a_gate_that_ends_otherwise_while_somebody_is_being_answered_leaves_nothing_behind(
    talking: Rig, talker: Talker, how: str, kill: str
) -> None:
    case = await parked(talking, talker, "one gate")
    gate = await talking.gate(case)

    await talking.say(WHY)
    held = await answered_up_to(talking, talker, case, KILLS[kill])
    now = talking.clock.now()
    match how:
        case "expired":
            talking.clock.ms = gate.expires_at
            assert not (await talking.decide(case, gate=gate)).taken
        case "withdrawn":
            await talking.store.write(gating.withdraw, now, talking.people["ann"], gate.id, "", via="cli", zone=None)
        case "taken over":
            await talking.take(case)
            await talking.release(case)
        case _:
            await talking.resolve(case)
            assert await talking.store.read(turns.unsettled_beside, case.id) is None
    if held is not None:
        await talking.restart()
    await talking.say("Go on")

    await finish(talking, case, "Go on")
    assert talking.effects.count("restart") == 0
    assert WHY in "\n".join(said(talking.model.sent[-1]))
