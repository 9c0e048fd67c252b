"""What is asked of every channel."""

from __future__ import annotations

import asyncio
import re

import pytest

from channels.errors import CannotTell, RetryLater, ThreadGone, Undeliverable
from channels.messages import Content, Outbound, Text
from channels.text import pieces, style_for
from tests.channel_contract.rigs import OUTCOME, Rig, a_card, decided


def outbound(rig: Rig, content: Content, nonce: str = "1", *, possible_duplicate: bool = False) -> Outbound:
    return Outbound(address=rig.address, nonce=nonce, content=content, possible_duplicate=possible_duplicate)


async def test_is_connected_between_start_and_stop_and_either_may_come_twice(rig: Rig) -> None:
    assert not rig.channel.connected
    before = asyncio.all_tasks()
    for _ in range(2):
        await rig.channel.start(rig.receiver)
        await rig.channel.start(rig.receiver)
        assert rig.channel.connected
        await rig.channel.stop()
        await rig.channel.stop()
        assert not rig.channel.connected
        assert {task for task in asyncio.all_tasks() - before if not rig.is_platforms(task)} == set()


async def test_its_name_is_the_channel_of_its_addresses_and_has_a_style(rig: Rig) -> None:
    assert rig.address.channel == rig.channel.name
    assert style_for(rig.channel.name).name == rig.channel.name


