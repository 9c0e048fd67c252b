"""How the runs and the calls of a case ended."""

from bot.tools.results import CallResult
from casestore.models import Case
from casestore.states import Outcome
from tests.loop.rig import Rig


async def how_they_ended(rig: Rig, case: Case) -> list[Outcome | None]:
    """The outcome of each run of a case, in their order; None while it works."""
    return [run.outcome for run in await rig.runs(case)]


async def kinds(rig: Rig, case: Case) -> list[str]:
    """How each call of a case ended, in their order; the state of one that has not."""
    return [CallResult.load(step.result).kind if step.result else step.state for step in await rig.steps(case)]
