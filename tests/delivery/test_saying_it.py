"""What must be said is said: in order per address, at the platform's time, once where that can be told (R27)."""

import asyncio

import pytest

from bot.outbound import speech
from bot.outbound.delivery import Delivery
from casestore import outbox
from casestore.models import Case
from casestore.states import BindingState, OutboxKind, OutboxState, Provenance
from casestore.tx import Tx
from channels.errors import AuthFailed, RetryLater, Uncertain, Undeliverable
from channels.memory import MemoryChannel
from channels.messages import Address, Outbound, Text
from tests.loop.conftest import MakeRig
from tests.loop.lines import states
from tests.loop.rig import MINUTE, THREAD, Rig
from tests.loop.scripted import says

SECOND = 1_000


async def put(rig: Rig, case: Case, *texts: str) -> None:
    """Something is to be said in the case."""
    for text in texts:
        await rig.store.write(speech.say, rig.clock.now(), case.id, text, provenance=Provenance.ASSISTANT)


async def quiet_case(rig: Rig, thread: str = "t1") -> Case:
    """A case in a thread, with nothing left to work or say."""
    rig.model.then(says("Hello."))
    case = await rig.say("Hi", at=THREAD.model_copy(update={"thread": thread}))
    await rig.work()
    return case


async def test_a_row_that_has_to_wait_holds_back_those_behind_it_and_no_other_thread(rig: Rig) -> None:
    here, there = await quiet_case(rig), await quiet_case(rig, "t2")
    await put(rig, here, "one")
    rig.channel.fail(RetryLater(10 * SECOND))
    await rig.deliver()
    await put(rig, here, "two")
    await put(rig, there, "elsewhere")

    await rig.deliver()
    assert rig.posted() == ["Hello."]
    assert rig.posted(THREAD.model_copy(update={"thread": "t2"})) == ["Hello.", "elsewhere"]
    rig.clock.pass_by(10 * SECOND - 1)
    await rig.deliver()
    assert rig.posted() == ["Hello."]
    rig.clock.pass_by(1)
    await rig.deliver()
    assert rig.posted() == ["Hello.", "one", "two"]


async def test_five_hundred_messages_over_twenty_threads_survive_a_rate_limit_in_order(rig: Rig) -> None:
    cases = [await quiet_case(rig, f"t{n}") for n in range(20)]
    for number in range(25):
        for case in cases:
            await put(rig, case, f"{number}")
    rig.channel.fail(*[RetryLater(10 * SECOND)] * 20)
    before = len(rig.channel.sent)
    await rig.deliver()
    assert len(rig.channel.sent) == before

    rig.clock.pass_by(10 * SECOND)
    await rig.deliver()
    for n in range(20):
        at = THREAD.model_copy(update={"thread": f"t{n}"})
        assert rig.posted(at) == ["Hello.", *[str(number) for number in range(25)]]


