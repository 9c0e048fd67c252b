"""A run that the store leaves in the middle: nothing is asked twice, made twice or forgotten (R14, R15)."""

from bot.degraded import absorb
from bot.degraded.spool import Left
from casestore import leases
from casestore.states import Provenance
from tests.degraded.broken import Breakage, full
from tests.degraded.talk import back, conversation, engine_goes_on, engine_tries, every_way
from tests.loop.rig import HOUR, Rig
from tests.loop.scripted import Held, Waits, calls, says


@every_way
async def test_a_stored_message_whose_run_cannot_begin_is_answered_once(rig: Rig, broken: Breakage) -> None:
    case = await rig.say("Hi")
    rig.model.then(says("Hello."))
    async with broken(rig.store):
        for _ in range(2):
            await engine_tries(rig, case)
        assert rig.posted() == ["Hello."]
        assert len(rig.model.sent) == 1
    await back(rig)

    assert await conversation(rig, case) == [(Provenance.REQUESTER, "Hi"), (Provenance.ASSISTANT, "Hello.")]
    assert rig.posted() == ["Hello."]
    assert len(rig.model.sent) == 1


async def test_a_store_that_fails_while_the_model_answers_loses_neither_answer_nor_what_it_used(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("lost")), says("Hello."))
    case = await rig.say("Hi")
    rig.engine.wake(case.id)
    await held.reached.wait()
    async with full(rig.store):
        await engine_goes_on(rig, held)
        assert rig.posted() == ["Hello."]
    await back(rig)

    assert await conversation(rig, case) == [(Provenance.REQUESTER, "Hi"), (Provenance.ASSISTANT, "Hello.")]
    assert [run.input_tokens for run in await rig.runs(case)] == [100, 100]
    assert rig.posted() == ["Hello."]


async def test_a_call_whose_result_could_not_be_stored_is_not_asked_about(rig: Rig) -> None:
    """R14: it is known how it ended."""
    held = rig.effects.hold("note")
    rig.model.then(calls(("note", {"text": "seen"})), says("Noted."))
    case = await rig.say("Note it")
    rig.engine.wake(case.id)
    await held.reached.wait()
    async with full(rig.store):
        await engine_goes_on(rig, held)
        assert rig.posted() == [], "a turn in the middle of its work is not answered from memory"
    await back(rig)

    assert rig.effects.made == ["note seen"]
    assert await rig.gates(case) == []
    assert rig.posted() == ["Noted."]


async def test_a_turn_whose_calls_were_made_is_gone_on_with_and_not_answered_from_memory(rig: Rig) -> None:
    """R7: the answer to a turn in the middle of its work is made where its journal can be written."""
    held = Held()
    rig.model.then(calls(("note", {"text": "seen"})), Waits(held, says("lost")), says("Noted."))
    case = await rig.say("Note it")
    rig.engine.wake(case.id)
    await held.reached.wait()
    async with full(rig.store):
        await engine_goes_on(rig, held)
        assert rig.posted() == []
    await back(rig)
    assert rig.posted() == ["Noted."]
    assert rig.effects.made == ["note seen"]


async def test_a_case_whose_answer_is_being_made_from_memory_is_not_worked_beside_it(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Hello.")))
    case = await rig.say("Hi")
    async with full(rig.store):
        rig.engine.wake(case.id)
        await held.reached.wait()
        await rig.engine.idle()
    rig.engine.wake(case.id)  # the store is back, and the engine takes the case up while its answer is still made
    await rig.engine.idle()
    await engine_goes_on(rig, held)
    await back(rig)
    assert rig.posted() == ["Hello."]
    assert len(rig.model.sent) == 1


async def test_a_case_that_was_left_stays_with_whoever_has_it_by_now(rig: Rig) -> None:
    """R10: only what that boot itself still holds is freed."""
    case, now = await rig.say("Hi"), rig.clock.now()
    lease = await rig.store.write(leases.take, now, case.id, holder="engine", boot=rig.boot, ttl=HOUR)
    assert lease is not None
    await rig.store.write(absorb.fact, Left(case_id=case.id, boot="an earlier boot"))
    assert await rig.store.write(leases.holds, now, lease)
    await rig.store.write(absorb.fact, Left(case_id=case.id, boot=rig.boot))
    assert not await rig.store.write(leases.holds, now, lease)
