"""What stands in the store about the older turns of a case."""

from casestore.models import Case, Compaction, Step
from casestore.tx import Tx
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says


def all_of(tx: Tx, case: Case) -> list[Compaction]:
    """The compactions of a case, oldest first."""
    return tx.all(Compaction, "SELECT * FROM compactions WHERE case_id = :id ORDER BY id", id=case.id)


async def compactions_of(rig: Rig, case: Case) -> list[Compaction]:
    return await rig.store.read(all_of, case)


async def model_steps_of(rig: Rig, case: Case) -> list[Step]:
    return [step for step in await rig.steps(case, tools_only=False) if step.kind == "model"]


async def lived(rig: Rig, turns: int, *, first: int = 1) -> Case:
    """A case in which so many questions were asked, each looked into and answered."""
    for number in range(first, first + turns - 1):
        await answered(rig, number)
    return await answered(rig, first + turns - 1)


async def answered(rig: Rig, number: int) -> Case:
    """One question, looked into and answered."""
    rig.model.then(calls(("look", {"at": f"/{number}"})), says(f"answer {number}"))
    case = await rig.say(f"question {number}")
    await rig.work(deliver=False)
    return case