async def test_a_platform_that_names_no_time_is_not_asked_again_at_once(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one")
    rig.channel.fail(RetryLater(0))
    await rig.deliver()
    assert rig.posted() == ["Hello."]
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["Hello.", "one"]


async def test_an_uncertain_send_that_was_accepted_is_found_and_not_repeated(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one")
    rig.channel.fail(Uncertain("the connection broke"), accepted=True)
    await rig.deliver()
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["Hello.", "one"]
    assert (await states(rig, case))[-1] is OutboxState.SENT


async def test_an_uncertain_send_that_is_not_there_is_sent_again_unmarked(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one")
    rig.channel.fail(Uncertain("the connection broke"))
    await rig.deliver()
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["Hello.", "one"]
    assert not (await rig.outbox(case))[-1].possible_duplicate


async def test_where_nobody_can_tell_it_is_repeated_once_marked_and_never_again(make_rig: MakeRig) -> None:
    rig = await make_rig(channel=MemoryChannel(can_find=False))
    case = await quiet_case(rig)
    await put(rig, case, "one", "behind it")
    rig.channel.fail(Uncertain("cut"), Uncertain("cut again"), accepted=True)
    await rig.deliver()
    rig.clock.pass_by(60 * MINUTE)
    await rig.deliver()

    copies = [sent for sent in rig.channel.sent if "one" in getattr(sent.outbound.content, "text", "")]
    assert [sent.outbound.possible_duplicate for sent in copies] == [False, True]
    assert (await states(rig, case))[-2:] == [OutboxState.DEAD, OutboxState.SENT]


@pytest.mark.parametrize("accepted", [True, False])
async def test_a_process_that_ends_while_sending_leaves_no_repeat_where_the_platform_can_tell(
    rig: Rig, accepted: bool
) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one")
    (row,) = await rig.store.write(outbox.take_due, rig.clock.now(), ("memory",), boot=rig.boot, most=5)
    if accepted:
        await rig.channel.send(Outbound(address=THREAD, nonce=str(row.id), content=Text(text="one")))
    await rig.restart()
    await rig.delivery.reconcile()
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["Hello.", "one"]


async def test_a_thread_that_is_gone_ends_the_binding_and_not_the_case(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one", "two")
    await rig.channel.lose(THREAD, "the thread was deleted")
    await rig.deliver()

    assert (await rig.case(case)).state == "in_progress"
    assert (await states(rig, case))[-2:] == [OutboxState.DEAD, OutboxState.DEAD]
    kinds = await rig.trail(case)
    assert kinds.count("outbox.dead") == 2
    assert f"binding.{BindingState.LOST}" in kinds
    assert (await rig.texts(case))[-1] == "two"  # what was said is kept, for every other surface


async def test_a_row_that_can_never_be_delivered_is_noted_and_not_in_the_way(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one", "two")
    rig.channel.fail(Undeliverable("the room forbids it"))
    await rig.deliver()
    assert rig.posted() == ["Hello.", "two"]
    assert "outbox.dead" in await rig.trail(case)


async def test_a_refused_token_turns_health_red_and_loses_nothing(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one")
    rig.channel.fail(AuthFailed("memory", "revoked"))
    await rig.deliver()
    assert "memory" in rig.delivery.refused
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.delivery.refused == {}
    assert rig.posted() == ["Hello.", "one"]


async def test_an_adapter_that_breaks_in_an_unknown_way_loses_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one")
    real = rig.channel.send
    broken = iter([KeyError("what nobody thought of")])

    async def send(outbound: object) -> str:
        for error in broken:
            raise error
        return await real(outbound)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(rig.channel, "send", send)
    await rig.deliver()
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["Hello.", "one"]


async def test_a_long_reply_arrives_whole_and_in_order(rig: Rig) -> None:
    case = await quiet_case(rig)
    text = "\n\n".join(f"paragraph {n}: " + "word " * 60 for n in range(40))
    await put(rig, case, text)
    await rig.deliver()
    parts = rig.posted()[1:]
    assert len(parts) > 5
    assert "".join(parts).split() == text.split()


async def test_a_process_without_a_channel_leaves_its_rows_to_those_that_have_it(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "one")
    other = Delivery(rig.store, rig.clock, {}, "boot-other", None)
    assert await other.deliver_due() == 0
    assert (await states(rig, case))[-1] is OutboxState.DUE


async def test_an_address_of_another_thread_is_never_used(rig: Rig) -> None:
    case = await quiet_case(rig)
    await put(rig, case, "for t1 alone")
    await rig.deliver()
    assert rig.posted(Address(channel="memory", space="S", room="help", thread="t2")) == []


async def test_waiting_for_the_platforms_time_makes_no_later_failure_wait_longer(rig: Rig) -> None:
    """Slack takes a message a second in each room: what has waited its turn a hundred times has failed not once."""
    case = await quiet_case(rig)
    await put(rig, case, "one")
    for _ in range(12):
        rig.channel.fail(RetryLater(SECOND))
        await rig.deliver()
        rig.clock.pass_by(SECOND)
    rig.channel.fail(RetryLater(0))
    await rig.deliver()
    (row,) = [row for row in await rig.store.read(outbox.of_case, case.id) if row.state is OutboxState.DUE]
    assert row.not_before - rig.clock.now() == 2 * SECOND


class SlowChannel(MemoryChannel):
    """A platform that takes its time: a post is on its way until it is let through."""

    def __init__(self) -> None:
        super().__init__()
        self.on_their_way, self.most = 0, 0
        self.let_through = asyncio.Semaphore(0)

    async def send(self, outbound: Outbound) -> str:
        self.on_their_way += 1
        self.most = max(self.most, self.on_their_way)
        async with asyncio.timeout(20):
            await self.let_through.acquire()
        self.on_their_way -= 1
        return await super().send(outbound)


async def test_no_more_are_on_their_way_at_once_than_are_allowed_when_one_has_arrived(rig: Rig) -> None:
    case, slow = await quiet_case(rig), SlowChannel()
    await slow.start(rig.receiver)

    def much(tx: Tx) -> None:
        for number in range(150):
            outbox.put(tx, rig.clock.now(), case.id, f"memory:S/R/{number}", OutboxKind.MESSAGE, body="b")

    await rig.store.write(much)
    delivery = Delivery(rig.store, rig.clock, {"memory": slow}, rig.boot, None)
    running = asyncio.create_task(delivery.run())
    async with asyncio.timeout(40):
        for sent in range(150):
            while slow.on_their_way < min(64, 150 - sent):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0)
            slow.let_through.release()
            while len(slow.sent) == sent:  # noqa: ASYNC110 - nor of this
                await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert slow.most == 64
