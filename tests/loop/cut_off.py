"""Work that was cut off: killed at a place, or in a call, so that nobody knows whether it was made."""

from collections.abc import Mapping

from casestore.models import Case
from casestore.states import GateKind
from tests.loop.rig import Rig
from tests.loop.scripted import Held, calls

NOTE = ("note", {"text": "x"})


async def unknown(rig: Rig, *wanted: tuple[str, Mapping[str, object]], tool: str = "note") -> Case:
    """A case whose first call was cut off after its effect: its outcome is asked."""
    rig.model.then(calls(*(wanted or (NOTE,))))
    held = rig.effects.hold(tool)
    case = await rig.say("Do it")
    if tool != "note":
        await rig.work()
        await rig.decide(case)
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.restart()
    rig.clock.pass_by(40_000)
    await rig.work()
    assert (await rig.gate(case)).kind is GateKind.OUTCOME
    return case


async def killed_in(rig: Rig, case: Case, held: Held) -> None:
    """Let the case be worked up to a place, and kill the process there."""
    rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.kill()
    held.release.set()
