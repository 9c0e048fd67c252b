"""The fake platform fails, forgets and repeats exactly as it is told to."""

from __future__ import annotations

import pytest

from channels.errors import AuthFailed, CannotTell, RetryLater, Uncertain, Undeliverable
from channels.memory import MemoryChannel
from channels.messages import Account, Address, Content, Outbound, Text
from tests.channel_contract.recorder import Recorder
from tests.channel_contract.rigs import KIM, a_card

HERE = Address.parse("memory:S/R/T")
THERE = Address.parse("memory:S/R/U")


def hello(nonce: str = "1", address: Address = HERE, content: Content | None = None) -> Outbound:
    return Outbound(address=address, nonce=nonce, content=content or Text(text="hello"))


async def started(*, can_find: bool = True) -> tuple[MemoryChannel, Recorder]:
    channel, receiver = MemoryChannel(can_find=can_find), Recorder()
    await channel.start(receiver)
    return channel, receiver


async def test_the_next_sends_fail_as_told_and_nothing_was_sent() -> None:
    channel, _ = await started()
    channel.fail(RetryLater(1500), AuthFailed("memory", "revoked"))
    with pytest.raises(RetryLater) as caught:
        await channel.send(hello())
    assert caught.value.after_ms == 1500
    with pytest.raises(AuthFailed):
        await channel.send(hello())
    assert channel.texts(HERE) == []
    await channel.send(hello())
    assert channel.texts(HERE) == ["hello"]


async def test_an_uncertain_send_that_was_accepted_is_found_by_its_nonce() -> None:
    channel, _ = await started()
    channel.fail(Uncertain("the connection broke"), accepted=True)
    with pytest.raises(Uncertain):
        await channel.send(hello("n7"))
    assert channel.texts(HERE) == ["hello"]
    assert await channel.find(HERE, "n7") == channel.sent[0].platform_id
    assert await channel.find(THERE, "n7") is None


async def test_an_uncertain_send_that_was_not_accepted_is_certainly_not_there() -> None:
    channel, _ = await started()
    channel.fail(Uncertain("the connection broke"))
    with pytest.raises(Uncertain):
        await channel.send(hello("n7"))
    assert await channel.find(HERE, "n7") is None


async def test_a_platform_without_a_way_to_look_cannot_tell() -> None:
    channel, _ = await started(can_find=False)
    await channel.send(hello("n7"))
    with pytest.raises(CannotTell):
        await channel.find(HERE, "n7")


async def test_a_repeated_send_is_a_duplicate_that_a_test_can_see() -> None:
    channel, _ = await started()
    assert await channel.send(hello("n7")) != await channel.send(hello("n7"))
    assert channel.texts(HERE) == ["hello", "hello"]


async def test_edits_and_deletes_fail_as_told_before_or_after_they_are_done() -> None:
    channel, _ = await started()
    platform_id = await channel.send(hello())
    channel.fail(RetryLater(5), on="edit")
    channel.fail(Uncertain("it broke"), on="edit", accepted=True)
    with pytest.raises(RetryLater):
        await channel.edit(HERE, platform_id, Text(text="new"))
    assert channel.texts(HERE) == ["hello"]
    with pytest.raises(Uncertain):
        await channel.edit(HERE, platform_id, Text(text="new"))
    assert channel.texts(HERE) == ["new"]
    channel.fail(RetryLater(5), on="delete")
    with pytest.raises(RetryLater):
        await channel.delete(HERE, platform_id)
    assert channel.texts(HERE) == ["new"]


async def test_threads_do_not_see_each_other() -> None:
    channel, _ = await started()
    platform_id = await channel.send(hello())
    await channel.send(hello("2", THERE))
    with pytest.raises(Undeliverable):
        await channel.edit(THERE, platform_id, Text(text="wrong place"))
    await channel.lose(THERE, "locked")
    await channel.send(hello("3"))
    assert channel.texts(HERE) == ["hello", "hello"]


