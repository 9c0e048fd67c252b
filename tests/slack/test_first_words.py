"""Somebody writes to us directly for the very first time while nobody listens (R29)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.clock import SystemClock
from bot.settings import Access
from casestore import cases
from casestore.scope import System
from channels.slack import scopes
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.test_catching_up import heard
from tests.wire.slack.server import SlackServer

MINUTE = 60


NOW = SystemClock().now() // 1_000
"""Of Slack and of the office alike, in seconds."""


def punctual(slack: SlackServer, db: Path) -> Office:
    """An office whose clock shows Slack's time."""
    made = Office(slack, db)
    made.clock.ms = int(slack.clock.now() * 1_000)
    return made


async def later(office: Office, minutes: int) -> None:
    """Time passes, for Slack and for us."""
    await office.slack.advance(minutes * MINUTE)
    office.clock.ms += minutes * MINUTE * 1_000


@pytest.fixture
async def unopened(tmp_path: Path) -> AsyncIterator[Office]:
    """Nobody has started it yet."""
    async with SlackServer(at=NOW) as slack:
        made = punctual(slack, tmp_path / "c.db")
        yield made
        await made.close()


@pytest.fixture
async def office(unopened: Office) -> Office:
    """Somebody has written to the app directly long before anybody installed Casebound; then it was started."""
    unopened.ann.writes(None, "is anybody there?")
    await later(unopened, 60)
    await unopened.open()
    await unopened.slack.connected()
    return unopened


async def test_a_new_installation_answers_nothing_that_was_said_before_it(unopened: Office) -> None:
    office = unopened
    office.settings = office.settings.model_copy(update={"access": Access(unknown="requester")})
    office.ann.writes(None, "is anybody there?")
    await later(office, 60)
    await office.open()
    await office.slack.called("conversations.history")
    await office.restart()
    assert await office.service.store.read(cases.listing, System()) == []


async def test_it_is_read_at_the_next_start_with_what_was_said_below_it(office: Office) -> None:
    await later(office, 60)
    await office.close()
    first = office.kim.writes(None, "the shop is down")
    office.kim.writes(None, "since noon", thread=first)
    office.answers(says("I am on it."), says("Since noon, I see."))
    await office.open()
    await office.shows(first, "I am on it.")
    assert await heard(office) == {"the shop is down": ["the shop is down", "since noon"]}
    await office.restart()
    assert await heard(office) == {"the shop is down": ["the shop is down", "since noon"]}


async def test_what_was_said_first_while_the_connection_was_gone_is_read_when_it_is_back(office: Office) -> None:
    await office.cut_off()
    said = await office.kim.says(None, "the shop is down")
    await office.given_up(said)
    office.clock.ms = int(office.slack.clock.now() * 1_000)
    office.answers(says("I am on it."))
    await office.reconnected()
    await office.shows(said.message, "I am on it.")


async def test_a_stranger_is_let_in_by_it_no_more_than_by_writing(office: Office) -> None:
    """R20"""
    await later(office, 60)
    await office.close()
    office.mallory.writes(None, "give me everything")
    await office.open()
    assert await heard(office) == {}


async def test_among_many_conversations_everybody_is_found_and_nobody_who_has_left_is_asked_about(
    office: Office,
) -> None:
    await later(office, 60)
    await office.close()
    rooms = {office.slack.direct(office.slack.member(f"m{number}")).id for number in range(230)}
    gone = office.slack.member("gone")
    gone.person.deactivated = True
    left = office.slack.direct(gone).id
    first = office.kim.writes(None, "the shop is down")
    office.answers(says("I am on it."))
    await office.open()
    await office.shows(first, "I am on it.")
    await office.slack.called("conversations.history", 230)
    asked = {str(call.args["channel"]) for call in office.slack.calls("conversations.history")}
    assert rooms <= asked
    assert left not in asked
    assert len(office.slack.calls("conversations.list")) == 1 + 2, "a page has two hundred of them"


async def test_an_app_that_was_never_given_the_scope_is_told_of_it_and_reads_the_rest(
    unopened: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office = unopened
    office.slack.workspace.tokens.bot.scopes = frozenset(scopes.BOT) - {"im:read"}
    await office.open()
    await office.slack.connected()
    office.answers(says("Hello."))
    thread = await office.asks()
    await office.shows(thread, "Hello.")
    await office.close()
    office.ann.writes(office.ops, "and now?", thread=thread)
    office.answers(says("I have read it."))
    with caplog.at_level(logging.WARNING, "casebound.listening"):
        await office.open()
        await office.shows(thread, "I have read it.")
        await office.slack.called("conversations.list", 2)
        await office.until_so(lambda: _warned(caplog))


async def _warned(caplog: pytest.LogCaptureFixture) -> bool:
    return any("im:read" in str(getattr(record, "fields", "")) for record in caplog.records)
