"""Killed at each point while older turns are made shorter: nothing is lost, and it is not done twice (R13, R19)."""

import pytest

from bot.retelling import compaction
from bot.settings import Settings
from bot.settings.sections import Limits
from bot.turns import advance
from casestore import leases
from casestore.states import StepState
from tests.compaction.stored import compactions_of, lived, model_steps_of
from tests.loop.conftest import MakeRig
from tests.loop.cut_off import killed_in
from tests.loop.rig import Killed, Rig, checked
from tests.loop.scripted import Held, Waits, said, says, unpaired


@pytest.fixture
async def small(make_rig: MakeRig) -> Rig:
    """A service that shows four turns word for word at most."""
    return await make_rig(settings=Settings(limits=Limits(window_turns=4)))


async def test_killed_while_the_model_makes_it_the_next_process_asks_again(small: Rig) -> None:
    case = await lived(small, 4)
    held = Held()
    small.model.shorter += [Waits(held, says("Never heard.")), says("Heard.")]
    await small.say("question 5")
    await killed_in(small, case, held)
    await small.open()
    small.model.then(says("answer 5"))
    await small.work()

    (kept,) = await compactions_of(small, case)
    assert kept.text.endswith("Heard.")
    tried, made = [step for step in await model_steps_of(small, case) if compaction.is_one(step)]
    assert (tried.state, tried.error, made.state) == (StepState.FAILED, "interrupted", StepState.FINISHED)
    assert tried.request_digest == made.request_digest
    assert small.posted()[-1] == "answer 5"
    await checked(small.store, case)


@pytest.mark.parametrize("where", ["before", "after"])
async def test_killed_around_storing_it_there_is_one_and_the_message_is_answered_once(small: Rig, where: str) -> None:
    case = await lived(small, 4)
    await small.say("question 5")
    small.die(**{where: advance.compacted})
    with pytest.raises(Killed):
        await small.conductor.work(case.id)
    await small.restart()
    small.model.then(says("answer 5"))
    await small.work()

    assert len(await compactions_of(small, case)) == 1
    assert len(small.model.shortened) == (2 if where == "before" else 1)
    assert small.posted().count("answer 5") == 1
    assert said(small.model.sent[-1])[-1] == "ann (requester): question 5"
    assert said(small.model.sent[-1]).count("ann (requester): question 5") == 1
    assert unpaired(small.model.sent[-1]) == []


async def test_who_has_lost_the_case_meanwhile_stores_nothing_but_what_it_used(small: Rig) -> None:
    case = await lived(small, 4)
    held = Held()
    small.model.shorter.append(Waits(held, says("Late.")))
    await small.say("question 5")
    working = small.start(small.conductor.work(case.id))
    await held.reached.wait()
    await small.store.write(leases.free, case.id)
    held.release.set()
    await working

    assert await compactions_of(small, case) == []
    (tried,) = [step for step in await model_steps_of(small, case) if compaction.is_one(step)]
    assert (tried.state, tried.input_tokens) == (StepState.FAILED, 100)
    assert (await small.runs(case))[-1].outcome == "lease_lost"
