"""What somebody hears who types a command to the bot, on any channel."""

from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import calls

RESTART = ("svc.restart", {"service": "a"})


async def test_the_lists_say_where_each_case_stands_and_what_each_gate_waits_for(rig: Rig) -> None:
    rig.model.then(calls(RESTART))
    case = await rig.say("It hangs")
    await rig.work()

    cases = await rig.channel.type_command("/cases", address=THREAD, account=rig.account("kim"))
    gates = await rig.channel.type_command("/gates", address=THREAD, account=rig.account("kim"))

    assert cases == f"{case.label}  waits for a decision  It hangs"
    assert gates.startswith(f"Gate 1 of {case.label}. It waits for an operator, not the requester to decide, until ")
    assert gates.endswith(': Restart "a"')
