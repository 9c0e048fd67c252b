"""While the store cannot be written the conversation goes on, nothing is done, and nothing is lost (R15)."""

import logging

import pytest

from bot.settings import Settings
from bot.settings.sections import Access
from casestore import cases
from casestore.errors import StoreUnavailable
from casestore.models import Case
from casestore.scope import System
from casestore.states import Outcome, Provenance
from channels.errors import RetryLater
from tests.degraded.broken import WAYS, Breakage, full, locked, spool_of
from tests.loop.conftest import MakeRig
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, Waits, calls, returned, said, says

OTHER = THREAD.model_copy(update={"thread": "t2"})

every_way = pytest.mark.parametrize("broken", WAYS.values(), ids=list(WAYS))


async def speak(rig: Rig, text: str, *, by: str = "ann", platform_id: str | None = None, at: object = THREAD) -> None:
    """Somebody writes, whether or not it can be stored."""
    address = THREAD if at is THREAD else OTHER
    await rig.channel.say(text, address=address, account=rig.account(by), addressed=True, platform_id=platform_id)
    await rig.standby.idle()


async def engine_tries(rig: Rig, case: Case) -> None:
    """The engine takes up a case it has work in, and what comes of it is over."""
    rig.engine.wake(case.id)
    await rig.engine.idle()
    await rig.standby.idle()


async def back(rig: Rig) -> None:
    """The store is back: what was kept is stored, what has work is worked, what is owed is said."""
    await rig.standby.settle()
    await rig.work()


async def conversation(rig: Rig, case: Case) -> list[tuple[str, str]]:
    return [(message.provenance, message.text) for message in await rig.messages(case)]


async def settled(rig: Rig) -> Case:
    """A case with a first exchange behind it."""
    rig.model.then(says("Hello."))
    case = await rig.say("Hi", platform_id="1")
    await rig.work()
    return case


@every_way
async def test_a_message_in_a_known_thread_is_answered_from_memory_and_stored_later(rig: Rig, broken: Breakage) -> None:
    case = await settled(rig)
    rig.model.then(says("At nine."))
    async with broken(rig.store):
        await speak(rig, "When do you open?", platform_id="2")
        assert rig.posted() == ["Hello.", "At nine."]
        assert said(rig.model.sent[-1]) == ["ann (requester): Hi", "ann (requester): When do you open?"]
    await back(rig)

    assert await conversation(rig, case) == [
        (Provenance.REQUESTER, "Hi"), (Provenance.ASSISTANT, "Hello."),
        (Provenance.REQUESTER, "When do you open?"), (Provenance.ASSISTANT, "At nine."),
    ]  # fmt: skip
    assert rig.posted() == ["Hello.", "At nine."], "and it is not said twice"
    assert len(rig.model.sent) == 2, "nor answered twice"
    assert [turn.state for turn in await rig.turns(case)] == ["settled", "settled"]


@every_way
async def test_its_run_has_a_record_with_what_it_used(rig: Rig, broken: Breakage) -> None:
    """R16"""
    case = await settled(rig)
    rig.model.then(says("At nine."))
    async with broken(rig.store):
        await speak(rig, "When do you open?")
    await back(rig)

    run = (await rig.runs(case))[-1]
    assert (run.outcome, run.stop_reason) == (Outcome.ANSWERED, "answered while the store could not be written")
    assert (run.input_tokens, run.output_tokens, run.cached_tokens, run.cost_usd) == (100, 10, 5, 0.001)
    assert not len(rig.spool)
    assert not spool_of(rig.db).exists()


async def test_what_is_said_next_is_seen_with_the_exchange_in_view(rig: Rig) -> None:
    await settled(rig)
    rig.model.then(says("At nine."), says("At five."), says("You asked about our hours."))
    async with full(rig.store):
        await speak(rig, "When do you open?")
        await speak(rig, "And close?")
    assert said(rig.model.sent[-1]) == [
        "ann (requester): Hi", "ann (requester): When do you open?", "ann (requester): And close?",
    ]  # fmt: skip
    await back(rig)
    await rig.say("What did I ask?")
    await rig.work()

    assert said(rig.model.sent[-1])[1:] == [
        "ann (requester): When do you open?", "ann (requester): And close?", "ann (requester): What did I ask?",
    ]  # fmt: skip
    assert rig.posted() == ["Hello.", "At nine.", "At five.", "You asked about our hours."]


