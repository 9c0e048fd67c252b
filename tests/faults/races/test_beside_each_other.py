"""Two engines on one file, and decisions while something else is worked (R5, R10, R11)."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from bot.inbound import intake
from bot.turns.conduct import Conductor
from casestore import leases, messages, runs
from casestore.db import Store
from casestore.migrate import open_store
from casestore.models import Case
from casestore.scope import System
from casestore.states import Origin, Outcome, Provenance, Verb
from tests.conftest import NOW, People
from tests.faults.races.soundness import faults
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, Waits, calls, says
from tests.store.processes import ROOT

ELSEWHERE = THREAD.model_copy(update={"thread": "t2"})
RESTART = calls(("svc.restart", {"service": "a"}))
CASES = 12


@pytest.fixture
async def elsewhere(rig: Rig) -> AsyncIterator[Store]:
    """The same file, opened by somebody else."""
    nonces = count(1)
    opened = await open_store(rig.db, lambda: f"other-{next(nonces)}", serves=False)
    yield opened
    await opened.close()


async def test_two_engines_with_a_store_each_work_each_case_once(rig: Rig, elsewhere: Store) -> None:
    """Both want every case at the same moment; one of them gets it, and the other leaves at once."""
    rig.model.then(*[says("Here.")] * CASES)
    found = [await rig.say("Help!", at=THREAD.model_copy(update={"thread": f"t{n}"})) for n in range(CASES)]
    worker = replace(rig.desk.worker, holder="engine elsewhere", boot="boot-elsewhere")
    second = Conductor(elsewhere, replace(rig.desk, worker=worker), rig.model, rig.spool)

    ended = await asyncio.gather(*(engine.work(case.id) for case in found for engine in (rig.conductor, second)))

    assert sum(one is not None for one in ended) == CASES
    assert [await rig.texts(case) for case in found] == [["Here."]] * CASES
    assert [len(await rig.runs(case)) for case in found] == [1] * CASES
    assert await elsewhere.read(faults) == []


@pytest.mark.kill
async def test_two_processes_that_want_one_case_at_the_same_moment_make_its_effect_once(
    store: Store, people: People, db: Path, tmp_path: Path
) -> None:
    clock, effects = tmp_path / "clock", tmp_path / "effects"
    clock.write_text(str(NOW))
    case = await store.write(intake.open_by, NOW, people.you, Origin.CLI, "Note it.")
    command = [sys.executable, "-m", "tests.faults.races.engine_process", str(db), str(effects), str(clock)]
    engines = [
        subprocess.Popen(
            [*command, boot, str(case.id), ""],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for boot in ("first", "second")
    ]  # fmt: skip
    said = [await asyncio.to_thread(engine.communicate, timeout=50) for engine in engines]

    assert sorted(out for out, _ in said) == ["Ended\n", "NoneType\n"]
    assert [err for _, err in said] == ["", ""]
    assert len(effects.read_text().splitlines()) == 1
    assert [run.outcome for run in await store.read(runs.listing, System(), case_id=case.id)] == [Outcome.ANSWERED]
    spoken = await store.read(messages.of_case, System(), case.id)
    assert len([message for message in spoken if message.provenance is Provenance.ASSISTANT]) == 1
    assert await store.read(faults, at_rest=True) == []


async def parked(rig: Rig) -> Case:
    rig.model.then(RESTART)
    case = await rig.say("Restart it")
    await rig.work()
    return case


async def test_a_decision_is_taken_and_spent_while_another_case_is_at_work(rig: Rig) -> None:
    case, held = await parked(rig), Held()
    rig.model.then(Waits(held, says("At last.")), says("Restarted."))
    other = await rig.say("Something else", at=ELSEWHERE, by="ben")
    working = rig.start(rig.conductor.work(other.id))
    await held.reached.wait()

    assert (await rig.decide(case)).taken
    await rig.conductor.work(case.id)
    assert (rig.effects.made, await rig.texts(other)) == (["restart a"], [])
    assert (await rig.texts(case))[-1] == "Restarted."

    held.release.set()
    await working
    assert await rig.texts(other) == ["At last."]
    assert await rig.store.read(faults) == []


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DENY])
@pytest.mark.parametrize("where", ["in the effect", "in the model"])
async def test_a_second_answer_while_the_run_of_the_first_works_changes_nothing(
    rig: Rig, where: str, verb: Verb
) -> None:
    case = await parked(rig)
    gate = await rig.gate(case)
    held = rig.effects.hold("restart") if where == "in the effect" else Held()
    rig.model.then(says("Restarted.") if where == "in the effect" else Waits(held, says("Restarted.")))
    assert (await rig.decide(case)).taken
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()

    second = await rig.decide(case, verb, by="lee", gate=gate)
    assert not second.taken
    assert "already" in second.text
    assert "kim" in second.text
    assert await rig.store.read(leases.ready, rig.clock.now(), 10) == []

    held.release.set()
    await working
    assert rig.effects.made == ["restart a"]
    assert (await rig.texts(case))[-1] == "Restarted."
    assert await rig.store.read(faults) == []


async def test_of_two_gates_in_a_queue_the_second_is_asked_only_when_the_effect_of_the_first_is_in(rig: Rig) -> None:
    """R7: a decision during the run that spends the first finds nothing else open."""
    rig.model.then(calls(("svc.restart", {"service": "a"}), ("svc.restart", {"service": "b"})), says("Both."))
    case = await rig.say("Restart both")
    await rig.work()
    held = rig.effects.hold("restart")
    await rig.decide(case)
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    assert await rig.open_gate(case) is None
    held.release.set()
    await working
    assert rig.effects.made == ["restart a"]
    await rig.decide(case)
    await rig.work()
    assert rig.effects.made == ["restart a", "restart b"]
    assert rig.posted().count("Both.") == 1
