"""An engine as a process of its own: `python -m tests.faults.races.engine_process DB EFFECTS CLOCK BOOT CASE HOLD`.

It works one case, and says `reached` on its output and waits for a line on its input where HOLD tells it to: in the
`model` call, in the tool `before` its effect or `after` it, or nowhere. The effect is a line appended to the file
EFFECTS; the time is what the file CLOCK says. At its end it says how the run ended.
"""

import asyncio
import os
import sys
from pathlib import Path

from pydantic_ai.messages import ModelMessage, ModelResponse

from bot.degraded.spool import Spool
from bot.settings import Settings
from bot.tools.declare import Tool, declare
from bot.turns.conduct import Conductor
from bot.turns.desk import Desk, Prompt, Toolbox
from casestore.migrate import open_store
from casestore.models import CaseId
from casestore.states import Tier
from casestore.turns import Worker
from tests.loop.scripted import ASKED, ScriptedModel, calls, returned, says


class FileClock:
    """A clock that a test moves for every process at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> int:
        return int(self._path.read_text())


def note_tool(effects: Path, boot: str, hold: str) -> Tool:
    """One routine tool, whose effect is a line in a file."""

    async def note(text: str) -> str:
        """Leave a note."""
        await here("before", hold)
        with effects.open("a") as file:
            file.write(f"{text} by {boot}\n")
            file.flush()
            os.fsync(file.fileno())
        await here("after", hold)
        return f"noted by {boot}"

    return declare(note, name="note", statement="Note {text}", tier=Tier.ROUTINE)


async def here(place: str, hold: str) -> None:
    """Wait where we are told to."""
    if place == hold:
        print("reached", file=sys.__stdout__, flush=True)  # what a tool prints to `sys.stdout` is caught
        await asyncio.to_thread(sys.stdin.readline)


def desk_of(effects: Path, clock: Path, boot: str, hold: str) -> Desk:
    """What an engine of this boot works with."""
    box = Toolbox({"note": note_tool(effects, boot, hold)}, settings := Settings())
    prompt = Prompt("test", "Work the case.", box.schemas())
    worker = Worker(f"engine {boot}", boot, "casebound", ASKED, settings.leases.ttl)
    return Desk(settings=settings, clock=FileClock(clock), toolbox=box, prompt=prompt, worker=worker)


def brain(messages: list[ModelMessage]) -> ModelResponse:
    """Notes once, and says what came of it."""
    results = returned(messages)
    return says(f"Done: {results[-1]}") if results else calls(("note", {"text": "x"}))


class HeldModel(ScriptedModel):
    """Waits in its first call, if it is told to."""

    def __init__(self, hold: str) -> None:
        super().__init__(*[brain] * 20)
        self._hold = hold

    async def request(self, *args: object, **kwargs: object) -> ModelResponse:
        hold, self._hold = self._hold, ""
        await here("model", hold)
        return await super().request(*args, **kwargs)  # type: ignore[arg-type]


async def main(db: str, effects: str, clock: str, boot: str, case: str, hold: str) -> None:
    """Work the case until nothing is left to do in it."""
    store = await open_store(Path(db), lambda: os.urandom(8).hex(), serves=False)
    desk = desk_of(Path(effects), Path(clock), boot, hold)
    ended = await Conductor(store, desk, HeldModel(hold), Spool(Path(db))).work(CaseId(int(case)))
    await store.close()
    print(type(ended).__name__, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
