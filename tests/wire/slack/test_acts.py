"""What people do by hand: presses, modals, commands, shortcuts, the App Home; answered by the real Bolt app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import aiohttp
import pytest

from tests.wire.slack.bolt_app import Heard, bolt, connected
from tests.wire.slack.clients import Client, refusal
from tests.wire.slack.payload import Json
from tests.wire.slack.server import SlackServer

Ack = Callable[..., Awaitable[None]]
CARD: list[Json] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "Restart nginx?"}},
    {"type": "actions", "block_id": "gate:7", "elements": [
        {"type": "button", "action_id": "approve", "value": "7:abc", "text": {"type": "plain_text", "text": "Approve"}},
    ]},
]  # fmt: skip


def modal(**more: Any) -> Json:
    """A modal that asks for a reason."""
    return {
        "type": "modal", "callback_id": "deny", "title": {"type": "plain_text", "text": "Deny"},
        "submit": {"type": "plain_text", "text": "Deny"},
        "blocks": [{
            "type": "input", "block_id": "why", "label": {"type": "plain_text", "text": "Why?"},
            "element": {"type": "plain_text_input", "action_id": "reason", "max_length": 20},
        }],
        **more,
    }  # fmt: skip


async def test_a_press_carries_the_buttons_value_and_is_answered_in_time(slack: SlackServer, client: Client) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    root = await kim.says(room, "nginx is down")
    await client.chat_postMessage(channel=room.id, thread_ts=root.ts, text="Restart nginx?", blocks=CARD)
    async with connected(slack, bolt(slack, heard)):
        delivery = await kim.presses(slack.posts(root)[0], "Approve")
        await slack.acked(delivery)
    pressed = next(body for body in heard.bodies if body["type"] == "block_actions")
    action = pressed["actions"][0]
    assert (action["action_id"], action["block_id"], action["value"]) == ("approve", "gate:7", "7:abc")
    assert pressed["container"]["thread_ts"] == root.ts
    assert (pressed["user"]["id"], pressed["team"]["id"]) == (kim.id, slack.team)


async def test_a_button_that_is_no_longer_there_is_pressed_only_on_an_old_screen(
    slack: SlackServer, client: Client
) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    ts = (await client.chat_postMessage(channel=room.id, text="Restart nginx?", blocks=CARD))["ts"]
    post = slack.posts(room)[0]
    await client.chat_update(channel=room.id, ts=ts, text="Approved", blocks=CARD[:1])
    with pytest.raises(AssertionError, match="There is no approve to press"):
        await kim.presses(post, "approve")
    assert (await kim.presses(post, "approve", stale=True)).payload["actions"][0]["value"] == "7:abc"


async def test_a_trigger_opens_one_modal_within_three_seconds(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    first = (await kim.runs("/case", "deny")).payload["trigger_id"]
    await slack.advance(3)
    opened = await client.views_open(trigger_id=first, view=modal())
    assert kim.modal is not None
    assert opened["view"]["id"] == kim.modal.id
    assert (await refusal(client.views_open(trigger_id=first, view=modal())))["error"] == "exchanged_trigger_id"
    late = (await kim.runs("/case", "deny")).payload["trigger_id"]
    await slack.advance(3.1)
    assert (await refusal(client.views_open(trigger_id=late, view=modal())))["error"] == "expired_trigger_id"
    assert (await refusal(client.views_open(trigger_id="1.2.x", view=modal())))["error"] == "invalid_trigger_id"


WORDS: Json = {"type": "plain_text", "text": "x" * 25}
BAD_VIEWS: dict[str, Json] = {
    "title": modal(title=WORDS),
    "submit": modal(submit=WORDS),
    "close": modal(close=WORDS),
    "callback_id": modal(callback_id="c" * 256),
    "private_metadata": modal(private_metadata="m" * 3001),
    "external_id": modal(external_id="e" * 256),
    "rich text without words": modal(blocks=[{"type": "rich_text", "elements": []}]),
    "101 blocks": modal(blocks=[{"type": "divider"}] * 101),
    "markdown": modal(blocks=[{"type": "markdown", "text": "x"}]),
    "input without submit": {k: v for k, v in modal().items() if k != "submit"},
    "unknown field": modal(colour="red"),
    "home": {"type": "home", "blocks": []},
}


@pytest.mark.parametrize("name", BAD_VIEWS)
async def test_a_view_past_its_limits_is_refused_and_uses_up_no_trigger(
    slack: SlackServer, client: Client, name: str
) -> None:
    kim = slack.member("kim")
    trigger = (await kim.runs("/case")).payload["trigger_id"]
    refused = await refusal(client.views_open(trigger_id=trigger, view=BAD_VIEWS[name]))
    assert refused["error"] == "invalid_arguments"
    good = modal(blocks=[*modal()["blocks"], *[{"type": "divider"}] * 99], private_metadata="m" * 3000)
    assert (await client.views_open(trigger_id=trigger, view=good))["ok"]


async def test_a_modal_shows_the_apps_errors_and_closes_when_there_are_none(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    app = bolt(slack, Heard())

    async def answer(ack: Ack, view: Json) -> None:
        reason = view["state"]["values"]["why"]["reason"]["value"]
        if reason == "no":
            await ack(response_action="errors", errors={"why": "Say more."})
        else:
            await ack()

    cast("Any", app).view("deny")(answer)
    async with connected(slack, app):
        trigger = (await kim.runs("/case", "deny")).payload["trigger_id"]
        await client.views_open(trigger_id=trigger, view=modal())
        view = kim.modal
        assert view is not None
        with pytest.raises(AssertionError, match="must be filled in"):
            await kim.submits(view)
        with pytest.raises(AssertionError, match="takes 20 characters"):
            await kim.submits(view, reason="x" * 21)
        sent = await kim.submits(view, reason="no")
        await slack.acked(sent)
        assert kim.sees_answer(view, sent) == {"why": "Say more."}
        assert kim.modal is view
        sent = await kim.submits(view, reason="not on a Friday")
        await slack.acked(sent)
        assert kim.sees_answer(view, sent) == {}
    assert kim.modal is None


async def test_a_command_is_answered_at_its_own_address_five_times_at_most(slack: SlackServer) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    app = bolt(slack, Heard())
    statuses: list[int] = []

    async def answer(ack: Ack, respond: Callable[..., Awaitable[Any]], command: Json) -> None:
        await ack("one moment")
        for _ in range(6):
            statuses.append((await respond(f"you said {command['text']}", response_type="ephemeral")).status_code)

    cast("Any", app).command("/other")(answer)
    async with connected(slack, app):
        delivery = await kim.runs("/other", "list", room=room)
        await slack.acked(delivery)
        await slack.until(lambda: len(statuses) == 6)
    assert delivery.answer == {"text": "one moment"}
    assert statuses == [200] * 5 + [404]
    assert [answer["text"] for answer in slack.answers(delivery).answers] == ["you said list"] * 5


async def test_a_shortcut_brings_the_message_it_was_used_on(slack: SlackServer) -> None:
    heard, kim, bob = Heard(), slack.member("kim"), slack.member("bob")
    room = slack.room("ops", kim, bob)
    said = await bob.says(room, "the disk is full")
    async with connected(slack, bolt(slack, heard)):
        await slack.acked(await kim.uses("open_case", said))
    used = heard.bodies[-1]
    assert (used["type"], used["user"]["id"]) == ("message_action", kim.id)
    assert (used["message"]["text"], used["message"]["user"], used["message_ts"]) == (
        "the disk is full", bob.id, said.ts,
    )  # fmt: skip


async def test_the_home_is_published_for_one_person_and_guarded_by_its_hash(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    heard = Heard()
    async with connected(slack, bolt(slack, heard)):
        await slack.acked(*await kim.opens_home())
        first = await client.views_publish(user_id=kim.id, view={"type": "home", "blocks": CARD})
        await client.views_publish(user_id=kim.id, view={"type": "home", "blocks": []})
        stale = client.views_publish(user_id=kim.id, view={"type": "home", "blocks": []}, hash=first["view"]["hash"])
        assert (await refusal(stale))["error"] == "hash_conflict"
        await client.views_publish(user_id=kim.id, view={"type": "home", "blocks": CARD})
        assert kim.home is not None
        await slack.acked(await kim.presses(kim.home, "approve"))
    assert heard.bodies[0]["event"]["tab"] == "home"
    assert heard.bodies[-1]["container"] == {"type": "view", "view_id": kim.home.id}


async def test_a_view_that_is_closed_is_not_updated(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    trigger = (await kim.runs("/case")).payload["trigger_id"]
    view_id = (await client.views_open(trigger_id=trigger, view=modal(notify_on_close=True)))["view"]["id"]
    await client.views_update(view_id=view_id, view=modal(notify_on_close=True))
    assert kim.modal is not None
    closed = await kim.closes(kim.modal)
    assert closed is not None
    assert closed.payload["type"] == "view_closed"
    assert (await refusal(client.views_update(view_id=view_id, view=modal())))["error"] == "not_found"


async def test_the_apps_own_name_for_a_view_is_good_for_one_at_a_time(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    named = modal(external_id="gate-7")

    async def opens() -> Json:
        return {"trigger_id": (await kim.runs("/case")).payload["trigger_id"], "view": named}

    await client.views_open(**await opens())
    assert (await refusal(client.views_open(**await opens())))["error"] == "duplicate_external_id"
    assert kim.modal is not None
    await kim.closes(kim.modal)
    assert (await client.views_open(**await opens()))["ok"]


async def test_a_view_is_found_by_the_apps_own_name_for_it(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    trigger = (await kim.runs("/case")).payload["trigger_id"]
    await client.views_open(trigger_id=trigger, view=modal(external_id="gate-7"))
    await client.views_update(external_id="gate-7", view=modal(external_id="gate-7", private_metadata="new"))
    assert kim.modal is not None
    assert kim.modal.content["private_metadata"] == "new"
    refused = await refusal(client.views_update(external_id="gate-8", view=modal()))
    assert refused["error"] == "not_found"


async def test_a_modal_that_did_not_ask_is_closed_in_silence(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    trigger = (await kim.runs("/case")).payload["trigger_id"]
    await client.views_open(trigger_id=trigger, view=modal())
    assert kim.modal is not None
    assert await kim.closes(kim.modal) is None
    assert kim.modal is None


async def test_an_address_to_answer_at_is_good_for_half_an_hour(slack: SlackServer) -> None:
    kim = slack.member("kim")
    url = (await kim.runs("/case")).payload["response_url"]
    async with aiohttp.ClientSession() as session:
        for seconds, status in ((0, 200), (1800, 200), (1, 404)):
            await slack.advance(seconds)
            async with session.post(url, json={"text": "done"}) as response:
                assert response.status == status


async def test_an_answer_to_a_press_takes_the_place_of_the_card(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    await client.chat_postMessage(channel=room.id, text="Restart nginx?", blocks=CARD)
    post = slack.posts(room)[0]
    url = (await kim.presses(post, "approve")).payload["response_url"]
    async with aiohttp.ClientSession() as session:
        for body, text in (
            ({"text": "only you", "response_type": "ephemeral", "replace_original": False}, "Restart nginx?"),
            ({"text": "Approved", "replace_original": True}, "Approved"),
        ):
            async with session.post(url, json=body) as response:
                assert response.status == 200
            assert post.text == text
        async with session.post(url, json={"blocks": [{"type": "banner"}]}) as response:
            assert response.status == 400
        async with session.post(url, json={"delete_original": True}) as response:
            assert response.status == 200
    assert post.deleted


async def test_a_reaction_names_the_message_and_whose_it_is(slack: SlackServer) -> None:
    kim, bob = slack.member("kim"), slack.member("bob")
    said = await bob.says(slack.room("ops", kim, bob), "done")
    event = (await kim.reacts(said, "tada"))[0].payload["event"]
    assert (event["type"], event["reaction"], event["item"]["ts"]) == ("reaction_added", "tada", said.ts)
    assert (event["user"], event["item_user"]) == (kim.id, bob.id)


async def test_the_status_line_of_a_thread_is_set_and_taken_away(slack: SlackServer, client: Client) -> None:
    kim = slack.member("kim")
    room = slack.room("ops", kim)
    said = await kim.says(room, "help")
    await client.assistant_threads_setStatus(channel_id=room.id, thread_ts=said.ts, status="is looking …")
    assert slack.status(said) == "is looking …"
    await client.assistant_threads_setStatus(channel_id=room.id, thread_ts=said.ts, status="")
    assert slack.status(said) == ""
