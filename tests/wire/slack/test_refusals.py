"""What the Web API refuses, asked by the real client."""

from __future__ import annotations

import aiohttp
import pytest

from tests.wire.slack.clients import Client, refusal, web_client
from tests.wire.slack.rooms import Kind
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer
from tests.wire.slack.tokens import EVERY_SCOPE


async def test_who_is_asked_says_team_user_and_bot(slack: SlackServer, client: Client) -> None:
    me = await client.auth_test()
    assert (me["team_id"], me["user_id"], me["bot_id"]) == (slack.team, slack.bot.id, slack.bot.bot_id)
    assert "enterprise_id" not in me.data
    async with SlackServer(enterprise="E0GRID") as grid:
        me = await web_client(grid).auth_test()
        assert me["enterprise_id"] == "E0GRID"


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xoxb-other", "invalid_auth"), (APP_TOKEN, "not_allowed_token_type")],
)
async def test_a_wrong_token_is_refused(slack: SlackServer, token: str, error: str) -> None:
    client = web_client(slack, token)
    assert (await refusal(client.auth_test()))["error"] == error


async def test_a_bot_token_opens_no_socket_and_an_app_token_needs_its_scope(slack: SlackServer) -> None:
    client = web_client(slack, None)
    refused = await refusal(client.apps_connections_open(app_token=BOT_TOKEN))
    assert refused["error"] == "not_allowed_token_type"
    assert (await client.apps_connections_open(app_token=APP_TOKEN))["url"].startswith("ws://127.0.0.1:")
    async with SlackServer(app_scopes=frozenset()) as other:
        client = web_client(other, None)
        refused = await refusal(client.apps_connections_open(app_token=APP_TOKEN))
        assert (refused["error"], refused["needed"]) == ("missing_scope", "connections:write")


@pytest.mark.parametrize("error", ["token_revoked", "account_inactive"])
async def test_a_revoked_token_is_refused_until_it_is_restored(slack: SlackServer, client: Client, error: str) -> None:
    await slack.revoke(APP_TOKEN)
    assert slack.deliveries.all == []
    await slack.revoke(BOT_TOKEN, error)
    assert [d.payload["event"]["type"] for d in slack.deliveries.all] == ["tokens_revoked"]
    assert (await refusal(client.auth_test()))["error"] == error
    slack.restore()
    assert (await client.auth_test())["ok"]


@pytest.mark.parametrize(
    ("kind", "needed"),
    [
        (Kind.PUBLIC, "channels:history"), (Kind.PRIVATE, "groups:history"), (Kind.DIRECT, "im:history"),
        (Kind.GROUP_DIRECT, "mpim:history"),
    ],
)  # fmt: skip
async def test_a_missing_scope_is_named_with_those_there_are(kind: Kind, needed: str) -> None:
    async with SlackServer(scopes=EVERY_SCOPE - {needed}) as slack:
        client = web_client(slack)
        refused = await refusal(client.conversations_history(channel=slack.room(kind=kind).id))
    assert (refused["error"], refused["needed"]) == ("missing_scope", needed)
    assert set(refused["provided"].split(",")) == EVERY_SCOPE - {needed}


async def test_every_answer_names_the_scopes_of_its_token(slack: SlackServer, client: Client) -> None:
    me = await client.auth_test()
    assert set(me.headers["x-oauth-scopes"].split(",")) == EVERY_SCOPE
    opened = await web_client(slack, None).apps_connections_open(app_token=APP_TOKEN)
    assert opened.headers["x-oauth-scopes"] == "connections:write"


async def test_a_method_that_is_not_there_is_unknown(client: Client) -> None:
    assert (await refusal(client.api_call("chat.shout")))["error"] == "unknown_method"


async def test_an_argument_that_no_page_names_is_refused(slack: SlackServer, client: Client) -> None:
    refused = await refusal(client.chat_postMessage(channel=slack.room().id, text="x", threadts="1.0"))
    assert refused["error"] == "invalid_arguments"


@pytest.mark.parametrize(
    ("headers", "body", "error"),
    [
        ({"Content-Type": "application/json"}, b"{", "invalid_json"),
        ({"Content-Type": "application/json"}, b"[]", "json_not_object"),
        ({"Content-Type": "application/xml"}, b"<a/>", "invalid_post_type"),
        ({"Content-Type": "application/json"}, b'{"text": "x"}', "channel_not_found"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, b"channel=nowhere&text=x", "channel_not_found"),
    ],
)
async def test_a_body_that_slack_does_not_read_is_refused(
    slack: SlackServer, headers: dict[str, str], body: bytes, error: str
) -> None:
    headers = {**headers, "Authorization": f"Bearer {BOT_TOKEN}"}
    url = f"{slack.api_url}chat.postMessage"
    async with aiohttp.ClientSession(headers=headers) as session, session.post(url, data=body) as response:
        assert (await response.json())["error"] == error


async def test_a_token_inside_of_json_is_none(slack: SlackServer) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{slack.api_url}auth.test", json={"token": BOT_TOKEN}) as response:
            assert (await response.json())["error"] == "not_authed"
        async with session.post(f"{slack.api_url}auth.test", data={"token": BOT_TOKEN}) as response:
            assert (await response.json())["ok"]


