"""What of a text does something to those who read it."""

from __future__ import annotations

import discord as library
import pytest

from tests.wire.discord.active import active
from tests.wire.discord.clients import Bot
from tests.wire.discord.server import DiscordServer


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain (text) [as it is]", []),
        ("<@1> <@!2> <@&3> <#4> @everyone @here", ["<@1>", "<@!2>", "<@&3>", "<#4>", "@everyone", "@here"]),
        ("`@everyone`", ["@everyone"]),
        ("[log in](https://evil.invalid)", ["[log in](https://evil.invalid)"]),
        ("\\[log in](https://evil.invalid)", ["https://evil.invalid"]),
        ("`[log in](https://evil.invalid)`", []),
        ("```\n[log in](https://evil.invalid) ||x||\n```", []),
        ("||secret||", ["||secret||"]),
        ("\\||secret\\||", []),
        ("</case open:7> <:wave:8> <t:9:R> <id:home>", ["</case open:7>", "<:wave:8>", "<t:9:R>", "<id:home>"]),
        ("https://example.invalid/x", ["https://example.invalid/x"]),
    ],
)
async def test_what_is_read_as_a_ping_a_reference_a_link_or_a_spoiler(
    discord: DiscordServer, client: Bot, text: str, found: list[str]
) -> None:
    room = discord.room("ops")
    where = client.get_partial_messageable(int(room.id))
    await where.send(text)
    await where.send(embed=library.Embed(description=text))
    view = library.ui.LayoutView()
    view.add_item(library.ui.TextDisplay(text))
    await where.send(view=view)
    assert [active(post) for post in discord.posts(room)] == [found] * 3