@every_way
async def test_a_first_message_is_answered_and_becomes_a_case_later(rig: Rig, broken: Breakage) -> None:
    await rig.say("an earlier one", at=OTHER, by="ann")
    rig.model.then(says("Never mind."))
    await rig.work()
    rig.model.then(says("Welcome."))
    async with broken(rig.store):
        await speak(rig, "Hello?")
        assert rig.posted() == ["Welcome."]
    await back(rig)

    new = (await rig.store.read(cases.listing, System()))[0]
    assert await conversation(rig, new) == [(Provenance.REQUESTER, "Hello?"), (Provenance.ASSISTANT, "Welcome.")]
    assert rig.posted() == ["Welcome."]


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
        held.release.set()
        await rig.engine.idle()
        await rig.standby.idle()
        assert rig.posted() == ["Hello."]
    await back(rig)

    assert await conversation(rig, case) == [(Provenance.REQUESTER, "Hi"), (Provenance.ASSISTANT, "Hello.")]
    assert [run.input_tokens for run in await rig.runs(case)] == [100, 100]
    assert rig.posted() == ["Hello."]


@every_way
async def test_nothing_that_acts_is_run_and_what_only_looks_is(rig: Rig, broken: Breakage) -> None:
    await settled(rig)
    wanted = [("svc.restart", {"service": "nginx"}), ("note", {"text": "x"}), ("look", {"at": "nginx"})]
    rig.model.then(calls(*wanted), says("It is up; I restart nothing just now."))
    async with broken(rig.store):
        await speak(rig, "Restart nginx")
        assert rig.effects.made == ["look nginx"]
        assert rig.model.offered[-1] == ["broken", "look"]
        assert [str(result).startswith("refused") for result in returned(rig.model.sent[-1])] == [True, True, False]
    await back(rig)

    assert rig.effects.made == ["look nginx"], "nor afterwards: it was said that nothing is done"
    assert rig.posted()[-1] == "It is up; I restart nothing just now."


async def test_a_call_whose_result_could_not_be_stored_is_not_asked_about(rig: Rig) -> None:
    """R14: it is known how it ended."""
    held = rig.effects.hold("note")
    rig.model.then(calls(("note", {"text": "seen"})), says("Noted."))
    case = await rig.say("Note it")
    rig.engine.wake(case.id)
    await held.reached.wait()
    async with full(rig.store):
        held.release.set()
        await rig.engine.idle()
        await rig.standby.idle()
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
        held.release.set()
        await rig.engine.idle()
        await rig.standby.idle()
        assert rig.posted() == []
    await back(rig)
    assert rig.posted() == ["Noted."]
    assert rig.effects.made == ["note seen"]


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


@every_way
async def test_a_stranger_gets_nothing_at_all(make_rig: MakeRig, broken: Breakage) -> None:
    """R20: not the least when nobody can look up who they are."""
    rig = await make_rig(settings=Settings(access=Access(unknown="ignore")))
    async with broken(rig.store):
        await rig.channel.say("Hi", address=THREAD, account=rig.account("mallory"), addressed=True)
        await rig.standby.idle()
    await back(rig)
    assert rig.posted() == []
    assert rig.model.sent == []
    assert await rig.store.read(cases.listing, System()) == []


async def test_the_assistant_stays_silent_in_a_case_that_a_person_has(rig: Rig) -> None:
    """R12"""
    case = await settled(rig)
    await rig.take(case)
    async with full(rig.store):
        await speak(rig, "Are you there?")
    await back(rig)
    assert len(rig.model.sent) == 1
    assert (await rig.messages(case))[-1].text == "Are you there?"


async def test_a_turn_that_waits_at_a_gate_stays_as_it_is(rig: Rig) -> None:
    """R7, R8"""
    rig.model.then(calls(("svc.restart", {"service": "nginx"})), says("Restarted."))
    case = await rig.say("Restart nginx")
    await rig.work()
    gate = await rig.gate(case)
    async with full(rig.store):
        await speak(rig, "Well?")
    await back(rig)
    assert await rig.gate(case) == gate
    await rig.decide(case)
    await rig.work()
    assert rig.effects.made == ["restart nginx"]
    assert said(rig.model.sent[-1])[-1] == "ann (requester): Well?"


