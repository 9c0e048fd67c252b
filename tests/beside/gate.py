"""A case whose call waits for a decision: where what is said beside it begins."""

from casestore.models import Case
from tests.loop.rig import Rig
from tests.loop.scripted import calls

RESTART = ("svc.restart", {"service": "a"})
WAITS = 'It waits for an operator, not the requester to decide, until Tue 14:13 UTC: Restart "a"'
"""What the engine says of it."""


async def at_a_gate(rig: Rig) -> Case:
    """A case of ann's that waits for a decision."""
    rig.model.then(calls(("look", {"at": "/"}), RESTART, ("note", {"text": "x"}), text="It hangs."))
    case = await rig.say("The service hangs")
    await rig.work()
    return case
