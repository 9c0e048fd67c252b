"""What was said beside a parked turn belongs to it: the two are never parted by what is made shorter (R19)."""

from bot.retelling import compaction
from bot.settings import Settings
from bot.settings.sections import Gates, Limits
from bot.turns import window
from casestore import compactions
from casestore.states import OnExpiry
from tests.beside.talker import Talker
from tests.loop.rig import Rig
from tests.loop.scripted import said

RESTART = ("svc.restart", {"service": "a"})


async def test_older_turns_are_made_shorter_with_all_that_was_said_beside_them(talking: Rig, talker: Talker) -> None:
    """And each request can be rebuilt, also that of a turn beside, which may be the one that makes it shorter."""
    talking.settings = Settings(limits=Limits(window_turns=2))
    await talking.restart()
    talker.asks = [[RESTART]]
    case = await talking.say("It hangs, number 0")
    await talking.work()
    for number in range(3):
        await talking.say(f"Why, number {number}?")
        await talking.work()
    await talking.decide(case)
    await talking.work()
    for number in range(1, 5):
        await talking.say(f"Hello, number {number}")
        await talking.work()
    talker.asks = [[RESTART], [RESTART]]
    await talking.say("Once more")
    await talking.work()
    await talking.say("Why once more?")
    await talking.work()
    await talking.decide(case)
    await talking.work()

    made = await talking.store.read(compactions.newest, case.id)
    assert made is not None
    shown = "\n".join(text for sent in talker.shortened for text in said(sent))
    for number in range(3):
        assert f"Why, number {number}?" in shown
    for step in await talking.steps(case, tools_only=False):
        if step.kind == "model" and not compaction.is_one(step) and "from" in (step.request or {}):
            assert (await talking.store.read(window.rebuild, step)).digest == step.request_digest
        elif step.kind == "model" and compaction.is_one(step):
            asked = await talking.store.read(compaction.rebuild, step)
            assert compaction.request_digest(str((step.request or {})["prompt"]), asked) == step.request_digest


async def test_an_exchange_beside_a_turn_that_was_handed_off_is_made_shorter_with_it(
    talking: Rig, talker: Talker
) -> None:
    """Then it is the last that the turn shows; a cut before it would lose it, one within would part a call."""
    talking.settings = Settings(limits=Limits(window_turns=2), gates=Gates(on_expiry=OnExpiry.HANDOFF))
    await talking.restart()
    talker.asks = [[RESTART]]
    case = await talking.say("It hangs")
    await talking.work()
    await talking.say("Why is that?")
    await talking.work()
    gate = await talking.gate(case)
    talking.clock.ms = gate.expires_at
    await talking.decide(case, gate=gate)
    await talking.work()
    for number in range(3):
        await talking.say(f"Hello, number {number}")
        await talking.work()

    assert len(talker.shortened) == 1
    shown = "\n".join(text for sent in talker.shortened for text in said(sent))
    assert "Why is that?" in shown
    assert "It hangs, and I have looked again." in shown
