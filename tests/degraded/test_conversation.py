"""While the store cannot be written the conversation goes on, and nothing is done (R15)."""

import asyncio
import logging
from itertools import count

import pytest

from bot.watch import watch
from casestore import cases
from casestore.errors import StoreUnavailable
from casestore.models import CaseId
from casestore.scope import System
from casestore.states import Outcome, Provenance
from tests.degraded.broken import Breakage, full, spool_of
from tests.degraded.talk import OTHER, back, conversation, engine_goes_on, every_way, settled, speak
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, Waits, calls, returned, said, says


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
async def test_a_store_that_goes_while_the_model_writes_about_a_case_hides_from_nobody_who_speaks_next(
    rig: Rig, broken: Breakage
) -> None:
    """All that waits to be stored is what that call has used, and nobody has noticed why."""
    held = Held()
    rig.model.then(says("Hello."), says("At nine."))
    rig.model.in_short.append(Waits(held, says("It is fine.")))
    case = await rig.say("Hi", platform_id="1")
    rig.engine.wake(case.id)
    await held.reached.wait()
    await rig.work()
    async with broken(rig.store):
        held.release.set()
        await rig.paraphrasing.idle()
        await speak(rig, "When do you open?", platform_id="2")
        assert rig.posted() == ["Hello.", "At nine."]
    await back(rig)
    assert [text for _, text in await conversation(rig, case)] == ["Hi", "Hello.", "When do you open?", "At nine."]
    assert [run.input_tokens for run in await rig.runs(case)] == [200, 100]


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


async def test_there_is_one_notice_however_much_is_said(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    await settled(rig)
    rig.model.then(*(says(f"answer {n}") for n in range(20)))
    caplog.set_level(logging.INFO, logger="casebound")
    async with full(rig.store):
        for n in range(20):
            await speak(rig, f"question {n}")
        assert rig.standby.since == rig.clock.now()
    await back(rig)
    assert [record.message for record in caplog.records].count("standby.begun") == 1
    assert [record.message for record in caplog.records].count("standby.over") == 1
    assert rig.standby.since is None
    assert rig.standby.answered == 20


async def test_watching_for_its_return_is_not_logged_over_and_over(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R15: it looks several times a second, and what it logs lands on a disk that may be full."""
    await settled(rig)
    tries, often = count(1), asyncio.Event()

    async def fails() -> list[CaseId]:
        if next(tries) == 5:
            often.set()
        raise StoreUnavailable("database or disk is full")

    monkeypatch.setattr(rig.standby, "settle", fails)
    monkeypatch.setattr("bot.watch._EVERY_S", 0)
    watching = rig.start(watch(rig.store, rig.engine, rig.delivery, rig.standby))
    await often.wait()
    watching.cancel()
    assert [record.message for record in caplog.records].count("watch.failed") == 1


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


async def test_a_message_that_comes_while_a_stored_one_is_answered_from_memory_has_an_answer_of_its_own(
    rig: Rig,
) -> None:
    """R11"""
    held = Held()
    rig.model.then(Waits(held, says("Hello.")), says("Yes, two."))
    case = await rig.say("Hi")
    async with full(rig.store):
        rig.engine.wake(case.id)
        await held.reached.wait()
        await rig.channel.say("two?", address=THREAD, account=rig.account("ann"), addressed=True)
        await engine_goes_on(rig, held)
        assert rig.posted() == ["Hello.", "Yes, two."]
    await back(rig)
    assert [text for _, text in await conversation(rig, case)] == ["Hi", "Hello.", "two?", "Yes, two."]
    assert len(rig.model.sent) == 2


async def test_what_was_said_elsewhere_before_the_answer_was_stored_is_answered_too(rig: Rig) -> None:
    """R11: an answer answers what it saw, and nothing that came into its case beside it."""
    case = await settled(rig)
    rig.model.then(says("At nine."), says("I will tell them."))
    async with full(rig.store):
        await speak(rig, "When do you open?")
    await rig.speak(case, "Closed on Monday!", by="kim")
    await back(rig)
    assert rig.posted() == ["Hello.", "At nine.", "I will tell them."]
    assert said(rig.model.sent[-1])[-1] == "kim (operator): Closed on Monday!"
    assert len(rig.model.sent) == 3
