"""What was answered from memory settles a turn only where it is that turn's answer (R7, R11, R15)."""

from pydantic_ai.messages import ModelResponse, TextPart

from bot.degraded import absorb
from bot.degraded.spool import Answered
from bot.turns import window
from casestore.model_steps import Usage
from casestore.models import Case
from casestore.states import TurnState
from tests.loop.cut_off import killed_in
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, Waits, calls, says


async def answered(rig: Rig, case: Case, *, seen: int) -> None:
    """Our words, said while nothing could be stored, become part of the case: they answer what came up to `seen`."""
    entry = Answered(
        address=THREAD, case_id=case.id, answers=None, seen=seen, text="From memory.",
        message=window.dump(ModelResponse([TextPart("From memory.")])), usage=Usage("stop", None, None, 1, 1, 0, 0.0),
        platform_ids=("said-1",), in_doubt=False, at=rig.clock.now(),
    )  # fmt: skip
    await rig.store.write(absorb.thread, [entry], rig.desk, None)


async def test_a_turn_whose_calls_are_on_record_is_not_settled_by_it(rig: Rig) -> None:
    held = rig.effects.hold("look")
    rig.model.then(calls(("look", {"at": "/"})))
    case = await rig.say("Look")
    await killed_in(rig, case, held)
    await rig.open()
    await answered(rig, case, seen=9)
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.RUNNING]

    rig.model.then(says("Found."))
    await rig.work()
    assert await rig.texts(case) == ["From memory.", "Found."]


async def test_a_turn_that_has_taken_a_message_it_did_not_see_is_not_settled_by_it(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Never heard.")))
    case = await rig.say("Hello")
    await rig.say("And is it raining?")
    await killed_in(rig, case, held)
    await rig.open()
    first = (await rig.messages(case))[0]
    await answered(rig, case, seen=first.seq)
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.RUNNING]


async def test_it_settles_nothing_where_it_saw_nothing(rig: Rig) -> None:
    case = await rig.say("Hello")
    await answered(rig, case, seen=0)
    assert await rig.turns(case) == []
    assert await rig.texts(case) == ["From memory."]
