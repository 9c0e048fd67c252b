"""Delivery when the platform, the store or the process fails in the middle of it (R27; the rest in tests/delivery)."""

import asyncio
from collections.abc import Callable

import pytest

from bot.outbound import speech, threads
from casestore import bindings, outbox
from casestore.errors import StoreUnavailable
from casestore.models import CaseId
from casestore.tx import Tx
from channels.errors import AuthFailed, RetryLater, Uncertain
from channels.memory import MemoryChannel
from channels.messages import Address, Outbound
from tests.loop.conftest import MakeRig
from tests.loop.lines import saying, states
from tests.loop.rig import MINUTE, THREAD, Killed, Rig
from tests.loop.scripted import Held, says

ELSEWHERE = THREAD.model_copy(update={"thread": "t2"})


class HangingChannel(MemoryChannel):
    """A platform on which one thread hangs."""

    def __init__(self) -> None:
        super().__init__()
        self.held = Held()
        self.hangs_at: Address | None = None

    async def send(self, outbound: Outbound) -> str:
        if outbound.address == self.hangs_at:
            await self.held.wait()
        return await super().send(outbound)


def said_at_once(tx: Tx, now: int, cases: list[CaseId], lines: int) -> None:
    """So many lines in each case, in one transaction."""
    for number in range(lines):
        for case_id in cases:
            speech.say(tx, now, case_id, f"line {number}")


async def test_where_the_platform_names_no_time_it_is_tried_less_and_less_often(rig: Rig) -> None:
    """Not again and again without end: that would keep everything else from being done."""
    rig.channel.fail(*[RetryLater(0)] * 3)
    case = await saying(rig, "one")
    waits: list[int] = []
    for _ in range(3):
        assert await rig.delivery.deliver_due() == 1
        assert await rig.delivery.deliver_due() == 0
        (row,) = await rig.outbox(case)
        waits.append(row.not_before - rig.clock.now())
        rig.clock.ms = row.not_before
    await rig.deliver()

    assert waits == [2_000, 4_000, 8_000]
    assert rig.posted() == ["one"]


async def test_a_thread_that_hangs_does_not_keep_another_waiting(make_rig: MakeRig) -> None:
    channel = HangingChannel()
    rig = await make_rig(channel=channel)
    channel.hangs_at = THREAD
    await saying(rig, "one", "two")
    other = await saying(rig, "here", "and there", at=ELSEWHERE)
    delivering = rig.start(rig.delivery.run())
    await channel.held.reached.wait()
    while await states(rig, other) != ["sent", "sent"]:  # noqa: ASYNC110 - only the store knows
        await asyncio.sleep(0)
    assert rig.posted(ELSEWHERE) == ["here", "and there"]
    assert rig.posted() == []

    channel.held.release.set()
    while len(rig.posted()) < 2:  # noqa: ASYNC110 - only the platform knows
        await asyncio.sleep(0)
    assert rig.posted() == ["one", "two"]
    delivering.cancel()
    await asyncio.wait([delivering])


async def test_a_repeat_that_is_uncertain_too_is_not_repeated_again(make_rig: MakeRig) -> None:
    rig = await make_rig(channel=MemoryChannel(can_find=False))
    rig.channel.fail(*[Uncertain("the connection broke")] * 2, accepted=True)
    case = await saying(rig, "one", "two")
    await rig.deliver()

    assert rig.posted() == ["one", "(possible duplicate) one", "two"]
    assert await states(rig, case) == ["dead", "sent"]
    assert "outbox.dead" in await rig.trail(case)


class ForgetfulChannel(MemoryChannel):
    """A platform that cannot be asked at first whether a message is there."""

    def __init__(self, *errors: Exception) -> None:
        super().__init__()
        self.errors = list(errors)
        self.asked = 0

    async def find(self, address: Address, nonce: str) -> str | None:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return await super().find(address, nonce)


