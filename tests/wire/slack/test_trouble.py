"""Calls that go wrong, as the real client meets them."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)

from tests.wire.slack.clients import Client, refusal, refused
from tests.wire.slack.server import SlackServer


async def test_too_many_calls_are_told_when_to_come_again(slack: SlackServer, client: Client) -> None:
    room = slack.room()
    slack.fail_next("chat.postMessage", retry_after=7)
    response = await refused(client.chat_postMessage(channel=room.id, text="x"))
    assert (response.status_code, response.headers["Retry-After"]) == (429, "7")
    assert (await client.chat_postMessage(channel=room.id, text="x"))["ok"]
    assert [call.status for call in slack.calls("chat.postMessage")] == [429, 200]


async def test_the_clients_own_handler_waits_as_long_as_it_is_told(slack: SlackServer, client: Client) -> None:
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    slack.fail_next("chat.postMessage", retry_after=0)
    assert (await client.chat_postMessage(channel=slack.room().id, text="x"))["ok"]


async def test_a_limit_on_one_room_stands_until_its_time_has_passed(slack: SlackServer, client: Client) -> None:
    busy, other = slack.room(), slack.room()
    slack.limit("chat.postMessage", 10, room=busy)
    assert (await client.chat_postMessage(channel=other.id, text="x"))["ok"]
    assert (await refusal(client.chat_postMessage(channel=busy.id, text="x")))["error"] == "ratelimited"
    await slack.advance(9)
    assert (await refusal(client.chat_postMessage(channel=busy.id, text="x")))["error"] == "ratelimited"
    await slack.advance(1)
    assert (await client.chat_postMessage(channel=busy.id, text="x"))["ok"]


async def test_a_paced_room_takes_one_message_in_its_time(slack: SlackServer, client: Client) -> None:
    busy, other = slack.room(), slack.room()
    slack.pace(1)
    for room in (busy, other):
        assert (await client.chat_postMessage(channel=room.id, text="x"))["ok"]
    response = await refused(client.chat_postMessage(channel=busy.id, text="y"))
    assert response.headers["Retry-After"] == "1"
    await slack.advance(1)
    assert (await client.chat_postMessage(channel=busy.id, text="y"))["ok"]
    assert [post.text for post in slack.posts(busy)] == ["x", "y"]


@pytest.mark.parametrize("error", ["fatal_error", "internal_error", "service_unavailable"])
async def test_slacks_own_errors_can_be_had(slack: SlackServer, client: Client, error: str) -> None:
    slack.fail_next("auth.test", error=error)
    assert (await refusal(client.auth_test()))["error"] == error


async def test_a_server_error_is_a_page_and_not_json(slack: SlackServer, client: Client) -> None:
    slack.fail_next("auth.test", status=503, times=2)
    assert (await refused(client.auth_test())).status_code == 503
    client.retry_handlers.append(AsyncServerErrorRetryHandler(max_retry_count=1))
    assert (await client.auth_test())["ok"]


async def test_a_connection_can_be_cut_before_and_after_the_message_stands(slack: SlackServer, client: Client) -> None:
    room = slack.room()
    slack.fail_next("chat.postMessage", cut_before=True)
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=room.id, text="x")
    assert slack.posts(room) == []
    slack.fail_next("chat.postMessage", cut_after_accepting=True)
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=room.id, text="x")
    assert [post.text for post in slack.posts(room)] == ["x"]


async def test_the_clients_default_handler_posts_twice_when_the_answer_is_lost(
    slack: SlackServer, client: Client
) -> None:
    """What channels/slack must not use for posting."""
    room = slack.room()
    client.retry_handlers.append(AsyncConnectionErrorRetryHandler(max_retry_count=1))
    slack.fail_next("chat.postMessage", cut_after_accepting=True)
    await client.chat_postMessage(channel=room.id, text="x")
    assert len(slack.posts(room)) == 2


async def test_a_call_can_be_held_at_the_door_until_something_else_has_happened(
    slack: SlackServer, client: Client
) -> None:
    room = slack.room()
    hold = slack.hold("chat.postMessage")
    posting = asyncio.ensure_future(client.chat_postMessage(channel=room.id, text="x"))
    await hold.arrived()
    assert slack.posts(room) == []
    await slack.archive(room)
    hold.release()
    assert (await refusal(posting))["error"] == "is_archived"


async def test_a_method_can_fail_until_it_is_healed(slack: SlackServer, client: Client) -> None:
    slack.fail_next("auth.test", error="fatal_error", times=None)
    for _ in range(3):
        assert (await refusal(client.auth_test()))["error"] == "fatal_error"
    slack.heal("auth.test")
    assert (await client.auth_test())["ok"]


async def test_what_does_not_happen_fails_instead_of_hanging(slack: SlackServer) -> None:
    with pytest.raises(AssertionError, match="the impossible"):
        await slack.until(lambda: False, within=0.1, what="the impossible")
