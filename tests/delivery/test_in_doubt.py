"""What nobody knows to be said keeps nothing waiting but its own thread, whatever the platform answers (R27)."""

import asyncio
from collections.abc import Callable

import pytest

from bot.outbound import speech, threads
from casestore import bindings, outbox
from casestore.errors import ConstraintBroken
from casestore.models import Case, OutboxId
from casestore.states import OutboxState
from casestore.tx import Tx
from channels.errors import Uncertain
from channels.memory import MemoryChannel
from channels.messages import Address, Outbound, Text
from tests.loop.conftest import MakeRig
from tests.loop.lines import saying, states
from tests.loop.rig import MINUTE, THREAD, Rig

ELSEWHERE = THREAD.model_copy(update={"thread": "t2"})


class Deaf(MemoryChannel):
    """A platform that, asked about a thread, hangs or breaks until it is told not to."""

    def __init__(self, *, hangs: bool) -> None:
        super().__init__()
        self.asked, self.answers = 0, asyncio.Event()
        self._hangs = hangs

    async def find(self, address: Address, nonce: str) -> str | None:
        self.asked += 1
        if not self.answers.is_set():
            if not self._hangs:
                raise KeyError("what nobody thought of")
            await self.answers.wait()
        return await super().find(address, nonce)


async def delivered(rig: Rig, at: Address, *texts: str) -> None:
    """Wait until these stand in a thread; in vain, the test fails by its time limit."""
    while rig.posted(at) != list(texts):  # noqa: ASYNC110 - only the platform knows
        await asyncio.sleep(0)


async def left_over(rig: Rig, *texts: str) -> Case:
    """A case in whose thread an earlier process has said the first of these, and did not note it."""
    case = await saying(rig, *texts)
    (row,) = await rig.store.write(outbox.take_due, rig.clock.now(), ("memory",), boot=rig.boot, most=1)
    await rig.channel.send(Outbound(address=THREAD, nonce=str(row.id), content=Text(text=texts[0])))
    await rig.restart()
    return case


