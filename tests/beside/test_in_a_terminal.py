"""What the terminal makes of talk at a gate: a conversation waits for its answer, a case says that it is worked."""

from bot.cli import story
from bot.cli.conversation import owed
from tests.beside.talker import Talker
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held

RESTART = ("svc.restart", {"service": "a"})


async def test_a_conversation_that_ends_waits_for_the_answer_to_what_was_said_at_a_gate(
    talking: Rig, talker: Talker
) -> None:
    """Where nobody answers there it does not wait, as before: the gate may wait for days."""
    talker.asks = [[RESTART]]
    case = await talking.say("It hangs")
    await talking.work()
    assert await talking.store.read(owed, str(THREAD), talks=True) is None

    await talking.say("Why?")
    await talking.deliver()
    found = await talking.store.read(owed, str(THREAD), talks=True)
    assert found is not None
    assert found.id == case.id
    assert await talking.store.read(owed, str(THREAD), talks=False) is None
    held = talker.held = Held()
    working = talking.start(talking.conductor.work(case.id))
    await held.reached.wait()
    assert await talking.store.read(owed, str(THREAD), talks=True) is not None
    held.release.set()
    await working
    await talking.deliver()
    assert await talking.store.read(owed, str(THREAD), talks=True) is None


async def test_a_case_whose_call_waits_says_that_the_assistant_is_at_work_while_it_answers(
    talking: Rig, talker: Talker
) -> None:
    talker.asks = [[RESTART]]
    case = await talking.say("It hangs")
    await talking.work()

    async def stands() -> str:
        now, zone = talking.clock.now(), talking.settings.service.zone
        lines = await talking.store.read(story.of_case, now, "kim", case.number, zone, str)
        return next(line for line in lines if line.startswith("Stands"))

    assert "waits for a decision;" in await stands()
    await talking.say("Why?")
    held = talker.held = Held()
    working = talking.start(talking.conductor.work(case.id))
    await held.reached.wait()
    assert "waits for a decision, the assistant is at work;" in await stands()
    held.release.set()
    await working
    assert "waits for a decision;" in await stands()
