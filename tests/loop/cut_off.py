"""A case with a call that was cut off, so that nobody knows whether it was made."""

from collections.abc import Mapping

from bot.results import CallResult
from casestore.models import Case
from casestore.states import GateKind
from tests.loop.rig import Rig
from tests.loop.scripted import calls

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


async def kinds(rig: Rig, case: Case) -> list[str]:
    return [CallResult.load(step.result).kind if step.result else step.state for step in await rig.steps(case)]
