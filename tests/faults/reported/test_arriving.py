"""What others lost, doubled or confused on arrival, with the inputs as they were reported (docs/faults.md)."""

from itertools import permutations

import pytest

from casestore import cases
from casestore.models import Case
from casestore.scope import System
from channels.messages import Inbound
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, Waits, said, says


async def all_cases(rig: Rig) -> list[Case]:
    return await rig.store.read(cases.listing, System())


async def test_eleven_deliveries_of_one_message_are_one_message_and_one_run(rig: Rig) -> None:
    """slackapi/node-slack-sdk#2141."""
    rig.model.then(says("Yes?"))
    for _ in range(11):
        await rig.say("Hello", platform_id="1710.003")
        await rig.work()
    (case,) = await all_cases(rig)
    assert [message.text for message in await rig.messages(case)] == ["Hello", "Yes?"]
    assert (len(await rig.runs(case)), rig.posted()) == (1, ["Yes?"])


async def test_a_message_whose_first_delivery_was_never_taken_is_taken_when_it_comes_again(rig: Rig) -> None:
    """agno-agi/agno#10073: what is a repetition is told by what is stored, not by what the platform says of it."""
    rig.model.then(says("Yes?"))
    write = rig.store.write
    rig.store.write = refused  # type: ignore[method-assign]
    await rig.channel.say("Hello", address=THREAD, account=rig.account("ann"), platform_id="1710.003")
    rig.store.write = write  # type: ignore[method-assign]
    assert await all_cases(rig) == []
    assert [inbound.platform_id for inbound in rig.channel.unacknowledged] == ["1710.003"]

    await rig.channel.redeliver()
    await rig.channel.redeliver()
    await rig.work()
    assert rig.posted() == ["Yes?"]
    assert rig.channel.unacknowledged == []


async def refused(*_: object, **__: object) -> object:
    raise OSError("the machine is going down")


async def test_a_message_that_comes_four_times_while_the_model_thinks_is_acknowledged_each_time_and_worked_once(
    rig: Rig,
) -> None:
    """slackapi/bolt-js#2487: stored first, acknowledged second, worked third (R29)."""
    held = Held()
    rig.model.then(Waits(held, says("Yes?")))
    rig.woken = rig.engine.wake
    sent = await rig.channel.say("Hello", address=THREAD, account=rig.account("ann"))
    await held.reached.wait()

    assert [await rig.channel.deliver(sent) for _ in range(3)] == [True] * 3  # while the model still thinks

    held.release.set()
    await rig.engine.idle()
    await rig.deliver()
    assert (rig.posted(), len(rig.model.sent)) == (["Yes?"], 1)


@pytest.mark.parametrize("order", list(permutations([True, False])), ids=["mention first", "mention last"])
async def test_a_mention_that_arrives_as_two_kinds_of_event_has_one_answer(rig: Rig, order: tuple[bool, bool]) -> None:
    """slackapi/bolt-python#764: the platform's identity of the message is the same, whatever the event is called."""
    rig.model.then(says("Yes?"))
    for addressed in order:
        await rig.channel.say(
            "Hello", address=THREAD, account=rig.account("ann"), platform_id="1710.003", addressed=addressed
        )
    await rig.work()
    (case,) = await all_cases(rig)
    assert [message.text for message in await rig.messages(case)] == ["Hello", "Yes?"]
    assert rig.posted() == ["Yes?"]


async def test_thirty_messages_said_while_nobody_ran_are_stored_in_order_and_each_once(rig: Rig) -> None:
    """Dragory/modmailbot#264."""
    rig.model.then(says("Thirty, I see."))
    await rig.kill()
    missed: list[Inbound] = []
    for number in range(30):
        missed.append(
            await rig.channel.say(f"message {number}", address=THREAD, account=rig.account("ann"))
        )  # fmt: skip
    await rig.open()
    for _ in range(2):
        async for inbound in rig.channel.catch_up(THREAD, None):
            assert await rig.channel.deliver(inbound)
    await rig.work()
    (case,) = await all_cases(rig)
    assert [message.text for message in await rig.messages(case)][:-1] == [inbound.text for inbound in missed]
    assert said(rig.model.sent[0]) == [f"ann (requester): message {number}" for number in range(30)]
    assert rig.posted() == ["Thirty, I see."]
