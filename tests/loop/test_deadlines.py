"""A call has its whole time before anybody may say that its outcome is unknown (R14)."""

import pytest

from casestore.models import Step
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says


def its_time(step: Step) -> int:
    """How long the call was given, in ms."""
    assert step.deadline is not None
    assert step.started_at is not None
    return step.deadline - step.started_at


@pytest.mark.parametrize(("tool", "args"), [("note", {"text": "x"}), ("svc.restart", {"service": "a"})])
async def test_the_deadline_of_a_call_is_behind_the_end_of_its_own_time(
    rig: Rig, tool: str, args: dict[str, str]
) -> None:
    rig.model.then(calls((tool, args)), says("Done."))
    case = await rig.say("do it")
    await rig.work()
    if tool == "svc.restart":
        await rig.decide(case)
        await rig.work()
    (step,) = await rig.steps(case)
    declared = rig.desk.toolbox.get(tool)
    assert declared is not None
    assert its_time(step) > declared.timeout_ms
