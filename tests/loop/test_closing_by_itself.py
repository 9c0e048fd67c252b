"""A case that was resolved long ago closes by itself, unless somebody has just written in it (R2, R29)."""

from bot.schedule import auto_close
from tests.loop.rig import HOUR, Rig
from tests.loop.scripted import calls, says


async def test_a_message_that_waits_to_be_read_keeps_its_case_from_closing(rig: Rig) -> None:
    """After days of downtime the first tick comes before the first turn."""
    rig.model.then(calls(("case.resolve", {"note": "done"})), says("Done."))
    case = await rig.say("It hangs")
    await rig.work()
    rig.clock.pass_by(10 * 24 * HOUR)
    await rig.say("It hangs again")
    now, after = rig.clock.now(), rig.settings.cases.auto_close
    assert await rig.store.write(auto_close, now, after) == 0

    rig.model.then(says("Again, then."))
    await rig.work()
    assert (await rig.case(case)).state == "in_progress"
    assert rig.posted()[-1] == "Again, then."
