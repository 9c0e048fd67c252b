"""The store or the platform fails while what was missed is read: the service goes on, and it is read later (R15)."""

from __future__ import annotations

import asyncio
import logging

import pytest

from bot.inbound import listening
from bot.inbound.catching_up import CatchingUp
from bot.outbound.losing import lose
from casestore.errors import StoreUnavailable
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.test_away import begun
from tests.slack.test_lost_places import lost
from tests.wire.slack.rooms import Message
from tests.wire.slack.tokens import EVERY_SCOPE

MINUTE = 60_000


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

    monkeypatch.setattr("bot.inbound.receiver.lose", failed)
    monkeypatch.setattr(listening, "_BEAT_S", 0.02)
    office.slack.fail_next("conversations.replies", error="thread_not_found", times=None)
    await office.open()
    assert failing == 0
    office.clock.ms += MINUTE
    await office.until_so(lambda: lost(office))
    office.answers(says("Still here."))
    await office.shows(await office.asks("and now?"), "Still here.")


async def test_a_listening_that_has_ended_is_told_of_at_once_and_turns_health_red(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await office.slack.connected()
    assert await office.health() is None

    async def bug(*_: object) -> bool:
        raise RuntimeError("a bug")

    monkeypatch.setattr("bot.inbound.catching_up.CatchingUp.read", bug)
    with caplog.at_level(logging.ERROR, logger="casebound.app"):
        await office.slack.sockets.drop()
        await office.until_so(lambda: _red(office))
    assert "it has ended" in str(await office.health())
    (told,) = [record for record in caplog.records if record.getMessage() == "part.failed"]
    assert vars(told)["fields"] == {"part": "listening slack"}
    await office.close()
    assert [record.getMessage() for record in caplog.records].count("part.failed") == 1


async def two_threads(office: Office, monkeypatch: pytest.MonkeyPatch) -> tuple[Message, Message]:
    """One in which mallory has written, of whom Slack cannot tell who she is, and one of ann's; nobody listens."""
    monkeypatch.setattr(listening, "_BEAT_S", 0.01)
    await office.let_strangers_in()
    stuck, other = await begun(office, "stuck"), await begun(office, "other")
    await office.close()
    office.mallory.writes(office.ops, f"<@{office.slack.bot.id}> and I?", thread=stuck)
    office.ann.writes(office.ops, "more", thread=other)
    return stuck, other


def read_of(office: Office, thread: Message) -> int:
    """How often a thread was read."""
    return sum(call.args["ts"] == thread.ts for call in office.slack.calls("conversations.replies"))


async def test_a_thread_whose_author_slack_cannot_tell_waits_alone_and_longer_each_time(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are not read again for it, and it is not read each minute (R29)."""
    stuck, other = await two_threads(office, monkeypatch)
    office.slack.fail_next("users.info", error="internal_error", times=None)
    office.answers(says("I have read more."))
    before = read_of(office, stuck), read_of(office, other)
    await office.open()
    await office.shows(other, "I have read more.")
    passes = len(office.slack.calls("conversations.list"))
    assert (read_of(office, stuck), read_of(office, other)) == (before[0] + 1, before[1] + 1)
    times: list[int] = []
    for minute in range(8):
        await _beats(office, monkeypatch)
        if read_of(office, stuck) > before[0] + 1 + len(times):
            times.append(minute)
        office.clock.ms += MINUTE
    assert times == [1, 3, 7]
    assert read_of(office, other) == before[1] + 1
    assert len(office.slack.calls("conversations.list")) == passes
    office.slack.heal("users.info")
    await office.close()
    office.answers(says("Hello mallory."))
    await office.open()
    await office.shows(stuck, "Hello mallory.")


async def _beats(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a whole beat has passed that began after now."""
    ended, read_on = 0, CatchingUp.read_on

    async def counted(past: CatchingUp) -> None:
        nonlocal ended
        await read_on(past)
        ended += 1

    async def two() -> bool:
        return ended >= 2

    with monkeypatch.context() as patched:
        patched.setattr(CatchingUp, "read_on", counted)
        await office.until_so(two)


async def test_a_token_that_is_refused_ends_the_pass_and_all_is_read_once_it_is_good(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_BEAT_S", 0.01)
    threads = [await begun(office, text) for text in ("one", "two", "three")]
    await office.close()
    office.ann.writes(office.ops, "and now?", thread=threads[0])
    before = len(office.slack.calls("conversations.replies"))
    hold = office.slack.hold("conversations.replies")
    office.slack.fail_next("conversations.replies", error="token_revoked")
    opening = asyncio.create_task(office.open())
    await hold.arrived()
    assert len(office.slack.calls("conversations.list")) == 1, "of the first start"
    assert hold.at_the_door == 1
    office.answers(says("I have read it."))
    hold.release()
    await opening
    await office.shows(threads[0], "I have read it.")
    await office.slack.until(lambda: len(office.slack.calls("conversations.list")) == 2, what="the end of a pass")
    read = office.slack.calls("conversations.replies")[before:]
    assert len(read) == 1 + 3, "the refused one, then each thread"


async def test_a_scope_that_is_missing_keeps_nothing_else_from_being_read_and_is_asked_for_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_BEAT_S", 0.01)
    office.answers(says("Hello."))
    direct = await office.ann.says(None, "first")
    await office.shows(direct.message, "Hello.")
    thread = await begun(office)
    await office.close()
    office.ann.writes(office.ops, "and now?", thread=thread)
    second = office.ann.writes(None, "second")
    office.slack.workspace.tokens.bot.scopes = EVERY_SCOPE - {"im:history"}
    office.answers(says("I have read it."))
    await office.open()
    await office.shows(thread, "I have read it.")
    office.slack.workspace.tokens.bot.scopes = EVERY_SCOPE
    office.answers(says("Directly."))
    office.clock.ms += MINUTE
    await office.shows(second, "Directly.")


async def _red(office: Office) -> bool:
    return "ended" in (await office.health() or "")
