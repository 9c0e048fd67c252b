"""An alert that comes while a call waits is no talk: nobody waits for an answer to it."""

import pytest

from bot.turns import advance
from casestore import leases, messages
from casestore.messages import Said, text_body
from casestore.states import Provenance, TurnState
from tests.beside.gate import at_a_gate
from tests.loop.rig import Rig
from tests.loop.scripted import said, says


async def test_an_alert_alone_is_no_talk(rig: Rig) -> None:
    """It is stored, and in view when the turn goes on; nobody waits for an answer to it."""
    case = await at_a_gate(rig)

    alert = Said(Provenance.ALERT, text_body("It hangs still"))
    await rig.store.write(messages.receive, rig.clock.now(), case.id, alert)
    assert await rig.store.read(leases.ready, rig.clock.now(), 9, talks=True) == []
    assert not await rig.store.read(leases.has_work, case.id, talks=True)
    assert await rig.conductor.work(case.id) is None

    rig.model.then(says("Restarted."))
    await rig.decide(case)
    await rig.work()
    assert said(rig.model.sent[-1])[-1] == "alert: It hangs still"


async def test_a_bug_makes_no_talk_of_an_alert_either(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    case = await at_a_gate(rig)
    alert = Said(Provenance.ALERT, text_body("It hangs still"))
    await rig.store.write(messages.receive, rig.clock.now(), case.id, alert)

    def broken(*_: object) -> None:
        raise KeyError("what nobody thought of")

    monkeypatch.setattr(advance, "begin", broken)
    rig.engine.wake(case.id)
    await rig.engine.idle()
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.PARKED]
