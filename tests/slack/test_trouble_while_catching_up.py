"""The store or the platform fails while what was missed is read: the service goes on, and it is read later (R15)."""

from __future__ import annotations

import logging

import pytest

from bot import listening
from bot.losing import lose
from casestore.errors import StoreUnavailable
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.test_away import begun
from tests.slack.test_lost_places import lost


async def test_a_store_that_fails_at_a_lost_thread_stops_no_start_and_the_loss_is_noted_later(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(office)
    await office.close()
    failing = 1

    def failed(*args: object) -> None:
        nonlocal failing
        if failing:
            failing -= 1
            raise StoreUnavailable("the disk is full")
        lose(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr("bot.receiver.lose", failed)
    monkeypatch.setattr(listening, "_BEAT_S", 0.02)
    office.slack.fail_next("conversations.replies", error="thread_not_found", times=None)
    await office.open()
    await office.until_so(lambda: lost(office))
    assert failing == 0
    office.answers(says("Still here."))
    await office.shows(await office.asks("and now?"), "Still here.")


async def test_a_listening_that_has_ended_is_told_of_at_once_and_turns_health_red(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await office.slack.connected()
    assert await office.health() is None

    async def bug(*_: object) -> bool:
        raise RuntimeError("a bug")

    monkeypatch.setattr("bot.catching_up.CatchingUp.read", bug)
    with caplog.at_level(logging.ERROR, logger="casebound.app"):
        await office.slack.sockets.drop()
        await office.until_so(lambda: _red(office))
    assert "it has ended" in str(await office.health())
    (told,) = [record for record in caplog.records if record.getMessage() == "part.failed"]
    assert vars(told)["fields"] == {"part": "listening slack"}
    await office.close()
    assert [record.getMessage() for record in caplog.records].count("part.failed") == 1


async def _red(office: Office) -> bool:
    return "ended" in (await office.health() or "")
