"""Reading rooms and threads, people and files, by the real client."""

from __future__ import annotations

import aiohttp

from tests.wire.slack.clients import Client, refusal
from tests.wire.slack.people import Standing
from tests.wire.slack.server import BOT_TOKEN, SlackServer


async def test_a_room_is_read_newest_first_and_without_its_threads(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    first = await kim.says(room, "one")
    await kim.says(room, "below", thread=first)
    await kim.says(room, "two")
    history = await client.conversations_history(channel=room.id)
    assert [m["text"] for m in history["messages"]] == ["two", "one"]
    assert history["messages"][1]["reply_count"] == 1


async def test_a_thread_is_read_oldest_first_by_pages(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    first = await kim.says(room, "0")
    for number in range(1, 5):
        await kim.says(room, str(number), thread=first)
    texts: list[str] = []
    async for page in await client.conversations_replies(channel=room.id, ts=first.ts, limit=2):
        texts += [m["text"] for m in page["messages"]]
    assert texts == ["0", "1", "2", "3", "4"]


async def test_what_came_after_is_read_with_the_first_message_of_the_thread(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    first = await kim.says(room, "0")
    second = await kim.says(room, "1", thread=first)
    await kim.says(room, "2", thread=first)
    replies = await client.conversations_replies(channel=room.id, ts=first.ts, oldest=second.ts)
    assert [m["text"] for m in replies["messages"]] == ["0", "2"]
    replies = await client.conversations_replies(channel=room.id, ts=first.ts, oldest=second.ts, inclusive=True)
    assert [m["text"] for m in replies["messages"]] == ["0", "1", "2"]
    history = await client.conversations_history(channel=room.id, oldest=first.ts)
    assert history["messages"] == []
    refused = await refusal(client.conversations_history(channel=room.id, oldest="yesterday"))
    assert refused["error"] == "invalid_ts_oldest"


async def test_a_reply_to_a_reply_is_in_the_thread_of_the_first(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    first = await kim.says(room, "0")
    reply = await kim.says(room, "1", thread=first)
    await client.chat_postMessage(channel=room.id, thread_ts=reply.ts, text="2")
    assert [post.thread_ts for post in slack.posts(first)] == [first.ts]


async def test_metadata_is_given_back_only_when_it_is_asked_for(slack: SlackServer, client: Client) -> None:
    room = slack.room()
    metadata = {"event_type": "outbox", "event_payload": {"nonce": "n1"}}
    ts = (await client.chat_postMessage(channel=room.id, text="x", metadata=metadata))["ts"]
    for read, more in ((client.conversations_history, {}), (client.conversations_replies, {"ts": ts})):
        without = await read(channel=room.id, **more)
        assert "metadata" not in without["messages"][0]
        asked = await read(channel=room.id, include_all_metadata=True, **more)
        assert asked["messages"][0]["metadata"] == metadata


async def test_an_update_without_blocks_takes_them_away_and_keeps_the_metadata(
    slack: SlackServer, client: Client
) -> None:
    room = slack.room()
    metadata = {"event_type": "outbox", "event_payload": {"nonce": "n1"}}
    blocks = [{"type": "divider"}]
    ts = (await client.chat_postMessage(channel=room.id, text="x", blocks=blocks, metadata=metadata))["ts"]
    post = slack.posts(room)[0]
    await client.api_call("chat.update", json={"channel": room.id, "ts": ts, "metadata": metadata})
    assert [block["type"] for block in post.blocks] == ["divider"]
    await client.chat_update(channel=room.id, ts=ts, text="y")
    assert (post.text, post.blocks, post.metadata) == ("y", [], metadata)
    assert [[block["type"] for block in before] for before in post.versions] == [["divider"]]


async def test_people_are_members_guests_strangers_or_bots(slack: SlackServer, client: Client) -> None:
    kim = (await client.users_info(user=slack.member("kim").id))["user"]
    assert (kim["team_id"], kim["is_restricted"], kim["is_bot"]) == (slack.team, False, False)
    guest = (await client.users_info(user=slack.member("gil", standing=Standing.ONE_ROOM_GUEST).id))["user"]
    assert (guest["is_restricted"], guest["is_ultra_restricted"]) == (True, True)
    eve = (await client.users_info(user=slack.member("eve", team="T0OTHER").id))["user"]
    assert (eve["team_id"], eve["is_stranger"]) == ("T0OTHER", True)
    assert (await client.users_info(user=slack.other_bot("ci").id))["user"]["is_bot"] is True


async def test_a_direct_conversation_is_opened_once(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    opened = await client.conversations_open(users=kim.id)
    again = await client.conversations_open(users=[kim.id])
    assert opened["channel"]["id"] == again["channel"]["id"] == slack.direct(kim).id
    await client.chat_postMessage(channel=kim.id, text="hello")
    assert [post.text for post in slack.posts(slack.direct(kim))] == ["hello"]


async def test_a_file_is_a_login_page_without_the_token(slack: SlackServer) -> None:
    kim = slack.member("kim")
    file = kim.shares("disk.png", b"\x89PNG", "image/png")
    said = await kim.says(slack.room("ops", kim), "see", files=[file])
    shown = said.deliveries[0].payload["event"]["files"][0]
    assert (shown["name"], shown["mimetype"], shown["size"]) == ("disk.png", "image/png", 4)
    async with aiohttp.ClientSession() as session:
        for headers, kind, body in (
            ({}, "text/html", None),
            ({"Authorization": "Bearer xoxb-other"}, "text/html", None),
            ({"Authorization": f"Bearer {BOT_TOKEN}"}, "image/png", b"\x89PNG"),
        ):
            async with session.get(shown["url_private_download"], headers=headers) as response:
                assert (response.status, response.content_type) == (200, kind)
                assert body in (None, await response.read())


async def test_a_file_is_a_login_page_once_the_token_is_revoked(slack: SlackServer) -> None:
    kim = slack.member("kim")
    said = await kim.says(slack.room("ops", kim), "see", files=[kim.shares("a.txt", b"a", "text/plain")])
    await slack.revoke(BOT_TOKEN)
    url = said.deliveries[0].payload["event"]["files"][0]["url_private_download"]
    headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        assert response.content_type == "text/html"


async def test_of_a_file_in_a_shared_room_the_event_says_only_to_ask(slack: SlackServer, client: Client) -> None:
    eve = slack.member("eve", team="T0OTHER")
    file = eve.shares("log.txt", b"hello", "text/plain")
    said = await eve.says(slack.room("shared", eve, shared=True), "see", files=[file])
    shown = said.deliveries[0].payload["event"]["files"][0]
    assert (shown["file_access"], "url_private" in shown) == ("check_file_info", False)
    assert (await client.files_info(file=shown["id"]))["file"]["name"] == "log.txt"
    assert (await refusal(client.files_info(file="F404")))["error"] == "file_not_found"


async def test_a_stranger_brings_their_team_along(slack: SlackServer) -> None:
    eve = slack.member("eve", team="T0OTHER")
    room = slack.room("shared", eve, shared=True)
    said = await eve.says(room, "hello")
    payload = said.deliveries[0].payload
    assert (payload["team_id"], payload["is_ext_shared_channel"]) == (slack.team, True)
    assert (payload["event"]["team"], payload["event"]["user_team"]) == ("T0OTHER", "T0OTHER")


async def test_the_app_hears_itself_edits_unfurlings_and_deletions(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    ts = (await client.chat_postMessage(channel=room.id, text="ours"))["ts"]
    await slack.until(lambda: slack.deliveries.all)
    own = slack.deliveries.all[-1].payload["event"]
    assert (own["ts"], own["bot_id"], own["user"]) == (ts, slack.bot.bot_id, slack.bot.id)
    said = await kim.says(room, "theirs")
    edited = (await kim.edits(said, "better"))[0].payload["event"]
    assert edited["subtype"] == "message_changed"
    assert (edited["message"]["text"], edited["previous_message"]["text"]) == ("better", "theirs")
    unfurled = (await kim.unfurls(said, "https://example.org"))[0].payload["event"]
    assert unfurled["message"]["text"] == unfurled["previous_message"]["text"] == "better"
    await kim.says(room, "below", thread=said)
    tombstone = (await kim.deletes(said))[0].payload["event"]
    assert (tombstone["subtype"], tombstone["message"]["subtype"]) == ("message_changed", "tombstone")
    alone = await kim.says(room, "alone")
    gone = (await kim.deletes(alone))[0].payload["event"]
    assert (gone["subtype"], gone["deleted_ts"]) == ("message_deleted", alone.ts)


async def test_direct_conversations_are_listed_by_pages_with_whom_they_are_and_no_more(
    slack: SlackServer, client: Client
) -> None:
    kim, gone = slack.member("kim"), slack.member("gone")
    slack.room("ops", kim)
    await kim.says(None, "psst")
    slack.direct(gone)
    gone.person.deactivated = True
    found: list[dict[str, object]] = []
    async for page in await client.conversations_list(types="im", limit=1):
        found += page["channels"]
    assert [(one["user"], one["is_user_deleted"]) for one in found] == [(kim.id, False), (gone.id, True)]
    assert not any(key in one for one in found for key in ("latest", "last_read", "name"))
    rooms = await client.conversations_list()
    assert [one["name"] for one in rooms["channels"]] == ["ops"]


async def test_a_list_is_refused_without_its_scope_and_of_what_there_is_not(slack: SlackServer, client: Client) -> None:
    assert (await refusal(client.conversations_list(types="dm")))["error"] == "invalid_types"
    assert (await refusal(client.conversations_list(types="im", limit=1_000)))["error"] == "invalid_limit"
    slack.workspace.tokens.bot.scopes -= {"im:read"}
    lacking = await refusal(client.conversations_list(types="im"))
    assert (lacking["error"], lacking["needed"]) == ("missing_scope", "im:read")