async def test_losing_a_thread_is_reported_with_its_reason() -> None:
    channel, receiver = await started()
    await channel.lose(HERE, "locked")
    assert [(gone.address, gone.reason) for gone in receiver.lost] == [(HERE, "locked")]


async def test_what_was_said_while_we_were_away_is_caught_up_in_order_and_per_thread() -> None:
    channel, receiver = await started()
    first = await channel.say("one", address=HERE, account=KIM)
    await channel.stop()
    for number in range(30):
        await channel.say(f"missed {number}", address=HERE, account=KIM)
        await channel.say("elsewhere", address=THERE, account=KIM)
    assert len(receiver.stored) == 1
    await channel.start(receiver)
    missed = [inbound async for inbound in channel.catch_up(HERE, first.platform_id)]
    assert [inbound.text for inbound in missed] == [f"missed {number}" for number in range(30)]
    everything = [inbound.text async for inbound in channel.catch_up(HERE, None)]
    assert everything == ["one", *(f"missed {number}" for number in range(30))]


async def test_a_position_that_no_longer_exists_leaves_nothing_out() -> None:
    channel, _ = await started()
    await channel.say("one", address=HERE, account=KIM)
    assert [inbound.text async for inbound in channel.catch_up(HERE, "deleted")] == ["one"]


async def test_the_same_platform_message_delivered_again_has_the_same_id() -> None:
    channel, receiver = await started()
    said = await channel.say("one", address=HERE, account=KIM)
    for _ in range(10):
        assert await channel.deliver(said)
    assert {inbound.platform_id for inbound in receiver.tried} == {said.platform_id}
    assert len(receiver.tried) == 11


async def test_what_was_refused_is_kept_until_it_is_acknowledged() -> None:
    channel, receiver = await started()
    receiver.refusing = True
    said = [await channel.say(text, address=HERE, account=KIM) for text in ("one", "two")]
    await channel.redeliver()
    assert channel.unacknowledged == said
    receiver.refusing = False
    await channel.redeliver()
    assert channel.unacknowledged == []
    assert receiver.stored == said


async def test_a_press_names_the_card_the_gate_the_verb_and_who_pressed() -> None:
    channel, receiver = await started()
    platform_id = await channel.send(hello(content=a_card()))
    answer = await channel.press(HERE, platform_id, "deny", KIM, reason="not at night")
    (press,) = receiver.presses
    assert answer == "Approved by you."
    assert (press.address, press.platform_id, press.account) == (HERE, platform_id, KIM)
    assert (press.gate_id, press.digest8) == (17, "0a1b2c3d")
    assert (press.verb, press.reason) == ("deny", "not at night")


async def test_a_press_on_a_stale_copy_carries_the_digest_that_was_on_the_screen() -> None:
    channel, receiver = await started()
    stale = a_card(digest8="00000000")
    platform_id = await channel.send(hello(content=stale))
    await channel.edit(HERE, platform_id, a_card())
    await channel.press(HERE, platform_id, "approve", KIM, seen=stale)
    assert receiver.presses[0].digest8 == "00000000"


async def test_only_a_card_can_be_pressed() -> None:
    channel, _ = await started()
    platform_id = await channel.send(hello())
    with pytest.raises(LookupError, match="no card"):
        await channel.press(HERE, platform_id, "approve", KIM)


async def test_a_command_is_answered() -> None:
    channel, receiver = await started()
    assert await channel.type_command("/gates", address=HERE, account=KIM) == "done: /gates"
    assert receiver.commands[0].account == KIM


async def test_it_can_stand_in_for_another_channel() -> None:
    channel, receiver = MemoryChannel("slack"), Recorder()
    await channel.start(receiver)
    thread = Address.parse("slack:T1/C2/1710.003")
    lee = Account(channel="slack", space="T1", account_id="U9")
    await channel.say("hi", address=thread, account=lee, addressed=False)
    await channel.send(hello(address=thread))
    assert channel.name == "slack"
    assert receiver.stored[0].addressed is False
    assert channel.texts(thread) == ["hello"]