@pytest.mark.parametrize("hangs", [True, False])
async def test_a_platform_that_cannot_be_asked_at_a_start_keeps_only_that_thread_waiting(
    make_rig: MakeRig, hangs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.outbound.delivery._IDLE_S", 0)
    rig = await make_rig(channel=(channel := Deaf(hangs=hangs)))
    case = await left_over(rig, "one", "two")
    other = await saying(rig, "here", "and there", at=ELSEWHERE)
    rig.start(rig.delivery.run())
    await delivered(rig, ELSEWHERE, "here", "and there")
    while await states(rig, other) != ["sent", "sent"]:  # noqa: ASYNC110 - only the store knows
        await asyncio.sleep(0)
    assert channel.asked == 1, "not again and again"
    assert await states(rig, case) == ["sending", "due"]

    channel.answers.set()
    rig.clock.pass_by(MINUTE)
    await delivered(rig, THREAD, "one", "two")


async def test_a_question_that_is_never_answered_is_given_up_and_asked_again_later(
    make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.outbound.sending._PATIENCE_S", 0.01)
    rig = await make_rig(channel=(channel := Deaf(hangs=True)))
    case = await left_over(rig, "one", "two")
    await rig.delivery.reconcile()
    await rig.deliver()
    assert (channel.asked, await states(rig, case)) == (1, ["sending", "due"])
    channel.answers.set()
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["one", "two"]
    assert await states(rig, case) == ["sent", "sent"]


async def test_a_platform_that_breaks_when_it_is_asked_is_asked_less_and_less_often_and_nothing_is_said_twice(
    make_rig: MakeRig,
) -> None:
    rig = await make_rig(channel=(channel := Deaf(hangs=False)))
    channel.fail(Uncertain("the connection broke"), accepted=True)
    case = await saying(rig, "one", "two")
    await rig.deliver()
    assert channel.asked == 1
    for wait, asked in ((1_999, 1), (1, 2), (3_999, 2), (1, 3)):
        rig.clock.pass_by(wait)
        await rig.deliver()
        assert channel.asked == asked
    assert await states(rig, case) == ["sending", "due"]
    channel.answers.set()
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["one", "two"]


class Silent(MemoryChannel):
    """A platform that takes what is said in a thread and never says so."""

    async def send(self, outbound: Outbound) -> str:
        platform_id = await super().send(outbound)
        if getattr(outbound.content, "text", "") == "one":
            await asyncio.Event().wait()
        return platform_id


async def test_a_send_that_is_never_answered_is_looked_for(make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.outbound.sending._PATIENCE_S", 0.01)
    rig = await make_rig(channel=Silent())
    case = await saying(rig, "one", "two")
    await rig.deliver()
    assert rig.posted() == ["one", "two"]
    assert await states(rig, case) == ["sent", "sent"]


async def test_a_platform_that_hangs_in_many_threads_leaves_room_for_the_others(
    make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.outbound.delivery._AT_ONCE", 2)
    monkeypatch.setattr("bot.outbound.delivery._IDLE_S", 0)
    rig = await make_rig(channel=Silent())
    good = MemoryChannel("console")
    rig.delivery = type(rig.delivery)(rig.store, rig.clock, {"memory": rig.channel, "console": good}, rig.boot, None)
    for number in range(3):
        await saying(rig, "one", at=THREAD.model_copy(update={"thread": f"h{number}"}))
    rig.start(rig.delivery.run())
    while len(rig.channel.sent) < 2:  # noqa: ASYNC110 - only the platform knows
        await asyncio.sleep(0)
    place = Address(channel="console", space="S", room="help", thread="t1")
    await good.start(rig.receiver)
    case = await saying(rig, at=ELSEWHERE)
    await rig.store.write(bindings.bind, rig.clock.now(), case, str(place), actor="kim")
    await rig.store.write(speech.say, rig.clock.now(), case.id, "here")
    rig.delivery.wake()
    while good.texts(place) != ["here"]:  # noqa: ASYNC110 - only the platform knows
        await asyncio.sleep(0)
    assert len(rig.channel.sent) == 2


def refuse(rig: Rig, *refused: Callable[..., object], times: int = 1) -> None:
    """The store refuses what these write, so often each."""
    write, left = rig.store.write, dict.fromkeys(refused, times)

    async def refusing(fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        if left.get(fn, 0):
            left[fn] -= 1
            raise ConstraintBroken("The store refused a row: UNIQUE")
        return await write(fn, *args, **kwargs)

    setattr(rig.store, "write", refusing)  # noqa: B010 - see Rig.die


async def test_a_row_whose_end_the_store_refuses_is_given_up_and_not_in_the_way(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    case = await saying(rig, "one", "two")
    refuse(rig, threads.posted)
    await rig.deliver()
    assert rig.posted() == ["one", "two"]
    assert await states(rig, case) == ["dead", "sent"]
    assert "delivery.not_recorded" in caplog.text
    assert "UNIQUE" not in str((await rig.outbox(case))[0].error)


async def test_a_row_that_cannot_even_be_given_up_is_asked_about_later(rig: Rig) -> None:
    case = await saying(rig, "one", "two")
    refuse(rig, threads.posted, outbox.give_up)
    await rig.deliver()
    assert await states(rig, case) == ["sending", "due"]
    rig.clock.pass_by(MINUTE)
    await rig.deliver()
    assert rig.posted() == ["one", "two"]
    assert await states(rig, case) == ["sent", "sent"]


async def test_what_was_left_over_at_an_address_that_is_none_is_given_up(rig: Rig) -> None:
    case = await saying(rig, "one")
    (row,) = await rig.store.write(outbox.take_due, rig.clock.now(), ("memory",), boot="boot-0", most=1)
    await rig.store.write(_misplace, row.id)
    await rig.delivery.reconcile()
    assert await states(rig, case) == [OutboxState.DEAD]


def _misplace(tx: Tx, outbox_id: OutboxId) -> None:
    tx.run("UPDATE outbox SET address = 'memory:nowhere' WHERE id = :id", id=outbox_id)


async def test_what_many_killed_processes_left_is_said_at_once_by_the_next(rig: Rig) -> None:
    """Seven kills are no seven failures of the platform: those behind it would wait for minutes."""
    case = await saying(rig, "one", "two")
    for _ in range(7):
        await rig.store.write(outbox.take_due, rig.clock.now(), ("memory",), boot=rig.boot, most=9)
        await rig.restart()
        await rig.delivery.reconcile()
    await rig.deliver()
    assert rig.posted() == ["one", "two"]
    assert await states(rig, case) == ["sent", "sent"]
