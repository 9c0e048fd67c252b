"""What the real clients do that channels/slack has to know. A new version that does otherwise turns these red."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler

from tests.wire.slack.bolt_app import Heard, bolt, connected, quiet
from tests.wire.slack.clients import web_client
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer

Next = Callable[[], Awaitable[None]]


@pytest.mark.parametrize("error", ["token_revoked", "fatal_error"])
async def test_bolt_acknowledges_what_it_is_not_authorised_for_before_app_middleware_sees_it(
    slack: SlackServer, error: str
) -> None:
    """auth.test is asked at the first event; while it fails, only `before_authorize` hears of anything."""
    heard, late, kim = Heard(), Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    app = bolt(slack, heard)

    async def store(body: Any, next: Next) -> None:
        late.keep(body, None)
        await next()

    cast("Any", app).middleware(store)
    slack.fail_next("auth.test", error=error)
    async with connected(slack, app):
        lost = await kim.says(room, "lost")
        await slack.acked(*lost.deliveries)
        kept = await kim.says(room, "kept")
        await slack.acked(*kept.deliveries)
    assert [event["text"] for event in heard.events()] == ["lost", "kept"]
    assert [event["text"] for event in late.events()] == ["kept"]
    assert "reinstall" in lost.deliveries[0].answer["text"]
    assert len(slack.sockets.mistakes) == 1


async def test_bolt_asks_auth_test_once_and_does_not_notice_a_revoked_token(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    async with connected(slack, bolt(slack, heard)):
        for text in ("one", "two"):
            said = await kim.says(room, text)
            await slack.acked(*said.deliveries)
        await slack.revoke(BOT_TOKEN)
        said = await kim.says(room, "three")
        await slack.acked(*said.deliveries)
    assert len(slack.calls("auth.test")) == 1
    assert [event.get("text", event["type"]) for event in heard.events()] == ["one", "two", "tokens_revoked", "three"]


async def test_a_first_delivery_has_the_retry_header_too(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    async with connected(slack, bolt(slack, heard)):
        said = await kim.says(slack.room("ops", kim), "help")
        await slack.acked(*said.deliveries)
    assert heard.retries == ["0"]


async def test_an_event_that_no_listener_wants_is_not_acknowledged(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    async with connected(slack, bolt(slack, heard)):
        joined = await slack.member("bob").joins(room)
        said = await kim.says(room, "after")
        await slack.acked(*said.deliveries)
    assert [event["type"] for event in heard.events()] == ["member_joined_channel", "message"]
    assert not joined[0].acked


async def test_bolt_drops_the_apps_own_messages_but_only_after_before_authorize(slack: SlackServer) -> None:
    heard, late = Heard(), Heard()
    room = slack.room()
    app = bolt(slack, heard, drops_own=True)

    async def store(body: Any, next: Next) -> None:
        late.keep(body, None)
        await next()

    cast("Any", app).middleware(store)
    async with connected(slack, app):
        await web_client(slack).chat_postMessage(channel=room.id, text="ours")
        await slack.until(lambda: slack.deliveries.all)
        await slack.acked(*slack.deliveries.all)
    assert len(heard.bodies) == 1
    assert late.bodies == []


async def test_what_comes_quickly_is_worked_at_the_same_time_so_the_second_may_be_stored_first(
    slack: SlackServer,
) -> None:
    heard, kim, disk = Heard(), slack.member("kim"), asyncio.Event()
    room = slack.room("ops", kim)
    heard.slow = disk
    async with connected(slack, bolt(slack, heard)):
        first = await kim.says(room, "first")
        second = await kim.says(room, "second")
        await slack.acked(*second.deliveries)
        assert not first.acked
        disk.set()
        await slack.acked(*first.deliveries)
    assert [event["text"] for event in heard.events()] == ["second", "first"]


async def test_with_a_bad_app_token_bolt_never_stops_trying_to_connect_and_tells_nobody(slack: SlackServer) -> None:
    """`connect_async` does not return: channels/slack looks at the token itself before, and again when it is deaf."""
    await slack.revoke(APP_TOKEN)
    handler = AsyncSocketModeHandler(bolt(slack, Heard()), APP_TOKEN, logger=quiet, ping_interval=0.05)
    connecting = asyncio.ensure_future(handler.connect_async())
    try:
        await slack.called("apps.connections.open", at_least=4)
        assert not connecting.done()
    finally:
        connecting.cancel()
        await handler.close_async()


async def test_a_proxy_of_the_environment_is_used_even_for_this_machine(
    slack: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(aiohttp.ClientError):
        await web_client(slack).auth_test()


async def test_the_team_of_the_event_goes_along_with_every_call_of_a_listener(slack: SlackServer) -> None:
    kim = slack.member("kim")
    async with connected(slack, bolt(slack, Heard())):
        said = await kim.says(slack.room("ops", kim), "help")
        await slack.acked(*said.deliveries)
    assert slack.calls("auth.test")[0].args == {"team_id": slack.team}
