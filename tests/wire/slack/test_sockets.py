"""The real Bolt app over Socket Mode: it connects, acknowledges, is told again, and comes back."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler

from tests.wire.slack.bolt_app import Heard, bolt, connected, quiet
from tests.wire.slack.server import APP_TOKEN, SlackServer


async def test_a_mention_is_heard_as_two_events_and_both_are_acknowledged(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    async with connected(slack, bolt(slack, heard)):
        said = await kim.mentions(room, "help")
        await slack.acked(*said.deliveries)
    assert [event["type"] for event in heard.events()] == ["app_mention", "message"]
    assert {event["ts"] for event in heard.events()} == {said.ts}
    assert len({body["event_id"] for body in heard.bodies}) == 2
    assert [event.get("channel_type") for event in heard.events()] == [None, "channel"]
    assert slack.sockets.mistakes == []


async def test_a_direct_message_is_no_mention(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    async with connected(slack, bolt(slack, heard)):
        said = await kim.says(None, f"<@{slack.bot.id}> help")
        await slack.acked(*said.deliveries)
    assert [event["channel_type"] for event in heard.events()] == ["im"]


async def test_a_room_without_the_app_is_not_heard(slack: SlackServer) -> None:
    kim = slack.member("kim")
    said = await kim.says(slack.room("hidden", kim, with_bot=False), "psst")
    assert said.deliveries == []


async def test_what_could_not_be_stored_is_not_acknowledged_and_comes_again_until_it_is(slack: SlackServer) -> None:
    heard, kim = Heard(failing=2), slack.member("kim")
    async with connected(slack, bolt(slack, heard)):
        said = await kim.says(slack.room("ops", kim), "help")
        await slack.until(lambda: heard.failed == 1)
        await slack.advance(2.9)
        assert len(said.deliveries[0].attempts) == 1
        await slack.advance(0.1)
        await slack.until(lambda: heard.failed == 2)
        await slack.advance(59)
        assert len(said.deliveries[0].attempts) == 2
        await slack.advance(1)
        await slack.acked(*said.deliveries)
        await slack.advance(1000)
    assert heard.retries == ["2"]
    assert [attempt.number for attempt in said.deliveries[0].attempts] == [0, 1, 2]
    assert len(said.deliveries[0].acks) == 1


async def test_slack_gives_up_after_three_repetitions(slack: SlackServer) -> None:
    kim = slack.member("kim")
    said = await kim.says(slack.room("ops", kim), "nobody is there")
    for seconds in (3, 60, 300, 1000):
        await slack.advance(seconds)
    assert len(said.deliveries[0].attempts) == 4
    assert said.deliveries[0].lost


async def test_a_press_that_nobody_answers_is_not_repeated(slack: SlackServer) -> None:
    kim = slack.member("kim")
    delivery = await kim.runs("/case", "list")
    await slack.advance(1000)
    assert len(delivery.attempts) == 1
    assert delivery.lost


async def test_the_same_message_under_eleven_event_ids(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    async with connected(slack, bolt(slack, heard)):
        said = kim.writes(slack.room("ops", kim), "once")
        for _ in range(11):
            await slack.acked(*await kim.tell(said))
    assert len({body["event_id"] for body in heard.bodies}) == 11
    assert {event["ts"] for event in heard.events()} == {said.ts}


async def test_asked_to_refresh_the_app_connects_anew_and_hears_on(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    async with connected(slack, bolt(slack, heard)):
        for reason in ("refresh_requested", "warning"):
            before = len(slack.sockets.connections)
            await slack.sockets.disconnect(reason)
            await slack.until(lambda before=before: len(slack.sockets.connections) > before)
            await slack.connected()
            said = await kim.says(room, reason)
            await slack.advance(3)
            await slack.acked(*said.deliveries)
    assert len(slack.calls("apps.connections.open")) == 3


async def test_after_a_broken_connection_the_app_comes_back_and_hears_what_it_missed(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    async with connected(slack, bolt(slack, heard), ping=0.2):
        await slack.sockets.drop()
        said = await kim.says(room, "are you there?")
        assert said.deliveries[0].attempts[0].by == ""
        await slack.connected()
        await slack.advance(3)
        await slack.acked(*said.deliveries)
    assert [event["text"] for event in heard.events()] == ["are you there?"]


async def test_a_connection_that_is_deaf_is_replaced(slack: SlackServer) -> None:
    async with connected(slack, bolt(slack, Heard()), ping=0.2):
        slack.sockets.connections[0].deaf = True
        await slack.until(lambda: len(slack.sockets.connections) > 1)


async def test_each_thing_goes_over_one_of_several_connections(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    async with connected(slack, bolt(slack, heard)), connected(slack, bolt(slack, heard)):
        await slack.connected(2)
        for number in range(4):
            said = await kim.says(room, str(number))
            await slack.acked(*said.deliveries)
    assert len(heard.bodies) == 4
    assert len({delivery.attempts[0].by for delivery in slack.deliveries.all}) == 2


async def test_an_address_lets_in_once_and_ten_at_most(slack: SlackServer) -> None:
    async with aiohttp.ClientSession() as session:
        address = slack.sockets.ticket()
        sockets = [await session.ws_connect(address)]
        assert (await sockets[0].receive_json())["num_connections"] == 1
        async with session.get(address.replace("ws://", "http://")) as again:
            assert again.status == 408
        for _ in range(9):
            sockets.append(await session.ws_connect(slack.sockets.ticket()))
            await sockets[-1].receive_json()
        one_too_many = await session.ws_connect(slack.sockets.ticket())
        assert (await one_too_many.receive_json())["reason"] == "too_many_websockets"
        for socket in (*sockets, one_too_many):
            await socket.close()


async def test_while_slack_lets_nobody_in_the_app_keeps_knocking(slack: SlackServer) -> None:
    slack.sockets.refuse = True
    handler = AsyncSocketModeHandler(bolt(slack, Heard()), APP_TOKEN, logger=quiet, ping_interval=0.05)
    connecting = asyncio.ensure_future(handler.connect_async())
    await slack.until(lambda: slack.sockets.turned_away >= 2)
    slack.sockets.refuse = False
    await slack.connected()
    await connecting
    await handler.close_async()


@pytest.mark.parametrize(("reason", "goes_on"), [("warning", True), ("refresh_requested", False)])
async def test_a_connection_ends_with_the_request_to_refresh_and_not_with_its_warning(
    slack: SlackServer, reason: str, goes_on: bool
) -> None:
    kim = slack.member("kim")
    async with aiohttp.ClientSession() as session, session.ws_connect(slack.sockets.ticket()) as socket:
        await socket.receive_json()
        await slack.sockets.disconnect(reason)
        assert (await socket.receive_json())["reason"] == reason
        said = await kim.says(slack.room("ops", kim), "help")
    assert bool(said.deliveries[0].attempts[0].by) is goes_on


async def test_an_envelope_says_how_often_it_came_and_why(slack: SlackServer) -> None:
    kim = slack.member("kim")
    async with aiohttp.ClientSession() as session, session.ws_connect(slack.sockets.ticket()) as socket:
        await socket.receive_json()
        said = await kim.says(slack.room("ops", kim), "help")
        first = await socket.receive_json()
        await slack.advance(3)
        second = await socket.receive_json()
        await slack.again(said.deliveries[0], as_retry=False)
        reset = await socket.receive_json()
    assert [(e["retry_attempt"], e["retry_reason"]) for e in (first, second, reset)] == [
        (0, ""),
        (1, "timeout"),
        (0, ""),
    ]
    assert len({e["envelope_id"] for e in (first, second, reset)}) == 3
    assert first["payload"] == second["payload"] == reset["payload"]


async def test_an_acknowledgement_of_nothing_is_noted_and_so_is_a_second_one(slack: SlackServer) -> None:
    kim = slack.member("kim")
    async with aiohttp.ClientSession() as session, session.ws_connect(slack.sockets.ticket()) as socket:
        await socket.receive_json()
        await socket.send_str('{"envelope_id": "never"}')
        await socket.send_str("ok")
        await slack.until(lambda: len(slack.sockets.mistakes) == 2)
        said = await kim.says(slack.room("ops", kim), "help")
        envelope_id = (await socket.receive_json())["envelope_id"]
        for _ in range(2):
            await socket.send_json({"envelope_id": envelope_id})
        await slack.acked(*said.deliveries)
        await slack.until(lambda: len(slack.sockets.mistakes) == 3)