async def test_a_platform_that_cannot_be_asked_now_is_asked_later_and_nothing_is_said_twice(make_rig: MakeRig) -> None:
    channel = ForgetfulChannel(RetryLater(5_000), AuthFailed("memory", "revoked"))
    rig = await make_rig(channel=channel)
    channel.fail(Uncertain("the connection broke"), accepted=True)
    case = await saying(rig, "one", "two")
    await rig.deliver()
    assert await states(rig, case) == ["sending", "due"]
    rig.clock.pass_by(4_999)
    await rig.deliver()
    assert channel.asked == 1
    rig.clock.pass_by(1)
    await rig.deliver()
    assert channel.asked == 2
    rig.clock.pass_by(MINUTE)
    await rig.deliver()

    assert rig.posted() == ["one", "two"]
    assert await states(rig, case) == ["sent", "sent"]


@pytest.mark.parametrize("can_find", [True, False])
async def test_what_a_killed_process_was_sending_is_looked_for_or_repeated_once_and_marked(
    make_rig: MakeRig, can_find: bool
) -> None:
    rig = await make_rig(channel=MemoryChannel(can_find=can_find))
    case = await saying(rig, "one", "two")
    rig.die(before=threads.posted)
    with pytest.raises(Killed):
        await rig.deliver()
    for _ in range(2):
        await rig.restart()
        await rig.delivery.reconcile()
        await rig.deliver()

    assert rig.posted() == ["one", *([] if can_find else ["(possible duplicate) one"]), "two"]
    assert await states(rig, case) == ["sent", "sent"]


async def test_what_a_killed_process_had_taken_and_not_sent_is_sent(rig: Rig) -> None:
    await saying(rig, "one", "two")
    rig.die(after=outbox.take_due)
    with pytest.raises(Killed):
        await rig.deliver()
    await rig.restart()
    await rig.delivery.reconcile()
    rig.clock.pass_by(MINUTE)
    await rig.deliver()

    assert rig.posted() == ["one", "two"]


async def test_a_refused_token_turns_health_red_loses_nothing_and_is_not_tried_again_and_again(rig: Rig) -> None:
    rig.channel.fail(*[AuthFailed("memory", "revoked")] * 2)
    case = await saying(rig, "one", "two")
    other = await saying(rig, "elsewhere", at=ELSEWHERE)
    await rig.deliver()
    assert "revoked" in rig.delivery.refused["memory"]
    late = await saying(rig, "later", at=THREAD.model_copy(update={"thread": "t3"}))
    await rig.deliver()
    assert [row.attempts for row in await rig.outbox(late)] == [0]

    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.delivery.refused == {}
    assert (rig.posted(), rig.posted(ELSEWHERE)) == (["one", "two"], ["elsewhere"])
    assert await states(rig, case) + await states(rig, other) == ["sent"] * 3


async def test_a_store_that_cannot_be_written_after_a_send_makes_nobody_say_it_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is marked as soon as the store can be written again; until then it stands before those behind it."""
    case = await saying(rig, "one", "two")
    write, failures = rig.store.write, 2
    monkeypatch.setattr("bot.outbound.sending._AGAIN_S", 0)

    async def failing(fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        nonlocal failures
        if fn is outbox.mark_sent and failures:
            failures -= 1
            raise StoreUnavailable("The disk is full. Try again.")
        return await write(fn, *args, **kwargs)

    setattr(rig.store, "write", failing)  # noqa: B010 - see Rig.die
    await rig.deliver()

    assert rig.posted() == ["one", "two"]
    assert await states(rig, case) == ["sent", "sent"]


async def test_a_row_that_cannot_be_presented_is_given_up_and_does_not_end_delivery(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    case = await saying(rig, "one", "two", "three")
    (first, *_) = await rig.outbox(case)
    await rig.store.write(
        Tx.run, "UPDATE outbox SET address = 'memory:nowhere' WHERE id = :id", id=first.id
    )  # fmt: skip
    await rig.deliver()

    assert rig.posted() == ["two", "three"]
    assert await states(rig, case) == ["dead", "sent", "sent"]
    assert "delivery.unpresentable" in caplog.text


async def test_a_channel_this_version_does_not_have_does_not_keep_a_case_from_going_on(rig: Rig) -> None:
    rig.model.then(says("Hello."))
    case = await rig.say("Hello")
    await rig.store.write(bindings.bind, rig.clock.now(), case, "pigeon:post/1/2", actor="kim")
    await rig.work()

    assert rig.posted() == ["Hello."]
