"""What is to be said in a case, and whether it was."""

from bot.outbound import speech
from casestore.models import Case
from casestore.states import OutboxState
from channels.messages import Address
from tests.loop.rig import THREAD, Rig


async def saying(rig: Rig, *texts: str, at: Address = THREAD) -> Case:
    """A case in whose thread these are to be said."""
    case = await rig.say("Hello", at=at)
    for text in texts:
        await rig.store.write(speech.say, rig.clock.now(), case.id, text)
    return case


async def states(rig: Rig, case: Case) -> list[OutboxState]:
    """Where each line of a case stands, in their order."""
    return [row.state for row in await rig.outbox(case)]
