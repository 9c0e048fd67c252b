"""What of all that happens on Discord is something that somebody says to us."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from channels.messages import Outbound, Text
from tests.channel_contract.discord_rig import DiscordRig, discord_rig


@pytest.fixture
async def rig() -> AsyncIterator[DiscordRig]:
    """The channel alone, which has connected."""
    async with discord_rig() as made:
        await made.channel.start(made.receiver)
        yield made


async def test_what_we_say_is_said_by_nobody(rig: DiscordRig) -> None:
    await rig.channel.send(Outbound(address=rig.address, nonce="1", content=Text(text="hello")))
    await rig.says("hi")
    assert [inbound.text for inbound in rig.receiver.tried] == ["hi"]


async def test_a_note_of_discords_is_said_by_nobody(rig: DiscordRig) -> None:
    room = rig.discord.room("kitchen")
    thread = await rig.channel.begin(
        rig.address.model_copy(update={"space": rig.discord.guild.id, "room": room.id, "thread": "new-C-1"}),
        "C-1", "the oven", [rig.kim.id], since=0,
    )  # fmt: skip
    (begun,) = rig.discord.world.threads_of(room)
    rig.kim.adds(begun, rig.discord.member("lee").person)
    rig.kim.says(begun, "is this the thread?")
    await rig.receiver.until_tried(1)
    assert [(inbound.text, inbound.address) for inbound in rig.receiver.tried] == [("is this the thread?", thread)]


async def test_talk_in_a_room_is_none_of_our_business(rig: DiscordRig) -> None:
    room = rig.discord.room("kitchen")
    rig.kim.says(room, "what a day")
    rig.kim.mentions(room, "help")
    await rig.receiver.until_tried(1)
    assert [inbound.text for inbound in rig.receiver.tried] == ["help"]


async def test_another_bot_is_a_program_by_its_own_id(rig: DiscordRig) -> None:
    room = rig.discord.room("kitchen")
    otto = rig.discord.other_bot("otto")
    otto.mentions(room, "ping")
    await rig.receiver.until_tried(1)
    (inbound,) = rig.receiver.tried
    assert inbound.account.program
    assert inbound.account.account_id == otto.id


async def test_mentions_and_emoji_are_spelled_out_and_our_own_name_is_left_out(rig: DiscordRig) -> None:
    room = rig.discord.room("kitchen")
    bot = rig.discord.bot
    rig.kim.says(room, f"<@{bot.id}>, ask <@{rig.kim.id}> <:fire:123456789012345678>")
    await rig.receiver.until_tried(1)
    assert rig.receiver.tried[0].text == "ask @Kim :fire:"


async def test_a_mention_in_a_thread_of_others_is_in_that_thread_also_when_it_was_archived(rig: DiscordRig) -> None:
    room = rig.discord.room("kitchen")
    said = rig.kim.says(room, "what a day")
    begun = rig.kim.starts_thread(room, "a day", on=said)
    rig.discord.archive(begun)
    rig.kim.mentions(begun, "help")
    await rig.receiver.until_tried(1)
    at = rig.receiver.tried[0].address
    assert (at.room, at.thread) == (room.id, begun.id)


async def test_what_is_said_in_quick_succession_arrives_in_its_order(rig: DiscordRig) -> None:
    words = [f"word {number}" for number in range(20)]
    for word in words:
        rig.kim.says(None, word)
    await rig.receiver.until_tried(20)
    assert [inbound.text for inbound in rig.receiver.stored] == words


async def test_of_a_room_only_mentions_are_read_and_a_room_without_news_is_not_looked_at(rig: DiscordRig) -> None:
    quiet, room = rig.discord.room("attic"), rig.discord.room("kitchen")
    rig.kim.says(quiet, "long ago")
    rig.discord.advance(60)
    since = int(rig.discord.clock.now() * 1_000) - 1_000
    rig.kim.says(room, "what a day")
    rig.kim.mentions(room, "help")
    await rig.receiver.until_tried(1)
    ((address, after),) = [found async for found in rig.channel.direct(since)]
    assert address.room == room.id
    assert [inbound.text async for inbound in rig.channel.catch_up(address, after)] == ["help"]