async def test_what_writes_is_no_get_and_what_reads_looks_at_no_json(slack: SlackServer, client: Client) -> None:
    room = slack.room()
    call = client.api_call("chat.postMessage", http_verb="GET", params={"channel": room.id, "text": "x"})
    assert (await refusal(call))["error"] == "invalid_arguments"
    assert slack.posts() == []
    refused = await refusal(client.api_call("conversations.info", json={"channel": room.id}))
    assert refused["error"] == "channel_not_found"
    assert (await client.api_call("conversations.info", data={"channel": room.id}))["ok"]


async def test_a_room_the_app_is_not_in_is_refused_and_a_private_one_is_not_even_there(
    slack: SlackServer, client: Client
) -> None:
    public, private = slack.room(with_bot=False), slack.room(kind=Kind.PRIVATE, with_bot=False)
    for channel, error in (
        (public.id, "not_in_channel"),
        (private.id, "channel_not_found"),
        ("C4", "channel_not_found"),
    ):
        assert (await refusal(client.chat_postMessage(channel=channel, text="x")))["error"] == error
        assert (await refusal(client.conversations_history(channel=channel)))["error"] == error
        assert (await refusal(client.conversations_replies(channel=channel, ts="1.0")))["error"] == error
    assert (await client.conversations_info(channel=public.id))["channel"]["is_member"] is False


async def test_an_archived_room_is_read_and_not_written_and_a_deleted_one_is_gone(
    slack: SlackServer, client: Client
) -> None:
    room = slack.room()
    ts = (await client.chat_postMessage(channel=room.id, text="x"))["ts"]
    await slack.archive(room)
    assert (await refusal(client.chat_postMessage(channel=room.id, text="y")))["error"] == "is_archived"
    assert (await refusal(client.chat_update(channel=room.id, ts=ts, text="y")))["error"] == "is_inactive"
    assert len((await client.conversations_history(channel=room.id))["messages"]) == 1
    await slack.delete_room(room)
    assert (await refusal(client.chat_postMessage(channel=room.id, text="y")))["error"] == "channel_not_found"
    assert (await refusal(client.conversations_history(channel=room.id)))["error"] == "channel_not_found"


async def test_a_removed_app_is_told_and_then_refused(slack: SlackServer, client: Client) -> None:
    room = slack.room()
    await slack.remove_bot(room)
    assert [d.payload["event"]["type"] for d in slack.deliveries.all] == ["channel_left"]
    assert (await refusal(client.chat_postMessage(channel=room.id, text="x")))["error"] == "not_in_channel"


async def test_a_thread_whose_message_is_gone_takes_no_reply(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    said = await kim.says(room, "never mind")
    await kim.deletes(said)
    reply = client.chat_postMessage(channel=room.id, thread_ts=said.ts, text="x")
    assert (await refusal(reply))["error"] == "thread_not_found"
    replies = client.conversations_replies(channel=room.id, ts=said.ts)
    assert (await refusal(replies))["error"] == "thread_not_found"


async def test_only_its_own_messages_are_changed_and_deleted_and_only_while_they_are_there(
    slack: SlackServer, client: Client
) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    theirs = await kim.says(room, "mine")
    assert (await refusal(client.chat_update(channel=room.id, ts=theirs.ts, text="x")))[
        "error"
    ] == "cant_update_message"
    assert (await refusal(client.chat_delete(channel=room.id, ts=theirs.ts)))["error"] == "cant_delete_message"
    ours = (await client.chat_postMessage(channel=room.id, text="ours"))["ts"]
    await client.chat_delete(channel=room.id, ts=ours)
    assert (await refusal(client.chat_update(channel=room.id, ts=ours, text="x")))["error"] == "message_not_found"
    assert (await refusal(client.chat_delete(channel=room.id, ts=ours)))["error"] == "message_not_found"


async def test_nothing_to_say_is_refused(slack: SlackServer, client: Client) -> None:
    for nothing in ("text", "blocks"):
        call = client.api_call("chat.postMessage", json={"channel": slack.room().id, nothing: ""})
        assert (await refusal(call))["error"] == "no_text"


async def test_what_is_for_one_person_needs_that_person_in_the_room(slack: SlackServer, client: Client) -> None:
    kim, eve = slack.member("kim"), slack.member("eve")
    room = slack.room("ops", kim)
    await client.chat_postEphemeral(channel=room.id, user=kim.id, text="psst")
    assert [whisper.text for whisper in slack.whispers(kim)] == ["psst"]
    assert (await client.conversations_history(channel=room.id))["messages"] == []
    refused = await refusal(client.chat_postEphemeral(channel=room.id, user=eve.id, text="psst"))
    assert refused["error"] == "user_not_in_channel"


async def test_somebody_nobody_knows_is_not_found(slack: SlackServer, client: Client) -> None:
    assert (await refusal(client.users_info(user="U404")))["error"] == "user_not_found"
    assert (await refusal(client.conversations_open(users="U404")))["error"] == "user_not_found"
    gone = slack.member("gone")
    gone.person.deactivated = True
    assert (await client.users_info(user=gone.id))["user"]["deleted"] is True
    assert (await refusal(client.conversations_open(users=gone.id)))["error"] == "user_disabled"
