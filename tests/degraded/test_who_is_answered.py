"""From memory nobody is answered, and nothing is decided, that would not be otherwise (R5, R12, R15, R20)."""

import pytest

from bot.settings import Settings
from bot.settings.sections import Access
from casestore import cases
from casestore.errors import StoreUnavailable
from casestore.scope import System
from tests.degraded.broken import Breakage, full
from tests.degraded.talk import OTHER, back, every_way, settled, speak
from tests.loop.conftest import MakeRig
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import calls, said, says


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
