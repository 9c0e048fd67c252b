"""Tokens that end while the service runs: health is red and says what to do, nothing is lost, and nothing storms."""

import asyncio

import pytest
from pydantic import SecretStr

from casestore import outbox
from channels.slack.web import Web
from tests.loop.rig import MINUTE
from tests.loop.scripted import Held, says
from tests.slack.office import Office
from tests.slack.reading import read
from tests.slack.test_asked_to_wait import due
from tests.wire.slack.rooms import Message
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN


async def refused_with_lines_due(office: Office, error: str) -> list[Message]:
    """Twenty threads with three lines each that are due, and a token that has ended."""
    await office.slack.revoke(error=error)
    threads = [office.ann.writes(office.ops, f"thread {number}") for number in range(20)]
    await due(office, *threads, lines=3)
    await office.until_so(lambda: red(office))
    await office.until_so(lambda: none_under_way(office))
    return threads


async def red(office: Office) -> bool:
    return "slack" in office.service.delivery.refused


async def none_under_way(office: Office) -> bool:
    return (await office.service.store.read(outbox.counts)).get("sending", 0) == 0


async def all_said_once_in_order(office: Office, threads: list[Message]) -> None:
    last = threads[-1]
    await office.in_time(lambda: len(office.slack.posts(last)) == 3 or None, "all lines")
    for thread in threads:
        await office.in_time(lambda thread=thread: len(office.slack.posts(thread)) == 3 or None, "all lines")
        assert [read(post) for post in office.slack.posts(thread)] == ["line 0", "line 1", "line 2"]


@pytest.mark.parametrize("error", ["token_revoked", "invalid_auth", "account_inactive"])
async def test_with_a_bot_token_that_has_ended_slack_is_called_once_a_minute_and_then_all_is_said_in_order(
    office: Office, error: str
) -> None:
    threads = await refused_with_lines_due(office, error)
    said = await office.health() or ""
    assert error.replace("_", " ") in said
    assert "slack.bot_token" in said
    assert "in the settings and restart" in said
    before = len(office.slack.calls("chat.postMessage"))
    for minute in range(1, 6):
        for _ in range(60):
            office.clock.ms += MINUTE // 60
            await office.service.delivery.deliver_due()
        assert len(office.slack.calls("chat.postMessage")) <= before + minute, "one call a minute"
    office.slack.restore()
    await all_said_once_in_order(office, threads)
    assert await office.health() is None


async def test_two_looks_at_once_ask_a_slack_that_refuses_us_only_once(office: Office) -> None:
    await refused_with_lines_due(office, "token_revoked")
    before = len(office.slack.calls("chat.postMessage"))
    office.clock.ms += MINUTE
    await asyncio.gather(*(office.service.delivery.deliver_due() for _ in range(3)))
    assert len(office.slack.calls("chat.postMessage")) == before + 1


async def test_after_a_restart_with_a_new_token_all_that_was_due_is_said(office: Office) -> None:
    threads = await refused_with_lines_due(office, "token_revoked")
    await office.restart()
    assert "token revoked (slack.bot_token)" in (await office.health() or ""), "and the start says so too"
    bot = office.slack.workspace.tokens.bot
    bot.text, bot.gone = "xoxb-2-new", ""
    slack = office.settings.slack.model_copy(update={"bot_token": SecretStr("xoxb-2-new")})
    office.settings = office.settings.model_copy(update={"slack": slack})
    await office.restart()
    office.clock.ms += MINUTE
    await all_said_once_in_order(office, threads)
    assert BOT_TOKEN not in {call.token for call in office.slack.calls("chat.postMessage") if call.ok}


async def test_a_bot_token_that_ends_while_nobody_says_anything_is_noticed_and_so_is_its_return(office: Office) -> None:
    office.ask_every_s = 0.05
    await office.restart()
    assert await office.health() is None
    office.slack.workspace.tokens.bot.gone = "account_inactive"
    await office.until_so(lambda: says_of_health(office, "account inactive"))
    office.slack.restore()
    await office.until_so(lambda: well(office))


async def says_of_health(office: Office, words: str) -> bool:
    return words in (await office.health() or "")


async def well(office: Office) -> bool:
    return await office.health() is None


async def test_with_an_app_token_that_has_ended_health_says_which_and_slack_is_asked_now_and_then(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack's own client would ask again at every look, for ever, and say so to nobody."""
    held, sleep = Held(), asyncio.sleep

    async def sleeping(seconds: float) -> None:
        if seconds == 12 * office.look_every_s:
            await held.wait()
            seconds = 0
        await sleep(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleeping)
    await office.slack.revoke(APP_TOKEN, "invalid_auth")
    asked = len(office.slack.calls("apps.connections.open"))
    await office.slack.sockets.disconnect("warning")
    await held.reached.wait()
    assert "invalid auth (slack.app_token)" in (await office.health() or "")
    await office.slack.sockets.drop()
    client = getattr(office.service.channels["slack"], "_transport")._client  # noqa: B009 - of our own channel
    await office.until_so(lambda: tells_again(client))
    assert len(office.slack.calls("apps.connections.open")) == asked + 1, "its client knocks, and we wait"
    said = await office.ann.mentions(office.ops, "help")
    office.slack.restore(APP_TOKEN)
    held.release.set()
    await office.slack.connected()
    await office.until_so(lambda: well(office))
    office.answers(says("Here again."))
    await office.slack.advance(3)
    await office.shows(said.message, "Here again.")


async def tells_again(client: object) -> bool:
    """Whether Slack's client has seen that the connection is gone and wanted a new one."""
    lost = getattr(client, "lost")  # noqa: B009 - of our own client
    if lost.is_set() and not hasattr(client, "cleared"):
        lost.clear()
        setattr(client, "cleared", True)  # noqa: B010
        return False
    return hasattr(client, "cleared") and lost.is_set()


async def test_a_token_that_is_no_bots_is_refused_in_one_sentence_that_names_the_setting(office: Office) -> None:
    """`auth.test` gives `bot_id` for a bot's token alone. https://docs.slack.dev/reference/methods/auth.test"""
    await office.close()
    office.slack.fail_next(
        "auth.test", body=f'{{"ok": true, "team_id": "{office.slack.team}", "user_id": "U1"}}',
        content_type="application/json",
    )  # fmt: skip
    await office.open()
    assert "slack.bot_token is not a bot's" in (await office.health() or "")


async def test_asking_for_the_token_that_ends_with_a_bug_turns_health_red_and_is_logged(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def bug(_: Web) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Web, "who_we_are", bug)
    office.ask_every_s = 0.01
    await office.restart()
    await office.until_so(lambda: says_of_health(office, "restart the service"))
    assert "slack.asking_ended" in caplog.messages
