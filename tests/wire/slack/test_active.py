"""What this Slack takes for a ping or a link in what the app has posted."""

from __future__ import annotations

import pytest

from tests.wire.slack.active import active, pings
from tests.wire.slack.clients import Client
from tests.wire.slack.payload import Json
from tests.wire.slack.server import SlackServer


def mrkdwn(text: str) -> Json:
    """A section that reads mrkdwn."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def plain(text: str) -> Json:
    """A section that reads nothing."""
    return {"type": "section", "text": {"type": "plain_text", "text": text}}


def markdown(text: str) -> Json:
    """A block that reads Markdown."""
    return {"type": "markdown", "text": text}


def rich(*elements: Json) -> Json:
    """Rich text."""
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}


@pytest.mark.parametrize(
    ("block", "found"),
    [
        (mrkdwn("<!channel> <@U1> <!subteam^S1|x>"), ["<!channel>", "<@U1>", "<!subteam^S1|x>"]),
        (mrkdwn("<https://evil.example|https://good.example>"), ["<https://evil.example|https://good.example>"]),
        (mrkdwn("&lt;!channel&gt; < !channel> a < b > c"), []),
        (plain("<!channel> <https://evil.example|x>"), []),
        (markdown("[good](https://evil.example) `<!here>`"), ["<!here>", "[good](https://evil.example)"]),
        ({"type": "context", "elements": [{"type": "mrkdwn", "text": "<@U1>"}]}, ["<@U1>"]),
        (rich({"type": "text", "text": "<!channel> <@U1> [good](https://evil.example)"}), []),
        (
            rich(
                {"type": "broadcast", "range": "here"}, {"type": "user", "user_id": "U1"},
                {"type": "usergroup", "usergroup_id": "S1"}, {"type": "channel", "channel_id": "C1"},
                {"type": "link", "url": "https://evil.example", "text": "good"},
                {"type": "link", "url": "https://a.example"},
            ),
            ["<!here>", "<@U1>", "<!subteam^S1>", "<#C1>", "<https://evil.example|good>"],
        ),
    ],
)  # fmt: skip
async def test_what_stands_in_brackets_is_active_where_it_is_read(
    slack: SlackServer, client: Client, block: Json, found: list[str]
) -> None:
    await client.chat_postMessage(channel=slack.room().id, text="fallback", blocks=[block])
    assert active(slack.posts()[0]) == found


async def test_the_text_is_read_too_and_only_some_of_it_pings(slack: SlackServer, client: Client) -> None:
    await client.chat_postMessage(channel=slack.room().id, text="<!here> <#C1> <https://a.example>")
    assert active(slack.posts()[0]) == ["<!here>", "<#C1>", "<https://a.example>"]
    assert pings(slack.posts()[0]) == ["<!here>"]
