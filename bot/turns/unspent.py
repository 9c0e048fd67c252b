"""Before an approval is spent: is the tool, on its server, still what was shown? And can it be reached at all?

A tool that has changed is known as it is now when the approval is looked at, so that the question is asked anew (R9).
A server that is down for a while is waited for: that a connection is lost decides nothing (R8).
"""

import asyncio

from bot.tools.declare import NotReached, ToolFailed
from bot.turns.desk import Desk
from casestore import gates, steps, turns
from casestore.db import Store
from casestore.models import CaseId, Gate
from casestore.states import GateState, Tier, TurnState
from casestore.tx import Tx

AGAIN_MS = 15_000
PATIENCE_MS = 600_000
"""How long after it was given an approval waits for a server; then the call is tried, and says why it was not run."""


async def may_be_spent(store: Store, desk: Desk, case_id: CaseId) -> bool:
    """Whether a case can be gone on with now: not while a call that was just approved cannot be made."""
    if not desk.settings.mcp:
        return True
    for gate in await store.read(approved, case_id):
        if not await _reached(desk, gate.tool) and desk.now() - (gate.decided_at or 0) < PATIENCE_MS:
            await store.write(wait, case_id, desk.now() + AGAIN_MS)
            return False
    return True


def approved(tx: Tx, case_id: CaseId) -> list[Gate]:
    """The approvals of a case that its next run would spend."""
    turn = turns.unsettled(tx, case_id)
    if turn is None or turn.state is not TurnState.QUEUED:
        return []
    asked = [gate for step in steps.open_calls(tx, turn.id) for gate in gates.of_call(tx, step.id).values()]
    return [gate for gate in asked if gate.state is GateState.APPROVED]


def wait(tx: Tx, case_id: CaseId, until: int) -> None:
    """Go on with the case later."""
    turn = turns.unsettled(tx, case_id)
    if turn is not None and turn.state is TurnState.QUEUED:
        turns.requeue(tx, turn.id, not_before=until)


async def _reached(desk: Desk, name: str) -> bool:
    tool = desk.toolbox.get(name)
    if tool is None:
        return not desk.toolbox.not_yet_known(name)
    if tool.confirm is None or tool.tier is Tier.READ_ONLY:
        return True
    try:
        async with asyncio.timeout(tool.timeout_ms / 1000):
            await tool.confirm()
    except (NotReached, TimeoutError):
        return False
    except ToolFailed:  # it has changed, which is found when the approval is to be spent
        return True
    return True
