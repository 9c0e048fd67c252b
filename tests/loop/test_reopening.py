"""A case may be reopened whatever has become of its alert, and a turn that cannot begin does not go round for ever."""

import json

import pytest

from bot.alerts import alertmanager, intake
from bot.people import closing
from bot.settings import Settings, Slack
from bot.turns import advance
from casestore import cases
from casestore.models import Case
from casestore.scope import System
from casestore.states import CaseState, TurnState
from tests.loop.rig import MINUTE, Rig
from tests.loop.scripted import says


async def fire(rig: Rig, starts: str) -> Case:
    """The same alert fires; a later start is a new episode."""
    labels = {"alertname": "DiskAlmostFull", "severity": "critical"}
    member = {"status": "firing", "labels": labels, "annotations": {}, "startsAt": starts, "fingerprint": "f1"}
    payload = {
        "version": "4", "groupKey": "{}:{a}", "status": "firing", "receiver": "r", "groupLabels": {},
        "commonLabels": labels, "commonAnnotations": {}, "externalURL": "", "alerts": [member],
    }  # fmt: skip
    group = alertmanager.read(json.dumps(payload).encode(), rig.clock.now())
    taken = await rig.store.write(intake.receive, rig.clock.now(), group, rig.settings, None)
    assert taken.case is not None
    return taken.case


async def test_a_case_whose_alert_has_opened_a_newer_one_can_be_written_in_and_reopened(rig: Rig) -> None:
    rig.model.then(says("Looking."), says("Looking again."), says("Yes?"))
    old = await fire(rig, "2026-11-30T11:00:00Z")
    await rig.work()
    await rig.resolve(old)
    new = await fire(rig, "2026-11-30T12:00:00Z")
    await rig.work()
    assert new.follows == old.id

    await rig.speak(old, "what was it?", by="kim")
    await rig.work()
    assert (await rig.case(old)).state is CaseState.IN_PROGRESS
    assert (await rig.texts(old))[-1] == "Yes?"
    live = [case for case in await rig.store.read(cases.listing, System()) if case.dedup_key is not None]
    assert [case.id for case in live if case.is_live] == [new.id]

    await rig.resolve(old)
    await rig.store.write(closing.reopen, rig.clock.now(), await rig.case(old), by="test", why="")
    assert (await rig.case(old)).state is CaseState.IN_PROGRESS


async def never_begun(rig: Rig, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the case can be begun, for longer than it is tried."""

    def broken(*_: object) -> None:
        raise KeyError("what nobody thought of")

    monkeypatch.setattr(advance, "begin", broken)
    for _ in range(rig.settings.limits.attempts + 2):
        rig.engine.wake(case.id)
        await rig.engine.idle()
        rig.clock.pass_by(MINUTE)


async def test_a_turn_that_cannot_even_be_begun_is_an_operators_after_some_attempts(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = await rig.say("Hi")
    await never_begun(rig, case, monkeypatch)
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.FAILED]
    assert "An operator has to look at it" in (await rig.texts(case))[-1]


async def test_a_turn_that_cannot_be_begun_in_a_case_without_a_thread_is_told_of_where_approvals_are_asked(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = {"bot_token": "xoxb-1", "app_token": "xapp-1", "teams": ["T0123ABCD"], "approvals_room": "C0123ABCD"}
    rig.settings = Settings(slack=Slack.model_validate(room))
    await rig.restart()
    case = await fire(rig, "2026-11-30T11:00:00Z")
    await never_begun(rig, case, monkeypatch)
    (told,) = await rig.outbox(case)
    assert told.address == "slack:T0123ABCD/C0123ABCD"
    assert "C-1001 waits for an operator" in (told.body or "")


async def test_a_failure_that_comes_after_the_case_has_ended_starts_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.model.then(says("Hello."))
    case = await rig.say("Hi")
    await rig.work()
    await rig.close(case)
    before = await rig.turns(case)

    def broken(*_: object) -> None:
        raise KeyError("what nobody thought of")

    monkeypatch.setattr(advance, "begin", broken)
    rig.engine.wake(case.id)
    await rig.engine.idle()
    assert await rig.turns(case) == before
