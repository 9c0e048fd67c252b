"""What people and the engine do while the store cannot be written, and once it is back."""

import pytest

from casestore.models import Case
from tests.degraded.broken import WAYS
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, says

OTHER = THREAD.model_copy(update={"thread": "t2"})

every_way = pytest.mark.parametrize("broken", WAYS.values(), ids=list(WAYS))


async def speak(rig: Rig, text: str, *, by: str = "ann", platform_id: str | None = None, at: object = THREAD) -> None:
    """Somebody writes, whether or not it can be stored."""
    address = THREAD if at is THREAD else OTHER
    await rig.channel.say(text, address=address, account=rig.account(by), addressed=True, platform_id=platform_id)
    await rig.standby.idle()


async def engine_tries(rig: Rig, case: Case) -> None:
    """The engine takes up a case it has work in, and what comes of it is over."""
    rig.engine.wake(case.id)
    await rig.engine.idle()
    await rig.standby.idle()


async def back(rig: Rig) -> None:
    """The store is back: what was kept is stored, what has work is worked, what is owed is said."""
    await rig.standby.settle()
    await rig.work()


async def conversation(rig: Rig, case: Case) -> list[tuple[str, str]]:
    """Who said what, as stored."""
    return [(message.provenance, message.text) for message in await rig.messages(case)]


async def settled(rig: Rig) -> Case:
    """A case with a first exchange behind it."""
    rig.model.then(says("Hello."))
    case = await rig.say("Hi", platform_id="1")
    await rig.work()
    return case


async def engine_goes_on(rig: Rig, held: Held) -> None:
    """What is held goes on, and what comes of it is over."""
    held.release.set()
    await rig.engine.idle()
    await rig.standby.idle()
