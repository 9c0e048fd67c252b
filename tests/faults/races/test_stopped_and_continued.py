"""A process that holds a case is stopped (SIGSTOP) past its lease, another goes on, and it is continued (R10, R14).

Its acts are refused, what it knows to have happened is accepted, and no effect is made again without a person.
"""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.degraded.spool import Spool
from bot.gates import gating
from bot.inbound import intake
from bot.tools.results import CallResult
from bot.turns.conduct import Conductor
from casestore import gates, messages, runs, turns
from casestore import steps as journal
from casestore.db import Store
from casestore.deciding import Decision
from casestore.models import Case, Step
from casestore.scope import System
from casestore.states import GateKind, GateState, Origin, Outcome, Provenance, StepState, Verb
from tests.conftest import NOW, People
from tests.faults.races.engine_process import HeldModel, desk_of
from tests.faults.races.soundness import faults
from tests.store.processes import ROOT

LATER = NOW + 60 * 60_000
"""Past every lease and deadline."""


@dataclass
class Holder:
    """A process that works the case, has reached the place where it is held, and is stopped there."""

    process: "subprocess.Popen[str]"

    def stop(self) -> None:
        """It runs no further, whatever it is told; returns once the system says so."""
        os.kill(self.process.pid, signal.SIGSTOP)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def go_on(self) -> str:
        """It may go on, and does; how its run ended."""
        os.kill(self.process.pid, signal.SIGCONT)
        out, err = self.process.communicate("go\n", timeout=30)
        assert (self.process.returncode, err) == (0, "")
        return out.strip()


@dataclass
class Scene:
    """One case, a process that holds it, and this process as the second engine."""

    store: Store
    people: People
    case: Case
    clock: Path
    effects: Path
    holder: Holder

    def made(self) -> list[str]:
        """The effects, from outside."""
        return self.effects.read_text().splitlines()

    async def second(self) -> None:
        """The other engine works the case."""
        desk = desk_of(self.effects, self.clock, "second", "")
        await Conductor(self.store, desk, HeldModel(""), Spool(self.store.path)).work(self.case.id)

    async def step(self) -> Step:
        """The newest attempt of the call."""
        turn = (await self.store.read(turns.of_case, self.case.id))[-1]
        return [step for step in await self.store.read(journal.of_turn, turn.id) if step.kind == "tool"][-1]

    async def outcomes(self) -> list[Outcome | None]:
        """How the runs ended, oldest first."""
        return [run.outcome for run in await self.store.read(runs.listing, System(), case_id=self.case.id)][::-1]

    async def replies(self) -> list[str]:
        """What the assistant said."""
        said = await self.store.read(messages.of_case, System(), self.case.id)
        return [message.text for message in said if message.provenance is Provenance.ASSISTANT]

    async def answer(self, verb: Verb) -> None:
        """A person says what became of the call."""
        gate = await self.store.read(gates.open_gate, self.case.id)
        assert gate is not None
        assert gate.kind is GateKind.OUTCOME
        decision = Decision(verb, gate.digest_shown, "cli")
        reply = await self.store.write(gating.decide, LATER, self.people.kim, gate.id, decision, None)
        assert reply.taken


@pytest.fixture
async def scene(
    request: pytest.FixtureRequest, store: Store, people: People, db: Path, tmp_path: Path
) -> AsyncIterator[Scene]:
    """Held where the test says; stopped there; and then its lease and its deadline are over."""
    clock, effects = tmp_path / "clock", tmp_path / "effects"
    clock.write_text(str(NOW))
    effects.touch()
    case = await store.write(intake.open_by, NOW, people.you, Origin.CLI, "Note it.")
    command = [sys.executable, "-m", "tests.faults.races.engine_process"]
    process = subprocess.Popen(
        [*command, str(db), str(effects), str(clock), "first", str(case.id), str(request.param)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n", process.communicate()[1]
        holder = Holder(process)
        holder.stop()
        made = Scene(store, people, case, clock, effects, holder)
        await made.second()
        assert await made.outcomes() == [None]  # the lease stands: the second gets nothing
        clock.write_text(str(LATER))
        yield made
        assert await store.read(faults, at_rest=True) == []
    finally:
        process.kill()
        process.communicate()


@pytest.mark.kill
@pytest.mark.parametrize("scene", ["model"], indirect=True)
async def test_stopped_before_it_started_anything_it_starts_nothing_afterwards(scene: Scene) -> None:
    await scene.second()
    assert scene.made() == ["x by second"]

    assert scene.holder.go_on() == "Lost"

    assert scene.made() == ["x by second"]
    assert await scene.outcomes() == [Outcome.CRASHED, Outcome.ANSWERED]
    assert await scene.replies() == ["Done: noted by second"]
    assert (await scene.store.read(runs.listing, System(), case_id=scene.case.id))[-1].input_tokens == 100


@pytest.mark.kill
@pytest.mark.parametrize("scene", ["model"], indirect=True)
async def test_continued_before_anybody_else_came_its_lease_is_over_all_the_same(scene: Scene) -> None:
    assert scene.holder.go_on() == "Lost"
    assert scene.made() == []
    await scene.second()
    assert scene.made() == ["x by second"]
    assert await scene.replies() == ["Done: noted by second"]


@pytest.mark.kill
@pytest.mark.parametrize("scene", ["before", "after"], indirect=True)
async def test_stopped_after_started_a_person_is_asked_and_its_late_result_answers_for_them(scene: Scene) -> None:
    made = len(scene.made())
    await scene.second()
    assert len(scene.made()) == made  # asked, not made again
    assert (await scene.step()).state is StepState.UNKNOWN

    assert scene.holder.go_on() == "Lost"

    step = await scene.step()
    assert (step.state, CallResult.load(step.result or "").content) == (StepState.FINISHED, "noted by first")
    (gate,) = await scene.store.read(gates.of_case, scene.case.id)
    assert gate.state is GateState.WITHDRAWN
    await scene.second()
    assert scene.made() == ["x by first"]
    assert await scene.replies() == ["Done: noted by first"]


@pytest.mark.kill
@pytest.mark.parametrize("scene", ["after"], indirect=True)
@pytest.mark.parametrize("verb", [Verb.HAPPENED, Verb.NOT_HAPPENED])
async def test_continued_after_a_person_has_said_what_became_of_it_their_word_stands(scene: Scene, verb: Verb) -> None:
    await scene.second()
    await scene.answer(verb)
    await scene.second()
    before = await scene.step()

    assert scene.holder.go_on() == "Lost"

    assert await scene.step() == before
    assert scene.made() == ["x by first"]
    assert len(await scene.replies()) == 1


@pytest.mark.kill
@pytest.mark.parametrize("scene", ["after"], indirect=True)
async def test_continued_after_a_person_had_it_run_again_it_was_made_twice_by_their_word_and_no_more(
    scene: Scene,
) -> None:
    await scene.second()
    await scene.answer(Verb.RERUN)
    await scene.second()
    assert scene.holder.go_on() == "Lost"
    assert scene.made() == ["x by first", "x by second"]
    assert await scene.replies() == ["Done: noted by second"]


@pytest.mark.kill
@pytest.mark.parametrize("scene", ["after"], indirect=True)
async def test_continued_after_run_it_again_was_said_and_before_it_was_its_result_is_enough(scene: Scene) -> None:
    await scene.second()
    await scene.answer(Verb.RERUN)
    assert scene.holder.go_on() == "Lost"
    await scene.second()
    assert scene.made() == ["x by first"]
    assert await scene.replies() == ["Done: noted by first"]
