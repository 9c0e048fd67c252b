"""Who is notified of what the bot says, with the real client."""

from __future__ import annotations

import discord as library

from tests.wire.discord.clients import Bot
from tests.wire.discord.permissions import May
from tests.wire.discord.server import DiscordServer

EVERYBODY = library.AllowedMentions(everyone=True, users=True, roles=True, replied_user=True)


async def test_a_client_that_allows_no_mentions_notifies_nobody(discord: DiscordServer, client: Bot) -> None:
    kim, room, role = discord.member("kim"), discord.room("ops"), discord.role("staff", mentionable=True)
    where = client.get_partial_messageable(int(room.id))
    text = f"@everyone @here {kim.person.mention} <@!{kim.id}> <@&{role.id}> `@everyone`"
    sent = await where.send(text)
    await sent.edit(content=text + "!")
    said = kim.says(room, "help")
    await where.send(text, reference=library.MessageReference(message_id=int(said.id), channel_id=int(room.id)))
    assert [bool(post.pings) for post in discord.posts(room)] == [False, False]


async def test_who_is_allowed_and_named_is_notified(discord: DiscordServer, client: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    role, other = discord.role("staff", mentionable=True), discord.role("board")
    discord.rule(room, discord.bot, deny=May.MENTION_EVERYONE)
    where = client.get_partial_messageable(int(room.id))
    said = bob.says(room, "help")
    await where.send(
        f"@everyone {kim.person.mention} <@&{role.id}> <@&{other.id}>", allowed_mentions=EVERYBODY,
        reference=library.MessageReference(message_id=int(said.id), channel_id=int(room.id)),
    )  # fmt: skip
    pings = discord.posts(room)[0].pings
    assert pings.users == [kim.person]
    assert pings.roles == [role.id]
    assert not pings.everyone
    assert pings.replied is bob.person


async def test_everyone_is_notified_where_the_bot_may(discord: DiscordServer, client: Bot) -> None:
    room = discord.room("ops")
    where = client.get_partial_messageable(int(room.id))
    await where.send("@here", allowed_mentions=EVERYBODY)
    await where.send("here", allowed_mentions=EVERYBODY)
    assert [post.pings.everyone for post in discord.posts(room)] == [True, False]


async def test_only_the_one_that_is_named_in_the_list_is_notified(discord: DiscordServer, client: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    only = library.AllowedMentions(users=[library.Object(int(kim.id))])
    text = f"{kim.person.mention} {bob.person.mention}"
    await client.get_partial_messageable(int(room.id)).send(text, allowed_mentions=only)
    assert discord.posts(room)[0].pings.users == [kim.person]


async def test_a_mention_in_an_embed_notifies_nobody_and_one_in_a_text_component_does(
    discord: DiscordServer, client: Bot
) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    where = client.get_partial_messageable(int(room.id))
    await where.send(embed=library.Embed(description=kim.person.mention), allowed_mentions=EVERYBODY)
    view = library.ui.LayoutView()
    view.add_item(library.ui.TextDisplay(kim.person.mention))
    await where.send(view=view, allowed_mentions=EVERYBODY)
    assert [post.pings.users for post in discord.posts(room)] == [[], [kim.person]]


async def test_a_mention_of_a_person_to_the_bot_is_seen_by_it(discord: DiscordServer, bot: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    kim.mentions(room, f"ask {bob.person.mention} and @everyone")
    await discord.until(lambda: bot.heard)
    assert {user.id for user in bot.heard[0].mentions} == {int(discord.bot.id), int(bob.id)}
    assert bot.heard[0].mention_everyone
