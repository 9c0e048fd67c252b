"""What is kept in the spool is stored once, in order, whatever becomes of the process (R15, R29)."""

import pytest

from casestore.states import Provenance
from channels.errors import RetryLater
from tests.degraded.broken import full, locked, spool_of
from tests.degraded.talk import back, conversation, settled, speak
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, Waits, says


async def test_what_comes_once_the_store_is_back_is_stored_behind_what_came_before(rig: Rig) -> None:
    case = await settled(rig)
    rig.model.then(says("At nine."), says("Yes."))
    async with full(rig.store):
        await speak(rig, "When do you open?")
    await speak(rig, "On Sundays too?")
    await back(rig)
    inbound = [message.text for message in await rig.messages(case) if message.direction == "in"]
    assert inbound == ["Hi", "When do you open?", "On Sundays too?"]
    assert rig.posted() == ["Hello.", "At nine.", "Yes."]


async def test_a_redelivered_message_is_recognised_from_memory(rig: Rig) -> None:
    """R29"""
    case = await settled(rig)
    rig.model.then(says("At nine."))
    async with full(rig.store):
        for _ in range(3):
            await speak(rig, "When do you open?", platform_id="2")
        await speak(rig, "Hi", platform_id="1")
        assert rig.posted() == ["Hello.", "At nine."]
    await speak(rig, "When do you open?", platform_id="2")
    await back(rig)
    await speak(rig, "When do you open?", platform_id="2")
    await rig.work()

    assert len(await rig.messages(case)) == 4
    assert len(rig.model.sent) == 2
    assert rig.posted() == ["Hello.", "At nine."]


async def test_a_process_that_is_killed_meanwhile_finds_the_spool_and_stores_it_once(rig: Rig) -> None:
    case = await settled(rig)
    rig.model.then(says("At nine."))
    async with locked(rig.store):
        await speak(rig, "When do you open?")
        left = spool_of(rig.db).read_bytes()
        await rig.channel.stop()
    await rig.restart()
    assert len(rig.spool) == 2
    await back(rig)
    spool_of(rig.db).write_bytes(left)  # killed again, between the commit and the removal of the file
    await rig.restart()
    await back(rig)

    assert [text for _, text in await conversation(rig, case)] == ["Hi", "Hello.", "When do you open?", "At nine."]
    assert rig.posted() == ["Hello.", "At nine."]
    assert not spool_of(rig.db).exists()


async def test_a_line_of_the_spool_that_was_cut_off_is_left_out_and_logged(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    case = await settled(rig)
    rig.model.then(says("At nine."))
    async with locked(rig.store):
        await speak(rig, "When do you open?")
        spool_of(rig.db).write_bytes(spool_of(rig.db).read_bytes()[:-9])
    rig.model.then(says("At nine, as I said."))
    await rig.restart()
    await back(rig)
    assert "spool.line_unreadable" in caplog.text
    assert (await conversation(rig, case))[2] == (Provenance.REQUESTER, "When do you open?")


async def test_what_the_channel_did_not_take_is_said_once_the_store_is_back(rig: Rig) -> None:
    case = await settled(rig)
    rig.model.then(says("At nine."))
    async with full(rig.store):
        rig.channel.fail(RetryLater(0))
        await speak(rig, "When do you open?")
        assert rig.posted() == ["Hello."]
    await back(rig)
    assert rig.posted() == ["Hello.", "At nine."]
    assert (await rig.texts(case)) == ["Hello.", "At nine."]


@pytest.mark.parametrize("known", [True, False])
async def test_a_store_that_comes_back_while_an_answer_is_made_does_not_answer_twice(rig: Rig, known: bool) -> None:
    if known:
        await settled(rig)
    rig.woken = rig.engine.wake
    held = Held()
    rig.model.then(Waits(held, says("At nine.")))
    async with full(rig.store):
        await rig.channel.say("When do you open?", address=THREAD, account=rig.account("ann"), addressed=True)
        await held.reached.wait()
    for case_id in await rig.standby.settle():
        rig.engine.wake(case_id)
    await rig.engine.idle()
    held.release.set()
    await rig.standby.idle()
    await back(rig)
    assert rig.posted()[-1] == "At nine."
    assert len(rig.model.sent) == 1 + known


async def test_an_entry_the_store_refuses_for_good_is_set_aside_and_keeps_nothing_waiting(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug is loud, and loses nothing."""
    await settled(rig)
    rig.model.then(says("At nine."))
    async with full(rig.store):
        await speak(rig, "When do you open?")

    def refuses(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("bot.inbound.intake.receive", refuses)
    await rig.standby.settle()
    assert "standby.refused" in caplog.text
    assert not len(rig.spool)
    assert b"When do you open?" in spool_of(rig.db).with_name(f"{rig.db.name}.spool.refused").read_bytes()


async def test_an_unsaid_answer_that_is_found_once_more_in_the_spool_answers_nothing_else(rig: Rig) -> None:
    """A process killed between the commit and the removal of the file finds what is stored already."""
    case = await settled(rig)
    rig.model.then(says("At nine."), says("Yes."))
    async with full(rig.store):
        rig.channel.fail(RetryLater(0))
        await speak(rig, "When do you open?")
        left = spool_of(rig.db).read_bytes()
    await back(rig)
    spool_of(rig.db).write_bytes(left)
    await rig.restart()
    await rig.speak(case, "On Sundays too?", by="ann")
    await back(rig)
    assert rig.posted() == ["Hello.", "At nine.", "Yes."]