async def test_a_press_that_cannot_be_stored_decides_nothing_and_says_so(rig: Rig) -> None:
    """R5"""
    rig.model.then(calls(("svc.restart", {"service": "nginx"})))
    case = await rig.say("Restart nginx")
    await rig.work()
    gate = await rig.gate(case)
    card = rig.channel.sent[-1]
    async with full(rig.store):
        told = await rig.channel.press(THREAD, card.platform_id, "approve", rig.account("kim"))
    assert "nothing is decided" in told
    assert await rig.gate(case) == gate


async def test_there_is_one_notice_however_much_is_said(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    await settled(rig)
    rig.model.then(*(says(f"answer {n}") for n in range(20)))
    caplog.set_level(logging.INFO)
    async with full(rig.store):
        for n in range(20):
            await speak(rig, f"question {n}")
        assert rig.standby.since == rig.clock.now()
    await back(rig)
    assert [record.message for record in caplog.records].count("standby.begun") == 1
    assert [record.message for record in caplog.records].count("standby.over") == 1
    assert rig.standby.since is None
    assert rig.standby.answered == 20


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


async def test_messages_that_come_while_an_answer_is_made_are_answered_after_it_in_order(rig: Rig) -> None:
    """R11"""
    case = await settled(rig)
    held = Held()
    rig.model.then(Waits(held, says("First.")), says("Second and third."))
    async with full(rig.store):
        await rig.channel.say("one", address=THREAD, account=rig.account("ann"), addressed=True)
        await held.reached.wait()
        await rig.channel.say("two", address=THREAD, account=rig.account("ann"), addressed=True)
        await rig.channel.say("three", address=THREAD, account=rig.account("ann"), addressed=True)
        held.release.set()
        await rig.standby.idle()
    await back(rig)
    assert rig.posted() == ["Hello.", "First.", "Second and third."]
    assert [m.text for m in await rig.messages(case) if m.direction == "in"] == ["Hi", "one", "two", "three"]


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


async def test_a_case_whose_answer_is_being_made_from_memory_is_not_worked_beside_it(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Hello.")))
    case = await rig.say("Hi")
    async with full(rig.store):
        rig.engine.wake(case.id)
        await held.reached.wait()
        await rig.engine.idle()
    await engine_tries_beside(rig, case, held)
    await back(rig)
    assert rig.posted() == ["Hello."]
    assert len(rig.model.sent) == 1


async def engine_tries_beside(rig: Rig, case: Case, held: Held) -> None:
    """The store is back, and the engine takes the case up while its answer is still being made."""
    rig.engine.wake(case.id)
    await rig.engine.idle()
    held.release.set()
    await rig.standby.idle()


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

    monkeypatch.setattr("bot.intake.receive", refuses)
    await rig.standby.settle()
    assert "standby.refused" in caplog.text
    assert not len(rig.spool)
    assert b"When do you open?" in spool_of(rig.db).with_name(f"{rig.db.name}.spool.refused").read_bytes()


def nothing_can_be_read(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(*_: object, **__: object) -> None:
        raise StoreUnavailable("disk I/O error. Try again.")

    monkeypatch.setattr(rig.store, "read", failing)


async def test_where_nothing_can_be_read_only_a_new_thread_of_somebody_known_is_answered(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12, R20: a thread with a case may be a person's, and nobody can look; a stranger stays one."""
    await settled(rig)
    rig.model.then(says("Welcome."))
    async with full(rig.store):
        with monkeypatch.context() as patched:
            nothing_can_be_read(rig, patched)
            await speak(rig, "And here?")
            await speak(rig, "Hello?", at=OTHER)
            await speak(rig, "Me too", by="ben", at=OTHER)
            assert rig.posted() == ["Hello."]
            assert rig.posted(OTHER) == ["Welcome."]
            assert said(rig.model.sent[-1]) == ["somebody (requester): Hello?"]
            rig.model.then(says("Here as well."), says("You too."))
    await back(rig)
    assert rig.posted() == ["Hello.", "Here as well."]
    assert rig.posted(OTHER) == ["Welcome.", "You too."], "and what could not be answered is not lost"