async def test_what_a_person_says_reaches_the_receiver_as_it_was_said(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    await rig.says("the printer  is on fire 🔥 & <smoking>")
    (inbound,) = rig.receiver.stored
    assert inbound.text == "the printer  is on fire 🔥 & <smoking>"
    assert inbound.address == rig.address
    assert inbound.account.channel == rig.channel.name
    assert inbound.addressed


async def test_two_messages_of_the_same_words_are_two_messages_in_order(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    for text in ("hello", "hello", "well?"):
        await rig.says(text)
    assert [inbound.text for inbound in rig.receiver.stored] == ["hello", "hello", "well?"]
    assert len({inbound.platform_id for inbound in rig.receiver.stored}) == 3


async def test_after_a_restart_messages_still_arrive_once_and_under_ids_of_their_own(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    await rig.says("before")
    await rig.channel.stop()
    await rig.channel.start(rig.receiver)
    await rig.says("after")
    assert [inbound.text for inbound in rig.receiver.stored] == ["before", "after"]
    assert len({inbound.platform_id for inbound in rig.receiver.stored}) == 2


async def test_r29_what_was_not_stored_comes_again_under_the_same_id_or_the_person_is_told(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    rig.receiver.refusing = True
    await rig.says("lost?")
    rig.receiver.refusing = False
    if await rig.comes_again():
        first, second = rig.receiver.tried
        assert first.platform_id == second.platform_id
        assert [inbound.text for inbound in rig.receiver.stored] == ["lost?"]
        assert await rig.comes_again()
        assert len(rig.receiver.tried) == 2, "what was acknowledged comes no more"
    else:
        assert rig.receiver.stored == []
        assert "again" in rig.shown()[-1]
    assert not any("secret" in text or "OSError" in text for text in rig.shown())


async def test_a_receiver_that_failed_once_is_given_the_next_message(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    rig.receiver.refusing = True
    await rig.says("one")
    rig.receiver.refusing = False
    await rig.says("two")
    assert [inbound.text for inbound in rig.receiver.stored] == ["two"]


async def test_a_text_arrives_as_it_was_given_and_has_an_id(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    first = await rig.channel.send(outbound(rig, Text(text="one  &amp; *only*\n  two"), "1"))
    second = await rig.channel.send(outbound(rig, Text(text="three"), "2"))
    assert rig.shown() == ["one  &amp; *only*\n  two", "three"]
    assert first
    assert second
    assert first != second


async def test_r27_a_repeat_that_may_be_a_duplicate_says_so(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    await rig.channel.send(outbound(rig, Text(text="disk is full"), possible_duplicate=True))
    assert "disk is full" in rig.shown()[-1]
    assert "possible duplicate" in rig.shown()[-1]


async def test_a_long_text_arrives_whole_and_in_order(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    style = style_for(rig.channel.name)
    text = "\n".join(f"line {number} of a long report" for number in range(style.limit // 8))
    parts = pieces(style, text)
    assert len(parts) > 1
    for number, part in enumerate(parts):
        await rig.channel.send(outbound(rig, Text(text=part), str(number)))
    assert "".join(rig.shown()) == text


@pytest.mark.parametrize("beyond", [-1, 0, 1])
async def test_a_piece_at_the_limit_is_one_message_and_one_more_makes_two(rig: Rig, beyond: int) -> None:
    await rig.channel.start(rig.receiver)
    style = style_for(rig.channel.name)
    parts = pieces(style, "x" * (style.limit + beyond))
    for number, part in enumerate(parts):
        await rig.channel.send(outbound(rig, Text(text=part), str(number)))
    assert len(rig.shown()) == (2 if beyond > 0 else 1)
    assert sum(map(len, rig.shown())) == style.limit + beyond


async def test_r28_edits_converge_to_the_last_one_however_often_it_is_made(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    platform_id = await rig.channel.send(outbound(rig, Text(text="draft")))
    for text in ("better", "final", "final"):
        await rig.channel.edit(rig.address, platform_id, Text(text=text))
    assert rig.shown()[-1].removeprefix("(changed) ") == "final"


async def test_an_open_card_says_everything_there_is_to_decide_on(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    card = a_card()
    await rig.channel.send(outbound(rig, card))
    shown = rig.shown()[-1]
    for argument in card.arguments:
        assert re.search(rf"{re.escape(argument.name)}\s+{re.escape(argument.value)}", shown)
    for needed in (
        card.heading,
        card.statement,
        card.case_label,
        card.case_title,
        card.origin,
        card.tool,
        card.tier_note,
        card.asked_by,
        card.because,
        *card.looked_at,
        card.waiting,
        card.earlier,
        card.decides,
        card.if_nobody,
    ):
        assert needed
        assert needed in shown
    assert rig.offered() == {"approve", "deny", "revise"}


async def test_a_decided_card_says_the_outcome_and_offers_nothing(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    card = a_card()
    platform_id = await rig.channel.send(outbound(rig, card))
    await rig.channel.edit(rig.address, platform_id, decided(card))
    for line in (card.statement, *OUTCOME):
        assert line in rig.shown()[-1]
    assert rig.offered() == set()


async def test_hostile_text_is_not_live_in_a_message(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    text = "".join(f"a{bad}b" for bad in rig.hostile)
    for number, part in enumerate(pieces(style_for(rig.channel.name), text)):
        await rig.channel.send(outbound(rig, Text(text=part), str(number)))
    assert not [bad for bad in rig.hostile if bad in "".join(rig.shown())]


async def test_hostile_text_is_not_live_even_in_a_message_that_nobody_prepared(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    await rig.channel.send(outbound(rig, Text(text="see \x1b]0;owned\x07\x9b31m\u202e")))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", "".join(rig.shown()))


async def test_hostile_text_is_not_live_in_a_card_and_is_seen(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    bad = "".join(rig.hostile)
    card = a_card(
        statement=f"Delete {bad} now",
        case_title=bad,
        tool=f"t{bad}",
        arguments=({"name": f"n{bad}", "value": f"v{bad}", "was": bad},),
        asked_by=bad,
        because=bad,
        looked_at=(bad,),
        waiting=bad,
        earlier=bad,
    )
    await rig.channel.send(outbound(rig, card))
    shown = rig.shown()[-1]
    assert not [bad for bad in rig.hostile if bad in shown]
    assert "v⟨U+001B⟩[2J" in shown


async def test_an_uncertain_send_is_found_or_certainly_not_there_or_cannot_be_told(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    platform_id = await rig.channel.send(outbound(rig, Text(text="hello"), "n-1"))
    if rig.finds:
        assert await rig.channel.find(rig.address, "n-1") == platform_id
        assert await rig.channel.find(rig.address, "n-2") is None
    else:
        with pytest.raises(CannotTell, match="possible duplicate"):
            await rig.channel.find(rig.address, "n-1")


async def test_r3_nothing_can_be_said_in_a_lost_thread_and_the_error_names_it(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    lost = await rig.lose()
    message = Outbound(address=lost, nonce="1", content=Text(text="anybody there?"))
    for refused in (
        rig.channel.send(message),
        rig.channel.edit(lost, "b1", message.content),
        rig.channel.delete(lost, "b1"),
        rig.channel.find(lost, "1"),
    ):
        with pytest.raises(ThreadGone) as caught:
            await refused
        assert caught.value.address == str(lost)
        assert caught.value.reason
    assert rig.shown() == []


async def test_what_was_said_is_taken_back_or_the_refusal_is_final(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    platform_id = await rig.channel.send(outbound(rig, Text(text="oops")))
    if rig.takes_back:
        await rig.channel.delete(rig.address, platform_id)
        await rig.channel.delete(rig.address, platform_id)
        assert rig.shown() == []
        with pytest.raises(Undeliverable):
            await rig.channel.edit(rig.address, platform_id, Text(text="again"))
    else:
        with pytest.raises(Undeliverable):
            await rig.channel.delete(rig.address, platform_id)


async def test_a_stopped_channel_sends_nothing_and_says_so(rig: Rig) -> None:
    message = outbound(rig, Text(text="too early"))
    with pytest.raises(RetryLater):
        await rig.channel.send(message)
    await rig.channel.start(rig.receiver)
    await rig.channel.stop()
    with pytest.raises(RetryLater):
        await rig.channel.send(message)
    assert rig.shown() == []


async def test_catching_up_from_the_newest_position_gives_nothing_twice(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    await rig.says("one")
    await rig.says("two")
    newest = rig.receiver.stored[-1].platform_id
    assert [inbound async for inbound in rig.channel.catch_up(rig.address, newest)] == []


async def test_a_channel_that_was_away_says_that_it_is_back_and_gives_what_was_said_meanwhile(rig: Rig) -> None:
    """R29: and says nothing at its first start, which is followed by a reading anyway."""
    await rig.channel.start(rig.receiver)
    await rig.says("one")
    if not await rig.goes_away():
        return
    await rig.writes("two")
    assert rig.receiver.resumes == []
    await rig.comes_back()
    await rig.receiver.until_resumed(1)
    assert [resumed.channel for resumed in rig.receiver.resumes] == [rig.channel.name]
    after = rig.receiver.stored[-1].platform_id
    assert [inbound.text async for inbound in rig.channel.catch_up(rig.address, after)] == ["two"]


async def test_conversations_are_listed_with_a_place_to_read_on_from_or_not_at_all(rig: Rig) -> None:
    await rig.channel.start(rig.receiver)
    await rig.says("one")
    at = rig.receiver.stored[-1].at
    for since, said in ((at - 1, True), (at + 1, False)):
        async for address, after in rig.channel.direct(since):
            assert not address.thread
            assert bool([inbound async for inbound in rig.channel.catch_up(address, after)]) is said


async def test_stopping_leaves_nothing_running(rig: Rig) -> None:
    before = asyncio.all_tasks()
    await rig.channel.start(rig.receiver)
    await rig.says("hello")
    await rig.channel.send(outbound(rig, Text(text="hi")))
    await rig.channel.stop()
    assert {task for task in asyncio.all_tasks() - before if not rig.is_platforms(task)} == set()
