"""A case on somebody's message by a channel's own menu, whatever the channel (R20, R23)."""

from channels.messages import Address
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig
from tests.loop.scripted import says

ELSEWHERE = Address.parse("memory:S/lounge/t9")


async def test_a_message_is_quoted_and_answered_in_its_thread(make_rig: MakeRig) -> None:
    rig = await make_rig(says("I am on it."))
    said = await rig.channel.say("the shop is down", address=ELSEWHERE, account=rig.account("zoe"), addressed=False)
    told = await rig.channel.quote(said, by=rig.account("ann"))
    assert told == "C-1001 is open on that message."
    await rig.work()
    assert rig.posted(ELSEWHERE) == ["I am on it."]
    assert "U-zoe, quoted by ann (bystander): the shop is down" in str(rig.model.sent)
    assert await rig.channel.quote(said, by=rig.account("kim")) == "That message is in C-1001 already."


async def test_whom_nobody_knows_opens_nothing(rig: Rig) -> None:
    said = await rig.channel.say("the shop is down", address=ELSEWHERE, account=rig.account("ann"), addressed=False)
    assert (await rig.channel.quote(said, by=rig.account("zoe"))).startswith("I do not know you")
