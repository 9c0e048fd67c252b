"""Lengths, counts and shapes of what is posted, at the limit and one past it."""

from __future__ import annotations

import pytest

from tests.wire.slack.clients import Client, refusal
from tests.wire.slack.payload import Json
from tests.wire.slack.server import SlackServer


def section(length: int, **more: object) -> Json:
    """A section with so much text."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": "x" * length}, **more}


def button(**more: object) -> Json:
    """An actions block with one button."""
    words: Json = {"type": "plain_text", "text": "Yes"}
    return {"type": "actions", "elements": [{"type": "button", "text": words, "action_id": "yes", **more}]}


def words(length: int, kind: str = "plain_text") -> Json:
    """A text object."""
    return {"type": kind, "text": "x" * length}


def markdown(length: int) -> Json:
    """A markdown block."""
    return {"type": "markdown", "text": "x" * length}


def rich(*elements: Json, part: str = "rich_text_section", **more: object) -> Json:
    """A block of rich text with one part."""
    return {"type": "rich_text", "elements": [{"type": part, "elements": list(elements), **more}]}


def text(length: int, **more: object) -> Json:
    """A text of rich text."""
    return {"type": "text", "text": "x" * length, **more}


DIVIDER: Json = {"type": "divider"}
SELECT: Json = {"type": "static_select", "placeholder": words(150)}
OPTION: Json = {"text": words(75), "value": "v" * 150}
FITS: dict[str, list[Json]] = {
    "section text": [section(3000)],
    "section fields": [{"type": "section", "fields": [words(200, "mrkdwn")] * 10}],
    "50 blocks": [DIVIDER] * 50,
    "header": [{"type": "header", "text": words(150)}],
    "context": [{"type": "context", "elements": [words(10, "mrkdwn")] * 10}],
    "button": [button(text=words(75), action_id="a" * 255, value="v" * 2000, style="danger")],
    "block_id": [section(1, block_id="b" * 255)],
    "markdown": [markdown(6000), markdown(6000)],
    "over all": [section(3000), section(3000), section(3000), section(3000), section(1000)],
    "rich text": [
        rich(text(1, style={"bold": True}), {"type": "link", "url": "https://a.example"}),
        rich(text(3001), part="rich_text_preformatted"), rich(text(1), part="rich_text_quote", border=1),
        rich({"type": "date", "timestamp": 1, "format": "{time}", "fallback": "now"}),
        rich(rich(text(1))["elements"][0], part="rich_text_list", style="bullet"),
    ],
    "options": [{"type": "actions", "elements": [{**SELECT, "options": [OPTION] * 100}]}],
}  # fmt: skip
REFUSED: dict[str, tuple[list[Json], str]] = {
    "section text": ([section(3001)], "invalid_blocks"),
    "section without text": ([{"type": "section"}], "invalid_blocks"),
    "section with empty text": ([section(0)], "invalid_blocks"),
    "section fields": ([{"type": "section", "fields": [words(1)] * 11}], "invalid_blocks"),
    "field length": ([{"type": "section", "fields": [words(2001)]}], "invalid_blocks"),
    "emoji of two units": ([{"type": "header", "text": {"type": "plain_text", "text": "😀" * 76}}], "invalid_blocks"),
    "51 blocks": ([DIVIDER] * 51, "invalid_blocks"),
    "header": ([{"type": "header", "text": words(151)}], "invalid_blocks"),
    "header in mrkdwn": ([{"type": "header", "text": words(1, "mrkdwn")}], "invalid_blocks"),
    "context": ([{"type": "context", "elements": [words(1)] * 11}], "invalid_blocks"),
    "actions": ([{"type": "actions", "elements": [button()["elements"][0]] * 26}], "invalid_blocks"),
    "button text": ([button(text=words(76))], "invalid_blocks"),
    "button in mrkdwn": ([button(text=words(1, "mrkdwn"))], "invalid_blocks"),
    "action_id": ([button(action_id="a" * 256)], "invalid_blocks"),
    "value": ([button(value="v" * 2001)], "invalid_blocks"),
    "style": ([button(style="warning")], "invalid_blocks"),
    "same action_id": ([{"type": "actions", "elements": button()["elements"] * 2}], "invalid_blocks"),
    "block_id": ([section(1, block_id="b" * 256)], "invalid_blocks"),
    "same block_id": ([section(1, block_id="b"), section(1, block_id="b")], "invalid_blocks"),
    "unknown type": ([{"type": "banner"}], "invalid_blocks"),
    "unknown field": ([section(1, colour="red")], "invalid_blocks"),
    "unknown field of a button": ([button(colour="red")], "invalid_blocks"),
    "unknown element": ([{"type": "actions", "elements": [{"type": "lever"}]}], "invalid_blocks"),
    "emoji in mrkdwn": (
        [{"type": "section", "text": {"type": "mrkdwn", "text": "x", "emoji": True}}], "invalid_blocks"
    ),
    "markdown together": ([markdown(6000), markdown(6001)], "invalid_blocks"),
    "over all": ([section(3000)] * 4 + [section(1001)], "msg_blocks_too_long"),
    "over all in rich text": ([rich(text(6500)), rich(text(6501))], "msg_blocks_too_long"),
    "empty rich text": ([{"type": "rich_text", "elements": []}], "invalid_blocks"),
    "empty part of rich text": ([rich()], "invalid_blocks"),
    "empty text of rich text": ([rich(text(1), text(0))], "invalid_blocks"),
    "unknown style": ([rich(text(1, style={"blink": True}))], "invalid_blocks"),
    "text outside of a part": ([{"type": "rich_text", "elements": [text(1)]}], "invalid_blocks"),
    "mention in preformatted": (
        [rich({"type": "user", "user_id": "U1"}, part="rich_text_preformatted")], "invalid_blocks"
    ),
    "text of a list outside of a section": ([rich(text(1), part="rich_text_list", style="bullet")], "invalid_blocks"),
    "everybody of nobody's kind": ([rich({"type": "broadcast", "range": "all"})], "invalid_blocks"),
    "date without a format": ([rich({"type": "date", "timestamp": 1})], "invalid_blocks"),
    "101 options": ([{"type": "actions", "elements": [{**SELECT, "options": [OPTION] * 101}]}], "invalid_blocks"),
    "option text": (
        [{"type": "actions", "elements": [{**SELECT, "options": [{**OPTION, "text": words(76)}]}]}], "invalid_blocks"
    ),
    "option value": (
        [{"type": "actions", "elements": [{**SELECT, "options": [{**OPTION, "value": "v" * 151}]}]}], "invalid_blocks"
    ),
    "menu without options": ([{"type": "actions", "elements": [SELECT]}], "invalid_blocks"),
    "menu with options and groups": (
        [{"type": "actions", "elements": [
            {**SELECT, "options": [OPTION], "option_groups": [{"label": words(75), "options": [OPTION]}]}
        ]}], "invalid_blocks",
    ),
    "image of nothing": ([{"type": "image", "alt_text": "x"}], "invalid_blocks"),
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
async def test_at_the_limit_it_is_posted(slack: SlackServer, client: Client, name: str) -> None:
    answer = await client.chat_postMessage(channel=slack.room().id, text="fallback", blocks=FITS[name])
    assert answer["ok"]
    assert len(slack.posts()) == 1


@pytest.mark.parametrize("name", REFUSED)
async def test_past_the_limit_it_is_refused_and_says_where(slack: SlackServer, client: Client, name: str) -> None:
    blocks, error = REFUSED[name]
    refused = await refusal(client.chat_postMessage(channel=slack.room().id, text="fallback", blocks=blocks))
    assert refused["error"] == error
    if error == "invalid_blocks":
        assert "[json-pointer:/blocks" in refused["response_metadata"]["messages"][0]
    assert slack.posts() == []


async def test_text_over_forty_thousand_is_cut_off_and_only_a_warning_says_so(
    slack: SlackServer, client: Client
) -> None:
    room = slack.room()
    whole = await client.chat_postMessage(channel=room.id, text="x" * 40_000)
    cut = await client.chat_postMessage(channel=room.id, text="x" * 40_001)
    assert (whole.get("warning"), cut.get("warning")) == (None, "message_truncated")
    assert [(len(post.text), post.truncated) for post in slack.posts()] == [(40_000, False), (40_000, True)]


async def test_an_update_takes_four_thousand(slack: SlackServer, client: Client) -> None:
    room = slack.room()
    ts = (await client.chat_postMessage(channel=room.id, text="x"))["ts"]
    await client.chat_update(channel=room.id, ts=ts, text="y" * 4000)
    assert (await refusal(client.chat_update(channel=room.id, ts=ts, text="y" * 4001)))["error"] == "msg_too_long"


async def test_markdown_text_stands_alone(slack: SlackServer, client: Client) -> None:
    room = slack.room()
    await client.chat_postMessage(channel=room.id, markdown_text="x" * 12_000)
    refused = await refusal(client.chat_postMessage(channel=room.id, markdown_text="x" * 12_001))
    assert refused["error"] == "msg_too_long"
    refused = await refusal(client.chat_postMessage(channel=room.id, markdown_text="x", text="y"))
    assert refused["error"] == "markdown_text_conflict"


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ("no json", "invalid_metadata_format"), ([], "invalid_metadata_format"),
        ({"event_type": "outbox"}, "invalid_metadata_schema"),
        ({"event_type": "outbox", "event_payload": {}, "more": 1}, "invalid_metadata_schema"),
    ],
)  # fmt: skip
async def test_metadata_has_a_type_and_a_payload(
    slack: SlackServer, client: Client, metadata: object, error: str
) -> None:
    json = {"channel": slack.room().id, "text": "x", "metadata": metadata or "[]"}
    assert (await refusal(client.api_call("chat.postMessage", json=json)))["error"] == error
